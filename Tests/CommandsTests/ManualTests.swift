// SPDX-License-Identifier: Apache-2.0

import Doctor
import Formats
import Foundation
import GRDB
import Logbook
import LogbookStore
import Meters
import TestProgram
import Testing

@testable import CommandParts
@testable import Commands
@testable import LookCommands

/// Compares the manual pages with the program. Both must have the same commands, options, columns and exit
/// statuses.
@Suite struct ManualTests {
  @Test func everyCommandHasAManualPage() throws {
    for command in try ProgramHelp.commands() {
      let page = try ManualPage("glucoport-\(command.commandName).1")
      for leaf in command.leaves {
        #expect(page.lines.contains(".Nm glucoport \(leaf.words)"), "\(page.name): its synopsis")
      }
      let overview = try ManualPage("glucoport.1").items("Cm")
      #expect(overview.contains(command.commandName), "glucoport.1: its list of commands")
    }
  }

  @Test func everyManualPageDescribesACommandOrAFileFormat() throws {
    let commands = try ProgramHelp.commands().map { "glucoport-\($0.commandName).1" }
    #expect(
      try Set(ManualPage.names())
        == Set(
          commands + [
            "glucoport.1", "glucoport-formats.7", "glucoport-json.5", "glucoport-nightscout.7",
            "glucoport-operation.7", "glucoport-postgresql.7",
            "glucoport-protocol.7", "glucoport-source.7",
            "glucoport-store.5", "glucoport-transcript.5",
          ]))
  }

  @Test(arguments: RecordKindDescription.all)
  func theManualPageOfExportsNamesTheFieldsOfEachRecordKind(_ description: RecordKindDescription) throws {
    let lines = try ManualPage("glucoport-json.5").section("Ss Fields of records")
    let start = try #require(lines.firstIndex(of: ".It Cm \(description.kind.rawValue)"))
    let item = lines[(start + 1)...].prefix { !$0.hasPrefix(".It ") && $0 != ".El" }
    let named = item.filter { $0.hasPrefix(".Va ") }.map { $0.split(separator: " ")[1] }
    #expect(Set(named.map(String.init)) == Set(description.fields.map(\.name)))
    for word in description.subtypes {
      #expect(item.contains { $0.contains("Cm \(word)") }, "\(word)")
    }
  }

  @Test func eachManualPageDescribesExactlyTheOptionsOfItsCommand() throws {
    for command in try ProgramHelp.commands() {
      let page = try ManualPage("glucoport-\(command.commandName).1")
      #expect(Set(page.items("Fl")) == command.flags, "\(page.name)")
    }
  }

  @Test func eachManualSynopsisNamesEveryOptionAndArgumentLikeTheHelp() throws {
    for command in try ProgramHelp.commands() {
      let page = try ManualPage("glucoport-\(command.commandName).1")
      for leaf in command.leaves {
        let synopsis = page.synopsis(of: leaf.words)
        for argument in leaf.command.arguments ?? [] where !argument.isOfEveryCommand {
          #expect(synopsis.contains(argument.synopsis), "\(page.name), \(leaf.words): \(argument.synopsis)")
        }
      }
    }
  }

  @Test func everyFlagInTheManualExistsInTheProgram() throws {
    let known = try ProgramHelp.commands().reduce(into: Set<String>()) { $0.formUnion($1.flags) }
    for name in try ManualPage.names() {
      #expect(try Set(ManualPage(name).arguments(of: "Fl")).subtracting(known) == [], "\(name)")
    }
  }

  @Test(arguments: [ActionClass.deferrable, .immediate, .local])
  func theManualListsTheCommandsOfEachNetworkClass(_ actionClass: ActionClass) throws {
    let described = try ManualPage("glucoport.1").literals(under: "Ss Network", item: actionClass.rawValue)
    let classified = ClassifiedCommands.all.filter { $0.type.actionClass == actionClass }.map(\.words)
    #expect(described == classified)
  }

  @Test func theManualListsTheExitStatusesOfTheProgram() throws {
    let page = try ManualPage("glucoport.1")
    let described = page.section("Sh EXIT STATUS").compactMap { line in
      line.hasPrefix(".It ") ? Int32(line.dropFirst(4)) : nil
    }
    #expect(described == (0...255).filter { ExitStatus(rawValue: $0) != nil })
  }

  @Test func theManualListsExitStatusesByPrecedence() throws {
    let section = try ManualPage("glucoport.1").section("Sh EXIT STATUS")
    let sentence = try #require(section.first { $0.hasPrefix("If several apply") })
    let described = sentence.matches(of: /\d+/).compactMap { Int32($0.output) }
    #expect(described == ExitStatus.precedence.map(\.rawValue))
  }

  @Test func theManualDescribesTheFindingsOfStatusChecksInOrder() throws {
    let described = try ManualPage("glucoport-status.1").items("Cm")
    #expect(described == StatusFinding.Word.allCases.map(\.rawValue))
  }

  @Test func theManualDescribesTheAreasAndStatesOfDoctorInOrder() throws {
    let described = try ManualPage("glucoport-doctor.1").items("Cm")
    #expect(described == Finding.State.allCases.map(\.rawValue) + Finding.Area.allCases.map(\.rawValue))
  }

  @Test func theManualNamesTheOldestSupportedSQLite() throws {
    let oldest = SQLiteVersion.oldest.description.split(separator: ".").prefix(2).joined(separator: ".")
    let lines = try ManualPage("glucoport-store.5").section("Sh DESCRIPTION")
    #expect(lines.contains { $0.hasPrefix("It needs version \(oldest) or newer of the SQLite library") })
  }

  @Test func theManualDescribesTheColumnsOfExportedItemsInOrder() throws {
    #expect(try ManualPage("glucoport-json.5").variables(under: "Ss Items") == GlucoportColumns.names)
  }

  @Test func theManualDescribesTheColumnsOfStatisticsInOrder() throws {
    #expect(try ManualPage("glucoport-json.5").variables(under: "Ss stats --format csv") == StatsTable.names)
  }

  @Test(arguments: ["readings", "records"])
  func theManualDescribesTheColumnsOfEachDatabaseViewInOrder(_ view: String) throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "logbook.db").path
      _ = try Store.openOrCreate(path: path, role: .importer, zone: LogbookZone(name: "UTC"))
      let columns = try DatabaseQueue(path: path).read { database in
        try database.makeStatement(sql: "SELECT * FROM \(view)").columnNames
      }
      #expect(try ManualPage("glucoport-store.5").variables(under: "Ss The view \(view)") == columns)
    }
  }

  @Test func theManualDescribesTheMarksOfReadingsInOrder() throws {
    let section = try ManualPage("glucoport-store.5").section("Ss Marks")
    let described = section.filter { $0.hasPrefix(".It Cm ") }.map { String($0.dropFirst(7)) }
    #expect(described == ReadingMarks.named.map(\.name))
  }

  @Test func everyJSONMemberIsDescribedInTheManual() throws {
    try ScratchFolder.with { folder in
      let arguments = ["--store", folder.appending(path: "logbook.db").path]
      let samples = try [
        "clarity/clarity-mgdl-en.csv", "generic/kinds.csv", "meters/contour-constructed.transcript",
      ].map { name in
        let sample = Repository.samples.appending(path: name)
        return try #require(FileManager.default.fileExists(atPath: sample.path) ? sample.path : nil)
      }
      try check(
        ["import", "--timezone", "UTC", "--json"] + samples.prefix(2) + arguments, "Ss import --json")
      try check(["import", "--json", "--transcript", samples[2]] + arguments, "Ss import --json")
      try check(["log", "--json"] + arguments, "Ss log --json")
      try check(["log", "2", "--json"] + arguments, "Ss log --json")
      try check(["status", "--json"] + arguments, "Ss status --json")
      try check(["doctor", "--json"] + arguments, "Ss doctor --json")
      try check(["latest", "--json"] + arguments, "Ss latest --json")
      try check(["stats", "--by", "day", "--json"] + arguments, "Ss stats --json")
      try check(["formats", "--json"], "Ss formats --json")
      try check(["formats", "glooko", "--json"], "Ss formats --json")
      try check(["meter", "drivers", "--json"], "Ss meter drivers --json")
      try check(["record", "add", "note", "a text", "--json"] + arguments, "Ss show --json")
      let note = try #require(try ids(arguments).last)
      _ = try Answer(of: ProgramHelp.binary, ["record", "attach", note, samples[1]] + arguments)
      try check(["record", "attachments", note, "--json"] + arguments, "Ss record attachments --json")
      for id in try ids(arguments) { try check(["show", "--json", id] + arguments, "Ss show --json") }
      try setRemote(arguments[1])
      try setSource(arguments[1])
      try check(["fetch", "--json"] + arguments, "Ss fetch --json")
      try check(["source", "show", "--json"] + arguments, "Ss source show --json")
      try check(["status", "--json"] + arguments, "Ss status --json")
      try check(["remote", "show", "--json"] + arguments, "Ss remote show --json")
    }
  }

  @Test func everyCrossReferenceInTheManualNamesAnExistingPage() throws {
    let pages = try ManualPage.names()
    for name in pages {
      for line in try ManualPage(name).lines where line.hasPrefix(".Xr glucoport") {
        let words = line.split(separator: " ")
        #expect(words.count >= 3 && pages.contains("\(words[1]).\(words[2])"), "\(name): \(line)")
      }
    }
  }

  @Test func mandocFindsNoErrorInTheManualPages() throws {
    let pages = try ManualPage.names().map { ManualPage.folder.appending(path: $0).path }
    let lint = ["mandoc", "-T", "lint", "-W", "warning"]
    let answer = try Answer(of: URL(filePath: "/usr/bin/env"), lint + pages)
    #expect(answer.text == "" && answer.status == 0, "mandoc comes with the package of that name")
  }

  private func setRemote(_ path: String) throws {
    let access = RemoteAccess(kind: "glucoport", url: "https://host.example", token: .file("/token"))
    let logbook = RemoteLogbook(id: "id", name: "Anna", isWritable: true, maxReadings: 1, maxRecords: 1)
    try Store(path: path, role: .sync).setRemote(access, logbook: logbook, isNewRemote: false, at: 0)
  }

  /// Adds a source whose program prints an empty list. The source has lost the values of one day.
  private func setSource(_ path: String) throws {
    var access = SourceAccess(type: "command", intervalSeconds: 900)
    access.command = ["/bin/echo", "[]"]
    access.format = "generic"
    var setting = SourceSetting(name: "printed", access: access)
    setting.state.holes = [SourceHole(from: 1_800_000_000, until: 1_800_086_400)]
    try Store(path: path, role: .importer).setSource(setting)
  }

  /// The id of the first listed reading, and the id of the first listed record.
  private func ids(_ arguments: [String]) throws -> [String] {
    let table = try Answer(of: ProgramHelp.binary, ["list", "--long"] + arguments).text
    let words = table.split { $0 == " " || $0.isNewline }
    let reading = try #require(words.first { $0.hasPrefix("r1.") })
    let record = try #require(words.first { $0.count == 36 && $0.filter { $0 == "-" }.count == 4 })
    return [String(reading), String(record)]
  }

  /// Checks that a section of glucoport-json(5) describes every member of the JSON that a command prints.
  private func check(_ arguments: [String], _ title: String) throws {
    let page = try ManualPage("glucoport-json.5")
    var described = Set(page.variables(under: title))
    // `show` prints members of items. `status` and `log` print members of the reports of imports and sources.
    // Other sections describe these members.
    if title.contains("show") {
      described.formUnion(page.variables(under: "Ss Items") + page.named(under: "Ss Items"))
    }
    if title.contains("log") || title.contains("status") {
      described.formUnion(page.variables(under: "Ss import --json"))
      described.formUnion(page.variables(under: "Ss log --json"))
      described.formUnion(page.variables(under: "Ss source show --json"))
    }
    let lines = try Answer(of: ProgramHelp.binary, arguments).text.split(separator: "\n")
    #expect(!lines.isEmpty, "\(arguments) prints nothing")
    for line in lines {
      let names = try JSONNames.all(in: String(line))
      #expect(names.subtracting(described) == [], "\(title)")
    }
  }
}

