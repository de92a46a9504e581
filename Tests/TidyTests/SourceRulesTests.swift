// SPDX-License-Identifier: Apache-2.0

import Testing

/// Tests that each rule reports code that breaks it, and accepts other code.
@Suite struct SourceRulesTests {
  @Test(arguments: [
    ("Sources/Logbook/A.swift", "import Formats"),
    ("Sources/Formats/A.swift", "import LogbookStore"),
    ("Sources/Formats/A.swift", "public import Commands"),
    ("Sources/Formats/A.swift", "@preconcurrency import GRDB"),
    ("Sources/Formats/A.swift", "import struct Crypto.SHA256"),
    ("Sources/Formats/A.swift", "import GRDBSQLite"), ("Sources/Archives/A.swift", "import GRDB"),
    ("Sources/Ingest/A.swift", "  import CZlib"),
    ("Sources/Ingest/A.swift", "import ArgumentParser"),
    ("Sources/Ingest/A.swift", "import Subprocess"),
    ("Sources/Elsewhere/A.swift", ""),
  ])
  func theSourceCheckReportsImportsOfHigherModulesAndForbiddenPackages(_ path: String, _ text: String) {
    #expect(SourceRules.imports(SourceFile(path, text)).count == 1)
  }

  @Test(arguments: [
    ("Sources/Commands/A.swift", "import ArgumentParser\npublic import Logbook\nimport Ingest"),
    ("Sources/Archives/A.swift", "import CZlib\n  import Glibc\n// an import Commands in words"),
    ("Sources/LogbookStore/A.swift", "import GRDB\nimport GRDBSQLite\nimport Logbook"),
  ])
  func theSourceCheckAcceptsImportsOfLowerModules(_ path: String, _ text: String) {
    #expect(SourceRules.imports(SourceFile(path, text)) == [])
  }

  @Test func theLengthOfAFunctionIncludesItsDeclarationAndBody() {
    let text = """
      protocol P {
        func without(_ a: Int)
        init(b: Int)
      }
      struct S {
        init() {
        }
        @inline(__always) static func wide(
          _ a: Int,
          b: () -> Void = {}
        ) -> Int {
          if a > 0 {
            return 1
          }
          return 2
        }
        private func short() -> Int { 1 }
        func late() throws
          -> Int
        {
          1
        }
      }
      """
    let functions = SourceFile("S.swift", text).functions
    #expect(functions.map(\.line) == [6, 8, 17, 18])
    #expect(functions.map(\.length) == [2, 9, 1, 5])
  }

  @Test(arguments: [(68, 0), (69, 1)]) func theSourceCheckReportsOnlyLongFunctions(_ inner: Int, _ count: Int)
  {
    let text = "func f() {\n" + String(repeating: "  g()\n", count: inner) + "}\n"
    #expect(SourceRules.lengths(SourceFile("A.swift", text)).count == count)
  }

  @Test(arguments: [(600, 0), (601, 1)]) func theSourceCheckReportsOnlyLongFiles(_ lines: Int, _ count: Int) {
    let text = String(repeating: "// a\n", count: lines)
    #expect(SourceRules.lengths(SourceFile("A.swift", text)).count == count)
  }

  @Test(arguments: [
    ("// ", "a", 107, 0), ("// ", "a", 108, 1), ("  /// ", "a", 105, 1), ("  /// ", "é", 104, 0),
    ("  /// ", "é", 105, 1), ("let a = 1  // ", "a", 110, 0),
  ])
  func theSourceCheckReportsOnlyWideLinesOfComments(
    _ start: String, _ letter: String, _ letters: Int, _ count: Int
  ) {
    let text = "\n" + start + String(repeating: letter, count: letters) + "\n"
    #expect(SourceRules.wideComments(SourceFile("A.swift", text)).count == count)
  }

  @Test(arguments: [
    "print(1)", "  Swift.print(1)", "let a = try! b()", "a as! B", "fatalError(\"\")", "// TODO: more",
    "// FIXME",
  ])
  func theSourceCheckReportsCallsThatCrashOrPrint(_ line: String) {
    #expect(SourceRules.words(SourceFile("Sources/Logbook/A.swift", line)).count == 1)
  }

  @Test(arguments: [
    "final class A: @unchecked Sendable {", "  let a = Mutex(1)", "  let a = Mutex<Int?>(nil)",
    "  private let a: Mutex<Int>", "  let a = Atomic(0)", "  static let a = Atomic<Int32>(0)",
    "    reason = pthread_create(", "nonisolated(unsafe) var a = 1",
    "    Task { a() }",
    "DispatchQueue(label: a)", "static let shared = A()", "Task.detached { a() }",
    "@MainActor func a() {", "DispatchQueue.main.async { a() }", "RunLoop.main.run()",
  ])
  func theSourceCheckReportsLocksAndUnstructuredTasks(_ line: String) {
    #expect(SourceRules.concurrency(SourceFile("Sources/Logbook/A.swift", line)).count == 1)
  }

