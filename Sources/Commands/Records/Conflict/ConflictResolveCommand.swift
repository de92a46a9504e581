// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Foundation
import Glibc
import Logbook
import LogbookStore
import TemporaryFiles

/// The values of `--keep`: which version of the record remains after the conflict.
enum KeptSide: String, ExpressibleByArgument, CaseIterable {
  case mine, theirs, both, newer
}

/// `glucoport conflict resolve`: resolves one conflict with an edit. A later upload sends the edit.
struct ConflictResolveCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "resolve", "Resolve a conflict.",
    "Clocks are compared only with --keep newer.",
    examples: "glucoport conflict resolve 8120 --keep mine", "glucoport conflict resolve 8120 --edit")

  @OptionGroup var target: RecordTarget

  @Option(
    help: ArgumentHelp(
      "mine, theirs, both (theirs as a separate record), or newer (the later edit, by the two clocks).",
      valueName: "side"))
  var keep: KeptSide?

  @Flag(help: "Edit the fields of both sides in $VISUAL or $EDITOR, and keep the result.")
  var edit = false

  @OptionGroup var result: RecordOutputOptions

  func validate() throws {
    if (keep != nil) == edit { throw ValidationError("Give --keep or --edit.") }
  }

  func run(_ output: Output) throws {
    let (store, record) = try target.open(.resolver)
    let resolver = RecordResolver(store)
    let conflict = try resolver.conflict(of: record.guid)
    guard let resolution = try resolution(of: conflict) else {
      output.message("glucoport: \(conflict.guid): the file was not changed, so the conflict is not resolved")
      throw ExitStatus.conflicts
    }
    let edit = try resolver.resolve(conflict, resolution, at: Host.now())
    try result.show("resolved", edit, store, output)
    if case .both(let copy) = resolution {
      try result.show("added", RecordEdit(record: store.record(named: copy), edits: 1), store, output)
    }
  }

  /// How the person resolves the conflict, by option or in an editor; nil if the person decides nothing.
  private func resolution(of conflict: RecordConflict) throws -> Resolution? {
    switch keep {
    case .mine: return .mine
    case .theirs: return .theirs
    case .both: return .both(guid: Host.randomUUID())
    case .newer: return try conflict.newer()
    case nil:
      // A conflict that cannot be resolved by typed fields is refused before the editor opens.
      try conflict.check(.fields(RecordFields()))
      let sheet = ConflictSheet(conflict)
      let text = try TextEditor.edit(sheet.text, name: "conflict.json")
      return try sheet.fields(from: text).map(Resolution.fields)
    }
  }
}

/// The text that a person edits to resolve a conflict: the fields to keep as JSON, followed by the fields of
/// both versions.
struct ConflictSheet {
  private let conflict: RecordConflict

  init(_ conflict: RecordConflict) { self.conflict = conflict }

  /// The text before the edit. A version in which the record is deleted is null.
  var text: String {
    let start = conflict.mine.isDeleted ? conflict.theirs.fields : conflict.mine.fields
    let members = start.values.sorted { $0.key < $1.key }.map {
      "    " + RecordFields([$0.key: $0.value]).json.dropFirst().dropLast()
    }
    return """
      {
        "fields": {
      \(members.joined(separator: ",\n"))
        },
        "mine": \(side(conflict.mine)),
        "theirs": \(side(conflict.theirs))
      }

      """
  }

  /// The fields that the edited text states; nil if the text is unchanged or empty.
  ///
  /// - Throws: `Failure`: `badInput` if the text is not JSON with valid fields, `usage` if it leaves no
  ///   field.
  func fields(from text: String) throws -> RecordFields? {
    if text == self.text || text.allSatisfy(\.isWhitespace) { return nil }
    let fields: RecordFields?
    do {
      fields = try JSONScanner.read(Array(text.utf8)) { (reader) throws(JSONError) in
        var fields: RecordFields?
        try reader.object { (name, reader) throws(JSONError) in
          guard name == "fields" else { return false }
          fields = try RecordFields(&reader)
          return true
        }
        return fields
      }
    } catch {
      throw Failure(
        .badInput,
        "\(conflict.guid): the edited file is not valid (byte \(error.offset): \(error.reason)); the conflict is not resolved"
      )
    }
    guard let fields, !fields.values.isEmpty else {
      throw Failure(
        .usage,
        "\(conflict.guid): the record would be empty; the conflict is not resolved. To delete the record: 'glucoport record delete'"
      )
    }
    return fields
  }

