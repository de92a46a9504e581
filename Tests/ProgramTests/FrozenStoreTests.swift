// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Tests reading a store in a read-only folder, as on read-only media.
@Suite struct FrozenStoreTests {
  private static let setUp =
    "glucoport import rows.csv --store kept/a.db --quiet && glucoport record add note x --store kept/a.db --quiet && "

  private func program(_ prepare: String) async throws -> Program {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3), to: "rows.csv")
    let made = try await program.shell(Self.setUp + prepare)
    #expect(made.status == 0, "\(made)")
    return program
  }

  private static let readers = [
    "list", "status", "export", "log", "config", "stats", "show 1", "queue list", "conflict list",
    "record list", "latest", "count list",
  ]

  private static func arguments(_ command: String, _ program: Program) -> [String] {
    command.split(separator: " ").map(String.init) + ["--store", program.path("kept/a.db")]
  }

  @Test func aStoreInAFolderThatCannotBeWrittenIsRead() async throws {
    let program = try await program("cp -r kept other && chmod 500 kept")
    for command in Self.readers {
      let arguments = Self.arguments(command, program)
      let outcome = try await program.runUnprivileged(arguments: arguments)
      let same = try await program.run(
        arguments: arguments.map { $0.replacing("/kept/", with: "/other/") })
      #expect(outcome.status == same.status, "\(command): \(outcome)")
      #expect(
        outcome.output.replacing("/kept/", with: "/other/") == same.output, "\(command)")
      let line =
        "glucoport: \(program.path("kept/a.db")): the folder cannot be written; reading without a lock\n"
      #expect(outcome.errors == line + same.errors.replacing("/other/", with: "/kept/"), "\(command)")
      #expect(!same.errors.contains("without a lock"))
    }
    #expect(try await program.shell("ls kept; chmod 700 kept").output == "a.db\n")
  }

  /// SQLite treats a file that it may not write otherwise than another one.
  @Test func aBackupInAFolderThatCannotBeWrittenIsRestoredAndCopied() async throws {
    let program = try await program("glucoport backup kept/b.db --store kept/a.db --quiet && chmod 500 kept")
    let restored = try await program.runUnprivileged(
      "restore", program.path("kept/b.db"), "--store", program.path("new.db"), "--yes")
    #expect(restored.status == 0 && restored.output.contains("3 readings"), "\(restored)")
    for source in ["a.db", "b.db"] {
      let copied = try await program.runUnprivileged(
        "backup", program.path("of-\(source)"), "--store", program.path("kept/\(source)"))
      #expect(copied.status == 0, "\(copied)")
    }
    let compared = try await program.shell(
      "chmod 700 kept; ls; for file in of-a.db of-b.db; do cmp kept/b.db $file; done")
    #expect(compared.status == 0 && !compared.output.contains("part"), "\(compared)")
    let list = try await program.run("list", "--store", program.path("new.db"))
    #expect(list.output.split(separator: "\n").count == 4, "\(list)")
  }

  /// A snapshot of a store in use has a write-ahead log, whose content is part of the store.
  @Test func aSnapshotWithAWriteAheadLogIsRestoredAndCopied() async throws {
    let program = try await program("mkdir snapshot")
    try program.write(GeneratedExport.csv(rows: 3, from: 10), to: "more.csv")
    try program.write(
      """
      import sqlite3, subprocess
      store = sqlite3.connect("kept/a.db")
      store.execute("BEGIN")
      store.execute("SELECT count(*) FROM reading").fetchone()
      subprocess.run(["glucoport", "import", "more.csv", "--store", "kept/a.db", "--quiet"], check=True)
      subprocess.run("cp kept/a.db kept/a.db-wal kept/a.db-shm snapshot && chmod 400 snapshot/*", shell=True, check=True)
      """, to: "snapshot.py")
    let made = try await program.shell(
      "python3 snapshot.py && test -s snapshot/a.db-wal && chmod 500 snapshot")
    #expect(made.status == 0, "\(made)")
    let snapshot = program.path("snapshot/a.db")
    let copied = try await program.runUnprivileged("backup", program.path("copy.db"), "--store", snapshot)
    #expect(copied.status == 0 && copied.output.contains("6 readings"), "\(copied)")
    let restored = try await program.runUnprivileged(
      "restore", snapshot, "--store", program.path("new.db"), "--yes")
    #expect(restored.status == 0 && restored.output.contains("6 readings"), "\(restored)")
    #expect(try await program.shell("chmod 700 snapshot").status == 0)
  }

  @Test func readingAReadOnlyStoreChangesNothing() async throws {
    let program = try await program("chmod 500 kept")
    for command in ["config unit mmol/L", "record add note y", "import rows.csv"] {
      let words = command.replacing("rows.csv", with: program.path("rows.csv"))
      let outcome = try await program.runUnprivileged(arguments: Self.arguments(words, program))
      #expect([73, 77].contains(outcome.status), "\(command): \(outcome)")
    }
    #expect(try await program.shell("chmod 700 kept").status == 0)
  }

  /// The content of the write-ahead log is part of the store. Without this content, the result would be
  /// outdated.
  @Test func aReadOnlyStoreWithChangesInItsLogIsRefused() async throws {
    let program = try await program("printf x >kept/a.db-wal && chmod 500 kept")
    for command in ["list", "status", "export"] {
      let outcome = try await program.runUnprivileged(arguments: Self.arguments(command, program))
      #expect(outcome.status == 77, "\(command): \(outcome)")
      #expect(outcome.errors.contains("its last changes are in") && outcome.errors.contains("a.db-wal"))
    }
    for command in ["backup \(program.path("copy.db"))", "doctor"] {
      let outcome = try await program.runUnprivileged(arguments: Self.arguments(command, program))
      #expect((outcome.output + outcome.errors).contains("its last changes are in"), "\(command): \(outcome)")
    }
    for command in ["restore", "import"] {
      let outcome = try await program.runUnprivileged(
        command, program.path("kept/a.db"), "--store", program.path("new.db"), "--yes")
      #expect(outcome.status == 77, "\(command): \(outcome)")
      #expect(outcome.errors.contains("its last changes are in") && outcome.errors.contains("a.db-wal"))
    }
    #expect(try await program.shell("ls; chmod 700 kept").output == "kept\nrows.csv\n")
  }

  @Test func aSymbolicLinkToAReadOnlyStoreIsFollowed() async throws {
    let program = try await program(
      "mkdir here && ln -s ../kept/a.db here/a.db && mv kept 'kept %?#' && "
        + "ln -sfn '../kept %?#/a.db' here/a.db && chmod 500 'kept %?#'")
    let outcome = try await program.runUnprivileged("list", "--store", program.path("here/a.db"))
    #expect(outcome.status == 0 && outcome.output.split(separator: "\n").count == 4, "\(outcome)")
    #expect(outcome.errors.contains("without a lock"))
    #expect(try await program.shell("chmod 700 'kept %?#'").status == 0)
  }
}
