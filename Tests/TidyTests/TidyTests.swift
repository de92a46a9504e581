// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests the repository's rules that can be checked on its text.
@Suite struct TidyTests {
  private func swiftSources() throws -> [SourceFile] {
    let files = try SourceFile.all(in: "Sources").filter(\.isSwift)
    try #require(files.count > 50, "the sources are where this test looks")
    return files
  }

  @Test func modulesImportOnlyLowerOnesAndEachThirdPartyHasOneModule() throws {
    #expect(try swiftSources().flatMap(SourceRules.imports) == [])
  }

  @Test func eachRoleOfAThirdPartyHasOneModuleThatImportsIt() throws {
    let files = try swiftSources()
    #expect(Set(SourceRules.importers.map(\.role)).count == SourceRules.importers.count)
    for (role, room, modules) in SourceRules.importers {
      let imported = Set(files.filter { $0.room == room }.flatMap(\.imports).map(\.module))
      #expect(modules.subtracting(imported) == [], "\(role)")
    }
  }

  @Test func everyModuleIsInOneRowOfTheImportTable() throws {
    let folder = SourceFile.root.appending(path: "Sources").path
    let folders = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(folders) == Set(SourceRules.rows.joined()))
  }

  @Test func theModuleTableInContributingShowsTheImportRows() throws {
    let page = try String(contentsOf: SourceFile.root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
    var table: [Substring: Set<Substring>] = [:]
    for line in page.split(separator: "\n") {
      guard let match = line.firstMatch(of: /^\| ([0-9½]) \|([^|]*)\|/) else { continue }
      table[match.1, default: []].formUnion(match.2.matches(of: /`Sources\/(\w+)`/).map(\.1))
    }
    let rows = zip(["0", "½", "1", "2", "3", "4", "5"] as [Substring], SourceRules.rows)
    #expect(table == Dictionary(uniqueKeysWithValues: rows.map { ($0, Set($1.map { Substring($0) })) }))
    let manifest = try String(
      contentsOf: SourceFile.root.appending(path: "Package.swift"), encoding: .utf8)
    for room in SourceRules.rows.joined() { #expect(manifest.contains("name: \"\(room)\""), "\(room)") }
  }

  @Test func noFunctionOrFileIsTooLong() throws {
    let tests = try SourceFile.all(in: "Tests").filter(\.isSwift)
    #expect(try (swiftSources() + tests).flatMap(SourceRules.lengths) == [])
  }

  @Test func noLineOfACommentIsWiderThanTheFormatterAllows() throws {
    let settings = try String(
      contentsOf: SourceFile.root.appending(path: ".swift-format"), encoding: .utf8)
    #expect(settings.contains("\"lineLength\": \(SourceRules.maxCommentColumns),"))
    let tests = try SourceFile.all(in: "Tests").filter(\.isSwift)
    #expect(try (swiftSources() + tests).flatMap(SourceRules.wideComments) == [])
  }

  @Test func sourcesHaveNoForcedUnwrapUnfinishedWorkOrPrint() throws {
    #expect(try swiftSources().flatMap(SourceRules.words) == [])
  }

  @Test func everyValueOfADatabaseRowIsReadWithAThrowingCall() throws {
    #expect(try swiftSources().flatMap(SourceRules.uncheckedRows) == [])
  }

  @Test func eachLockThreadAndAtomicIsListedWithTheReasonWhyItIsSafe() throws {
    let files = try swiftSources()
    #expect(files.flatMap(SourceRules.concurrency) == [])
    for use in SourceRules.unchecked {
      let file = try #require(files.first { $0.path == use.file }, "\(use.file)")
      #expect(file.lines.count { $0.contains(use.word) } == use.lines, "\(use.file): \(use.word)")
    }
  }

  @Test func noTestReturnsSilentlyBeforeItsChecks() throws {
    let files = try SourceFile.all(in: "Tests").filter(\.isSwift)
    #expect(files.contains { file in file.functions.contains { file.isTest(at: $0.line) } })
    #expect(files.flatMap(SourceRules.silentReturns) == [])
  }

  @Test func downloadedChangesAreAppliedInOnePlaceOnly() throws {
    let files = try swiftSources()
    #expect(files.flatMap(SourceRules.secondWaysIn) == [])
    for (call, names) in SourceRules.pulling {
      for name in names {
        let file = try #require(files.first { $0.name == name }, "\(name)")
        #expect(file.lines.contains { $0.contains(call) }, "\(name) no longer says \(call)")
      }
    }
  }

  @Test func everySwiftFileBeginsWithItsLicence() throws {
    let files = try SourceFile.all(in: "Sources") + SourceFile.all(in: "Tests")
    let manifest = try String(
      contentsOf: SourceFile.root.appending(path: "Package.swift"), encoding: .utf8)
    let all = files.filter(\.isSwift) + [SourceFile("Package.swift", manifest)]
    #expect(all.flatMap(SourceRules.licence) == [])
  }

  @Test func everyFormatInTheSourcesIsRegistered() throws {
    let files = try swiftSources()
    let register = try #require(files.first { $0.path == "Sources/Formats/Reader/ExportFormat.swift" })
    #expect(files.contains { $0.name == "GenericFormat.swift" })
    #expect(SourceRules.unregistered(files, register: register) == [])
  }

  @Test func everyRemoteInTheSourcesIsRegistered() throws {
    let files = try swiftSources()
    let register = try #require(files.first { $0.path == "Sources/Remotes/RemoteRegister.swift" })
    #expect(files.contains { $0.name == "GlucoportRemote.swift" })
    #expect(SourceRules.unregistered(files, .remotes, register: register) == [])
  }

  @Test func everyMeterDriverInTheSourcesIsRegistered() throws {
    let files = try swiftSources()
    let register = try #require(files.first { $0.path == "Sources/Meters/DriverRegister.swift" })
    #expect(files.contains { $0.name == "ContourDriver.swift" })
    #expect(SourceRules.unregistered(files, .drivers, register: register) == [])
  }

  @Test(arguments: [
    ("ServerStorage", ["StorageRule.all", "ServiceRule.ofStorages"]), ("RemoteKind", ["ServiceRule."]),
  ])
  func everyStorageAndRemoteRunsTheConformanceRules(_ port: String, _ rules: [String]) throws {
    let conforming = try Regex(
      "^(?:package |final )*(?:struct|class|actor) (\\w+)[^{]*\\b\(port)\\b", as: (Substring, Substring).self)
    let types = try swiftSources().flatMap(\.lines).compactMap { $0.firstMatch(of: conforming)?.1 }
    try #require(types.count >= 2)
    let tests = try SourceFile.all(in: "Tests").filter(\.isSwift).map(\.text)
    for type in types {
      #expect(
        tests.contains { text in
          text.holds(String(type)) && rules.allSatisfy { text.contains("arguments: \($0)") }
        }, "\(type)")
    }
  }

  @Test func noFileNameIsVague() throws {
    #expect(try SourceFile.all().flatMap(SourceRules.vagueName) == [])
  }

  @Test func noTwoSourceFilesOrOuterTypesHaveOneName() throws {
    #expect(try SourceRules.repeatedNames(swiftSources()) == [])
  }

  @Test func noTwoFilesAndNoTwoSuitesOfTestsHaveOneName() throws {
    #expect(try SourceRules.repeatedNames(SourceFile.all(in: "Tests").filter(\.isSwift)) == [])
  }

  @Test func noFilePathOfADeveloperMachineIsInAnyText() throws {
    #expect(try SourceFile.all().flatMap(SourceRules.machinePaths) == [])
  }
}
