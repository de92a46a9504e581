// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport import` of SQLite files.
@Suite(.timeLimit(.minutes(5)))
struct DatabaseImportTests {
  private static let sample = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Samples/xdrip/backup.sqlite").path

  @Test func aRepeatedBackupIsImportedOnce() async throws {
    let program = try Program()
    let first = try await program.run("import", Self.sample)
    #expect(first.status == 3 && first.output.contains("new 6 · known 0"), "\(first)")
    let second = try await program.run("import", "--again", Self.sample)
    #expect(second.output.contains("new 0 · known 6"), "\(second)")
    // No file was written next to it.
    let folder = URL(filePath: Self.sample).deletingLastPathComponent().path
    #expect(try !FileManager.default.contentsOfDirectory(atPath: folder).contains { $0.contains("-wal") })
  }

  @Test func aGlucoportStoreIsRefusedWithAdvice() async throws {
    let program = try Program()
    #expect(try await program.run("import", Self.sample, "--quiet").status == 3)
    let store = program.path("copy.db")
    try FileManager.default.copyItem(atPath: program.store, toPath: store)
    let outcome = try await program.run("import", store)
    #expect(outcome.status == 65)
    #expect(
      outcome.errors.contains("this is a glucoport store (an SQLite database), not an export"), "\(outcome)")
    #expect(outcome.errors.contains("glucoport export --store FILE --format ndjson | glucoport import -"))
  }
}