/// The names of all members in a JSON text, at any depth.
enum JSONNames {
  /// The members of these objects are not checked: their names are data, such as the reason of a rejection.
  private static let free: Set<String> = ["skipped", "not_taken", "new_by_kind", "fields"]

  static func all(in text: String) throws -> Set<String> {
    names(try JSONSerialization.jsonObject(with: Data(text.utf8)))
  }

  private static func names(_ value: Any) -> Set<String> {
    if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(names($1)) } }
    guard let object = value as? [String: Any] else { return [] }
    return object.reduce(into: []) { found, member in
      found.insert(member.key)
      if free.contains(member.key) { return }
      // In the decisions of an import, the member names are the subjects of the decisions. They are data,
      // too, so only the values are searched.
      let isBySubject = member.key == "decisions" && member.value is [String: Any]
      let values = isBySubject ? Array((member.value as? [String: Any] ?? [:]).values) : [member.value]
      for value in values { found.formUnion(names(value)) }
    }
  }
}

struct ManualPage {
  static let folder = Repository.root.appending(path: "man")

  let name: String
  let lines: [String]

  init(_ name: String) throws {
    self.name = name
    let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
    lines = text.components(separatedBy: "\n")
  }

  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// The lines after the title `.Sh NAME` or `.Ss NAME`, up to the next title.
  func section(_ title: String) -> [String] {
    guard let start = lines.firstIndex(of: "." + title) else { return [] }
    return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(".Sh ") && !$0.hasPrefix(".Ss ") })
  }

  /// The lines of the synopsis for a command, up to the next command.
  func synopsis(of words: String) -> String {
    let lines = section("Sh SYNOPSIS")
    guard let start = lines.firstIndex(of: ".Nm glucoport \(words)") else { return "" }
    return lines[(start + 1)...].prefix { !$0.hasPrefix(".Nm ") }.map { $0 + "\n" }.joined()
  }

  /// The literals (macro `Ql`) in the description of a list item.
  func literals(under title: String, item: String) -> [String] {
    let lines = section(title)
    guard let start = lines.firstIndex(of: ".It Cm \(item)") else { return [] }
    return lines[(start + 1)...].prefix { !$0.hasPrefix(".It ") && $0 != ".El" }
      .filter { $0.hasPrefix(".Ql ") }.map {
        $0.dropFirst(4).replacing(" ,", with: "").replacing(" .", with: "")
      }
      .map(String.init)
  }

  /// The words that follow this macro in the list items of the page.
  func items(_ macro: String) -> [String] {
    lines.filter { $0.hasPrefix(".It \(macro) ") }.flatMap { Self.arguments(of: macro, in: $0) }
  }

  /// The variables (macro `Va`) in the sentences of a section.
  func named(under title: String) -> [String] {
    section(title).filter { $0.hasPrefix(".Va ") }.flatMap { line in
      line.split(separator: " ").dropFirst().filter { $0 != "," && $0 != "." }.map(String.init)
    }
  }

  /// The variables in the list items of a section, in order.
  func variables(under title: String) -> [String] {
    section(title).filter { $0.hasPrefix(".It Va ") }.flatMap { line in
      line.split(separator: " ").dropFirst(2).filter { $0 != "," && $0 != "Va" }.map(String.init)
    }
  }

  /// The word after each use of a macro on the whole page.
  func arguments(of macro: String) -> [String] {
    lines.filter { $0.hasPrefix(".") && !$0.hasPrefix(".\\\"") }.flatMap { Self.arguments(of: macro, in: $0) }
  }

  private static func arguments(of macro: String, in line: String) -> [String] {
    let words = line.dropFirst().split(separator: " ").map(String.init)
    return zip(words, words.dropFirst()).filter { $0.0 == macro }.map(\.1)
  }
}

