// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the exit status and the message for stores that cannot be opened.
@Suite struct StoreRefusalTests {
  private static let commands = [
    "list", "status", "export", "log", "config", "show 1", "record add note x", "config unit mmol/L",
    "import rows.csv", "import rows.csv --dry-run", "upload", "verify", "queue list", "conflict list",
  ]

  private func outcomes(
    _ prepare: String, store: String, commands: [String] = Self.commands
  ) async throws -> [(command: String, outcome: Program.Outcome)] {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3), to: "rows.csv")
    let setUp = try await program.shell(prepare)
    #expect(setUp.status == 0, "\(setUp)")
    var outcomes: [(String, Program.Outcome)] = []
    for command in commands {
      let words = command.replacing("rows.csv", with: program.path("rows.csv")).split(separator: " ")
      let outcome = try await program.runUnprivileged(
        arguments: words.map(String.init) + ["--store", program.path(store)])
      outcomes.append((command, outcome))
    }
    #expect(try await program.shell("chmod -R u+rwx .").status == 0)
    return outcomes
  }

  private static let store = "glucoport import rows.csv --store kept/a.db --quiet && "

  @Test func anUnreadableStoreIsReportedAsAPermissionError() async throws {
    for (command, outcome) in try await outcomes(Self.store + "chmod 0 kept/a.db", store: "kept/a.db") {
      #expect(outcome.status == 77, "\(command): \(outcome)")
      #expect(outcome.errors.contains("kept/a.db: Permission denied"), "\(command): \(outcome)")
    }
  }

  @Test func aStoreInALockedFolderIsReportedAsAPermissionError() async throws {
    for (command, outcome) in try await outcomes(Self.store + "chmod 0 kept", store: "kept/a.db") {
      #expect(outcome.status == 77, "\(command): \(outcome)")
      #expect(outcome.errors.contains("Permission denied"), "\(command): \(outcome)")
    }
  }

  @Test func aFolderGivenAsTheStoreIsRefused() async throws {
    for (command, outcome) in try await outcomes("mkdir folder", store: "folder") {
      #expect(outcome.status == 66, "\(command): \(outcome)")
      #expect(outcome.errors.contains("folder: Is a directory"), "\(command): \(outcome)")
    }
  }

  @Test func aPipeGivenAsTheStoreIsRefusedWithoutWaiting() async throws {
    for (command, outcome) in try await outcomes("mkfifo pipe", store: "pipe") {
      #expect(outcome.status == 65, "\(command): \(outcome)")
    }
  }

  @Test func aMissingStoreIsReportedAsMissing() async throws {
    let readers = Self.commands.filter { !$0.hasPrefix("import") && !$0.hasPrefix("record add") }
    for (command, outcome) in try await outcomes("true", store: "none/a.db", commands: readers) {
      #expect(outcome.status == 66, "\(command): \(outcome)")
    }
  }

  @Test func aFolderThatCannotBeCreatedIsReportedWithTheReason() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3), to: "rows.csv")
    let rows = program.path("rows.csv")
    let below = try await program.run("import", rows, "--store", rows + "/folder/a.db")
    #expect(below.status == 73 && below.errors.contains("Not a directory"), "\(below)")
    #expect(try await program.shell("mkdir shut && chmod 500 shut").status == 0)
    let shut = try await program.runUnprivileged(
      "import", rows, "--store", program.path("shut/folder/a.db"))
    #expect(shut.status == 77 && shut.errors.contains("Permission denied"), "\(shut)")
  }
}
