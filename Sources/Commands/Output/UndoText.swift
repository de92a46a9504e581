// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// What undoing an import does, for people.
enum UndoText {
  /// What the lines are about.
  enum Occasion {
    /// It was done.
    case done
    /// It would be done without `--dry-run`.
    case preview
    /// It will be done if the person agrees.
    case question
  }

  /// So many records are named.
  private static let maxNamed = 10

  static func lines(_ number: Int64, _ counts: UndoCounts, _ occasion: Occasion) -> [String] {
    if counts.broughtNothing { return ["import \(number): it brought nothing, so there is nothing to undo"] }
    let isDone = occasion == .done
    let would = isDone ? "" : "would be "
    let hidden = would + (counts.isRedo ? "shown again" : "hidden")
    var lines = ["import \(number): \(would)\(counts.isRedo ? "restored" : "undone")"]
    lines.append(
      "  \(counted(counts.readings, "reading")) \(hidden), \(grouped(counts.uploaded)) of them uploaded")
    if counts.records + counts.editedRecords > 0 {
      let edited =
        counts.editedRecords > 0
        ? ", \(grouped(counts.editedRecords)) edited since and left as \(counts.editedRecords == 1 ? "it is" : "they are")"
        : ""
      lines.append("  \(counted(counts.records, "record")) \(hidden)\(edited)")
    }
    if counts.changedRecords > 0 {
      lines.append(
        "  \(counted(counts.changedRecords, "record")) \(would)changed back to the content "
          + (counts.isRedo ? "of the import" : "before the import"))
    }
    if counts.hidesNothing {
      lines.append("  other imports brought the same, or it is hidden already")
    }
    lines += large(counts.largeRecords)
    if counts.lacksNotes {
      lines.append(
        "  warning: an import met the store's readings in too many pieces to note them; readings that it also brought may be hidden"
      )
    }
    if occasion == .preview { lines.append("  preview: nothing was changed") }
    return lines
  }

  private static func large(_ guids: [String]) -> [String] {
    guard !guids.isEmpty else { return [] }
    let more = guids.count > maxNamed ? [" … and \(grouped(guids.count - maxNamed)) more"] : []
    let (keeps, its) = guids.count == 1 ? ("keeps", "its change is") : ("keep", "their changes are")
    return [
      "  warning: \(counted(guids.count, "record")) \(keeps) the content of the import, since \(its) too large to undo; "
        + "correct with 'glucoport record edit':"
    ] + guids.prefix(maxNamed).map { "    \($0)" } + more.map { "   \($0)" }
  }
}

extension UndoCounts {
  /// Whether undoing the import hides nothing by now, although it brought something.
  fileprivate var hidesNothing: Bool {
    !isRedo && readings + records + changedRecords + editedRecords + largeRecords.count == 0
  }
}

/// What undoing an import does, as `undo --json` prints it; glucoport-json(5) documents its members.
struct UndoObject: Encodable {
  let ingest: Int64
  let undone: Bool
  let readings: Int
  let uploaded: Int
  let records: Int
  let editedRecords: Int
  let changedRecords: Int
  let largeRecords: [String]
  let broughtNothing: Bool
  let lacksNotes: Bool
  let dryRun: Bool

  init(_ number: Int64, _ counts: UndoCounts, isDryRun: Bool) {
    ingest = number
    undone = !counts.isRedo && !counts.broughtNothing
    readings = counts.readings
    uploaded = counts.uploaded
    records = counts.records
    editedRecords = counts.editedRecords
    changedRecords = counts.changedRecords
    largeRecords = counts.largeRecords
    broughtNothing = counts.broughtNothing
    lacksNotes = counts.lacksNotes
    dryRun = isDryRun
  }
}
