// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// What undoing an import does, for people.
enum UndoText {
  static func lines(_ number: Int64, _ counts: UndoCounts, isDryRun: Bool) -> [String] {
    let done = counts.isRedo ? "shown again" : "hidden"
    var lines = ["import \(number): \(counts.isRedo ? "restored" : "undone")"]
    lines.append(
      "  \(counted(counts.readings, "reading")) \(done), \(grouped(counts.uploaded)) of them uploaded")
    if counts.records + counts.editedRecords > 0 {
      let edited =
        counts.editedRecords > 0
        ? ", \(grouped(counts.editedRecords)) edited since and left as \(counts.editedRecords == 1 ? "it is" : "they are")"
        : ""
      lines.append("  \(counted(counts.records, "record")) \(done)\(edited)")
    }
    if counts.changedRecords > 0 {
      lines.append(
        "  \(counted(counts.changedRecords, "record")) changed back to the content "
          + (counts.isRedo ? "of the import" : "before the import"))
    }
    if counts.lacksNotes {
      lines.append(
        "  warning: an import met the store's readings in too many pieces to note them; readings that it also brought may be hidden"
      )
    }
    if isDryRun { lines.append("  preview: nothing was changed") }
    return lines
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
  let lacksNotes: Bool
  let dryRun: Bool

  init(_ number: Int64, _ counts: UndoCounts, isDryRun: Bool) {
    ingest = number
    undone = !counts.isRedo
    readings = counts.readings
    uploaded = counts.uploaded
    records = counts.records
    editedRecords = counts.editedRecords
    changedRecords = counts.changedRecords
    lacksNotes = counts.lacksNotes
    dryRun = isDryRun
  }
}