  @Test func theSourceCheckAcceptsAllowedConcurrencyAndWordsInComments() {
    let queue = SourceFile("Sources/Logbook/BackgroundWorker.swift", "queue = DispatchQueue(label: name)")
    #expect(SourceRules.concurrency(queue) == [])
    let start = SourceFile("Sources/glucoport/main.swift", "Task.detached { await a() }")
    #expect(SourceRules.concurrency(start) == [])
    let pool = SourceFile(
      "Sources/Remotes/Exchange/PooledHTTPTransport.swift", "let a = Mutex<Int?>(nil)\nlet b = Atomic(false)")
    #expect(SourceRules.concurrency(pool) == [])
    let lines = "  // Mutex(1)\n  group.addTask { a() }\n  let a = BackgroundWorker(1)"
    #expect(SourceRules.concurrency(SourceFile("Sources/Logbook/A.swift", lines)) == [])
  }

  @Test(arguments: [
    "@Test func a() {\n  guard b else { return }\n  #expect(c)\n}",
    "@Test(arguments: [\n  1,\n])\nfunc a(_ b: Int) {\n  each {\n    guard b > 1 else { return }\n  }\n}",
    "@Test func a() {\n  guard let b = c,\n    d\n  else {\n    return\n  }\n  #expect(b)\n}",
  ])
  func theSourceCheckReportsATestThatReturnsWithoutARecordedIssue(_ text: String) {
    #expect(SourceRules.silentReturns(SourceFile("Tests/A.swift", text)).count == 1)
  }

  @Test(arguments: [
    "@Test func a() {\n  #expect(b)\n}\n\nfunc c() {\n  guard b else { return }\n}",
    "@Test func a() {\n  guard b else {\n    Issue.record(\"b\")\n    return\n  }\n}",
    "@Test func a() {\n  for b in c {\n    guard b else { continue }\n  }\n}",
  ])
  func theSourceCheckAcceptsAHelperOrATestThatRecordsWhyItReturns(_ text: String) {
    #expect(SourceRules.silentReturns(SourceFile("Tests/A.swift", text)) == [])
  }

  @Test(arguments: [
    "let id: Int64 = row[0]", "rows.map { ($0[0], 1) }", "return row?[1] ?? 0", "kind = row[\"kind\"]",
    "Dictionary(uniqueKeysWithValues: pairs)",
  ])
  func theSourceCheckReportsDatabaseRowReadsThatCannotThrow(_ line: String) {
    let text = "let rows = try Row.fetchAll(database)\n\(line)"
    #expect(SourceRules.uncheckedRows(SourceFile("Sources/LogbookStore/A.swift", text)).count == 1)
    #expect(SourceRules.uncheckedRows(SourceFile("Sources/ServerStore/A.swift", text)).count == 1)
  }

  @Test func theSourceCheckAcceptsDatabaseRowReadsThatCanThrow() {
    let text = "let row = try Row.fetchOne(database)\nlet id: Int64 = try row[0]\n// row[0]\nInt64(parts[0])"
    #expect(SourceRules.uncheckedRows(SourceFile("Sources/LogbookStore/A.swift", text)) == [])
    #expect(SourceRules.uncheckedRows(SourceFile("Sources/Formats/A.swift", "row[0]; Row.fetch")) == [])
  }

  @Test func onlyTheOutputFileMayCallPrint() {
    #expect(SourceRules.words(SourceFile("Sources/Commands/Output/Output.swift", "print(1)")) == [])
    #expect(SourceRules.words(SourceFile("Sources/Commands/A.swift", "fingerprint(1); _print(2)")) == [])
  }

  @Test(arguments: [
    "    let page = try await remote.changes(after: nil, limit: 9, run)", "try store.storePulled(batch)",
    "    adopt(record, over: nil)", "try $0.setCursor(nil)", "try store.markConflicted(remote)",
    "apply(page)",
  ])
  func theSourceCheckReportsDownloadedChangesAppliedOutsideTheAllowedFile(_ line: String) {
    #expect(SourceRules.secondWaysIn(SourceFile("Sources/Sync/A.swift", line)).count == 1)
    #expect(SourceRules.secondWaysIn(SourceFile("Sources/Commands/A.swift", line)).count == 1)
  }

