// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// `glucoport conflict`: commands for records that were edited both here and on the remote.
struct ConflictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "conflict", "List, show and resolve conflicts.",
    "No conflict command uses the network: a later upload sends the decision.",
    examples: "glucoport conflict list", "glucoport conflict resolve 8120 --keep mine",
    subcommands: [ConflictListCommand.self, ConflictShowCommand.self, ConflictResolveCommand.self])
}

/// `glucoport conflict list`: lists the records in conflict, for each of which a person must choose a
/// version.
struct ConflictListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list", "List the records in conflict.",
    examples: "glucoport conflict list", "glucoport conflict list --json")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run(_ output: Output) throws {
    for conflict in try RecordResolver(storeOptions.open(.reader)).conflicts() {
      try output.result(asJSON: json, ConflictObject(conflict), orLines: [ConflictText.line(conflict)])
    }
  }
}

/// `glucoport conflict show`: prints both versions of one record in conflict, field by field.
struct ConflictShowCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "show", "Show what differs in a conflict.",
    examples: "glucoport conflict show 8120", "glucoport conflict show 8120 --json")

  @OptionGroup var target: RecordTarget

  @Flag(help: "Print one JSON object.")
  var json = false

  func run(_ output: Output) throws {
    let (store, record) = try target.open(.reader)
    let conflict = try RecordResolver(store).conflict(of: record.guid)
    try output.result(asJSON: json, ConflictSidesObject(conflict), orLines: ConflictText.lines(conflict))
  }
}

/// A conflict for `conflict list --json`; glucoport-json(5) documents the members.
struct ConflictObject: Encodable {
  let guid: String
  let kind: String
  let time: String
  let cause: String
  let differs: [String]

  init(_ conflict: RecordConflict) {
    let mine = conflict.mine
    guid = conflict.guid
    kind = mine.kind.rawValue
    time = instant(mine.deviceTime.seconds - Int64(mine.placement.utcOffset))
    cause = conflict.cause.rawValue
    differs = Difference.of(conflict).map(\.name)
  }
}

/// A conflict with the base and both edited versions of the record, for `conflict show --json`.
struct ConflictSidesObject: Encodable {
  private struct Sides: Encodable {
    let base: JSONFragment?
    let mine: JSONFragment
    let theirs: JSONFragment
  }

  private let conflict: ConflictObject
  private let sides: Sides

  init(_ conflict: RecordConflict) {
    self.conflict = ConflictObject(conflict)
    sides = Sides(
      base: conflict.base.map { JSONFragment($0.json) }, mine: JSONFragment(conflict.mine.json),
      theirs: JSONFragment(conflict.theirs.json))
  }

  func encode(to encoder: any Encoder) throws {
    try conflict.encode(to: encoder)
    try sides.encode(to: encoder)
  }
}

/// The texts about a conflict.
enum ConflictText {
  /// The sentence that advises a person to resolve the pending conflicts.
  static func pending(_ count: Int) -> String {
    counted(count, "conflict needs", "conflicts need")
      + " a decision; 'glucoport conflict list' shows \(count == 1 ? "it" : "them")"
  }

  static func line(_ conflict: RecordConflict) -> String {
    let kind = conflict.mine.kind.rawValue
    let blanks = String(repeating: " ", count: max(0, 10 - kind.count))
    let mark = conflict.mine.placement.source == .instant ? "Z" : ""
    return
      "\(conflict.mine.deviceTime.text.replacing("T", with: " "))\(mark)  \(kind)\(blanks) \(conflict.guid.prefix(8))  \(reason(conflict))"
  }

  /// All lines about a conflict: the record, the times of both edits, and each differing field or other
  /// member of the record with its text in every version.
  static func lines(_ conflict: RecordConflict) -> [String] {
    var lines = [line(conflict), "  id      \(conflict.guid)"]
    if conflict.cause == .edited {
      lines.append("  edited  mine \(instant(conflict.mine)), theirs \(instant(conflict.theirs))")
    }
    for part in Difference.of(conflict) {
      lines.append(displayed(part.name))
      if conflict.base != nil { lines.append("  base    \(shown(part.base))") }
      lines += ["  mine    \(shown(part.mine))", "  theirs  \(shown(part.theirs))"]
    }
    return lines
  }

  private static func reason(_ conflict: RecordConflict) -> String {
    switch conflict.cause {
    case .edited: Difference.of(conflict).map { displayed($0.name) }.joined(separator: ", ")
    case .orphaned: "deleted, but records belong to it"
    }
  }

  private static func shown(_ text: String?) -> String { text.map(displayed) ?? "none" }

  private static func instant(_ state: RecordState) -> String {
    state.editedAt.map { DeviceTime(seconds: $0).text + "Z" } ?? "at an unknown time"
  }
}