/// The description of the program's commands and options, which the program prints as JSON.
private enum ProgramHelp {
  struct Dump: Decodable { let command: Command }

  struct Command: Decodable {
    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Command]?

    /// The options of the command and of its subcommands, without their first dash, as the macro `Fl` has
    /// them.
    var flags: Set<String> { Set(leaves.flatMap { ($0.command.arguments ?? []).flatMap(\.flags) }) }

    /// The command and its subcommands, each with the words that call it. Groups without an action are
    /// omitted.
    var leaves: [(words: String, command: Command)] {
      let below = (subcommands ?? []).filter { $0.commandName != "help" }
      let own =
        arguments?.contains { !$0.isOfEveryCommand } == true || below.isEmpty ? [(commandName, self)] : []
      return own + below.flatMap { $0.leaves.map { ("\(commandName) \($0.words)", $0.command) } }
    }
  }

  struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let names: [Name]?
    let valueName: String?
    let isRepeating: Bool
    let isOptional: Bool

    var flags: [String] { (names ?? []).map { $0.kind == "long" ? "-" + $0.name : $0.name } }
    var isOfEveryCommand: Bool { flags.contains("-help") || flags.contains("-version") }

    /// The argument in the notation of the synopsis, with the macros of mdoc.
    var synopsis: String {
      let value = "Ar " + (valueName ?? "").replacing("…", with: "...")
      switch kind {
      case "positional": return isRepeating ? value + " ..." : value
      case "option": return (isOptional ? ".Op " : "") + "Fl \(flags.first ?? "") \(value)\n"
      default: return ".Op Fl \(flags.first ?? "")"
      }
    }
  }

  /// The `glucoport` program in the folder of the test program, from the same build.
  static let binary = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "glucoport")

  /// All commands except `help`, which the parser library adds.
  static func commands() throws -> [Command] {
    let answer = try Answer(of: binary, ["--experimental-dump-help"])
    let dump = try JSONDecoder().decode(Dump.self, from: Data(answer.text.utf8))
    return try #require(dump.command.subcommands).filter { $0.commandName != "help" }
  }
}

/// The standard output and the exit status of a program that was run.
private struct Answer {
  let text: String
  let status: Int32

  init(of program: URL, _ arguments: [String]) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
  }
}

/// Paths of files in the repository.
enum Repository {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let samples = root.appending(path: "Samples")
}

/// A temporary folder that exists while a closure runs.
private enum ScratchFolder {
  static func with(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let result = Result { try body(folder) }
    try FileManager.default.removeItem(at: folder)
    try result.get()
  }
}