  private func side(_ state: RecordState) -> String { state.isDeleted ? "null" : state.fields.json }
}

/// Runs the person's editor at the terminal.
enum TextEditor {
  /// Lets the person edit a text in a file that only they can read. The file is removed afterwards.
  ///
  /// - Parameter name: the end of the file's name, from which an editor recognises the type of the text.
  /// - Throws: `Failure`: `usage` if there is no terminal or no editor, `inputOutput` if the editor fails.
  static func edit(_ text: String, name: String) throws -> String {
    guard Host.isTerminal(STDIN_FILENO), Host.isTerminal(STDOUT_FILENO) else {
      throw Failure(.usage, "--edit needs a terminal; use --keep instead")
    }
    guard let editor = Host.environment("VISUAL") ?? Host.environment("EDITOR") else {
      throw Failure(.usage, "--edit needs an editor; set VISUAL or EDITOR, or use --keep")
    }
    let path = try write(text, name: name)
    defer { unlink(path) }
    // `VISUAL` and `EDITOR` may contain options, so a shell splits the value. Other programs do the same with
    // these variables.
    let status = system("\(editor) \(path.shellQuoted)")
    guard status == 0 else {
      throw Failure(.inputOutput, "the editor '\(displayed(editor))' failed; the conflict is not resolved")
    }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw Failure(.inputOutput, "\(path): cannot read the edited file; the conflict is not resolved")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Creates the file to edit, with the mode 0600, and returns its path.
  private static func write(_ text: String, name: String) throws -> String {
    let folder = FileManager.default.temporaryDirectory.path
    let file = try NamedFile(
      "\(folder)/glucoport-", end: "-\(name)", orFailWith: "\(folder): cannot create the file to edit")
    defer { close(file.descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(file.descriptor, bytes, bytes.count) == bytes.count else {
      unlink(PathText.bytes(file.path))
      throw Failure(.inputOutput, "\(file.path): cannot write the file to edit; is the disk full?")
    }
    return file.path
  }
}

/// A field or another member of a record in which the versions of a conflict differ, with its text in each
/// version. A text is nil if the version lacks the member.
struct Difference {
  /// The name of a field, or of another member of the record in glucoport-json(5).
  let name: String
  let base: String?
  let mine: String?
  let theirs: String?

  /// The fields and other members in which the versions of a conflict differ. Fields come last and are sorted
  /// by name.
  static func of(_ conflict: RecordConflict) -> [Difference] {
    let (base, mine, theirs) = (conflict.base, conflict.mine, conflict.theirs)
    let parts = ["deleted", "device_time", "entry_guid"].map { name in
      Difference(
        name: name, base: base.flatMap { part(name, $0) }, mine: part(name, mine), theirs: part(name, theirs))
    }
    let names = Set(mine.fields.values.keys).union(theirs.fields.values.keys).sorted()
    let fields = names.map { name in
      Difference(
        name: name, base: base?.fields[name].map(text), mine: mine.fields[name].map(text),
        theirs: theirs.fields[name].map(text))
    }
    return (parts + fields).filter { $0.mine != $0.theirs }
  }

  private static func part(_ name: String, _ state: RecordState) -> String? {
    switch name {
    case "deleted": state.isDeleted ? "yes" : "no"
    case "device_time": state.deviceTime.text + (state.statedOffset.map(DeviceTime.offsetText) ?? "")
    default: state.entryGuid
    }
  }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .number(let number): plainNumber(number)
    case .text(let text): text
    case .flag(let isSet): isSet ? "yes" : "no"
    case .words(let words): words.joined(separator: ", ")
    }
  }
}

/// `glucoport conflict`: commands for records that were edited both here and on the remote.
struct ConflictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "conflict", "List, show and resolve conflicts.",
    "No conflict command uses the network: a later upload sends the decision.",
    examples: "glucoport conflict list", "glucoport conflict resolve 8120 --keep mine",
    subcommands: [ConflictListCommand.self, ConflictShowCommand.self, ConflictResolveCommand.self])
}

/// `glucoport conflict list`: lists the records in conflict. A person must choose a version of each of them.
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

  /// All lines about a conflict. They are the record, the times of both edits, and each differing field or
  /// other member of the record with its text in every version.
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