  @Test(arguments: [
    ("Sources/Sync/A.swift", "    case .adopt(let remote): return .markConflicted(remote)"),
    ("Sources/Sync/A.swift", "  case adopt(RemoteRecord)"), ("Sources/Sync/A.swift", "  func apply(page) {}"),
    ("Sources/Sync/A.swift", "readopt(1)"),
    ("Sources/Sync/UploadSession+Downloads.swift", "try store.setCursor(page.cursor)"),
    ("Sources/LogbookStore/A.swift", "try setCursor(cursor)"),
  ])
  func theSourceCheckAcceptsTheAllowedCallsForDownloadedChanges(_ path: String, _ line: String) {
    #expect(SourceRules.secondWaysIn(SourceFile(path, line)) == [])
  }

  @Test func theSourceCheckReportsFilesWithoutALicence() {
    #expect(SourceRules.licence(SourceFile("A.swift", "import A\n")).count == 1)
    #expect(
      SourceRules.licence(SourceFile("A.swift", "\n// SPDX-License-Identifier: Apache-2.0\n")).count == 1)
    #expect(SourceRules.licence(SourceFile("A.swift", "// SPDX-License-Identifier: Apache-2.0\n")) == [])
  }

  @Test(arguments: ["StoreManager.swift", "Utils.swift", "CommonWords.md"])
  func theSourceCheckReportsVagueFileNames(_ name: String) {
    #expect(SourceRules.vagueName(SourceFile("Sources/\(name)", "")).count == 1)
  }

  @Test func theSourceCheckReportsTwoFilesOrOuterTypesOfOneName() {
    let files = [
      SourceFile("Sources/A/One.swift", "package struct Row {\n  enum Kind {}\n}"),
      SourceFile("Sources/B/One.swift", "enum Kind {}\nextension Row {}"),
      SourceFile("Sources/B/Two.swift", "private final class Row {\n  enum Kind {}\n}"),
    ]
    #expect(
      SourceRules.repeatedNames(files) == [
        "One.swift: Sources/A/One.swift, Sources/B/One.swift",
        "Row: Sources/A/One.swift, Sources/B/Two.swift",
      ])
  }

  @Test func theSourceCheckReportsTwoTestFilesOrSuitesOfOneName() {
    let files = [
      SourceFile("Tests/A/One.swift", "struct LogTests {}\nstruct Sample {}"),
      SourceFile("Tests/B/One.swift", "@Suite(.serialized) struct OtherTests {}\nenum Sample {}"),
      SourceFile("Tests/B/Two.swift", "@Suite struct LogTests {}"),
    ]
    #expect(
      SourceRules.repeatedNames(files) == [
        "LogTests: Tests/A/One.swift, Tests/B/Two.swift", "One.swift: Tests/A/One.swift, Tests/B/One.swift",
      ])
  }

  @Test(arguments: ["root", "work"]) func theSourceCheckReportsFilePathsOfADeveloperMachine(_ folder: String)
  {
    #expect(SourceRules.machinePaths(SourceFile("A.md", "see /\(folder)/a")).count == 1)
    #expect(SourceRules.machinePaths(SourceFile("A.md", "see \(folder)/a and /\(folder)er/")) == [])
  }

  @Test func theSourceCheckReportsAFormatThatIsNotRegistered() {
    let register = SourceFile("ExportFormat.swift", "    AFormat.self,\n")
    let files = [
      SourceFile("Sources/Formats/AFormat.swift", "struct AFormat: ExportFormat {"),
      SourceFile("Sources/Formats/BFormat.swift", "struct BFormat: ExportFormat {"),
      SourceFile("Sources/Formats/BFormat+Rows.swift", "extension BFormat {"),
      SourceFile("Sources/Formats/Other.swift", "struct C: ExportFormat {"),
    ]
    #expect(SourceRules.unregistered(files, register: register).count == 2)
  }

  @Test func theSourceCheckReportsARemoteThatIsNotRegistered() {
    let register = SourceFile("RemoteRegister.swift", "    ARemote.self\n")
    let files = [
      SourceFile("Sources/Remotes/ARemote.swift", "struct ARemote: RemoteKind {"),
      SourceFile("Sources/Remotes/BRemote.swift", "struct BRemote: RemoteKind {"),
      SourceFile("Sources/Remotes/RemoteAddress.swift", "struct RemoteAddress: Hashable {"),
    ]
    #expect(SourceRules.unregistered(files, .remotes, register: register).count == 1)
  }

  @Test func theSourceCheckReportsADriverThatIsNotRegistered() {
    let register = SourceFile("DriverRegister.swift", "    ADriver.self,\n")
    let files = [
      SourceFile("Sources/Meters/A/ADriver.swift", "struct ADriver: MeterDriver {"),
      SourceFile("Sources/Meters/B/BDriver.swift", "struct BDriver: MeterDriver {"),
      SourceFile("Sources/Meters/B/BFrame.swift", "struct BFrame: Hashable {"),
    ]
    #expect(SourceRules.unregistered(files, .drivers, register: register).count == 1)
  }
}
