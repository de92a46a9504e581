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

  @Test func aDatabaseBackupImportedTwiceIsStoredOnce() async throws {
    let program = try Program()
    let first = try await program.run("import", Self.sample)
    #expect(first.status == 3 && first.output.contains("new 6 · known 0"), "\(first)")
    let second = try await program.run("import", "--again", Self.sample)
    #expect(second.output.contains("new 0 · known 6"), "\(second)")
    // No file was written next to the database.
    let folder = URL(filePath: Self.sample).deletingLastPathComponent().path
    #expect(try !FileManager.default.contentsOfDirectory(atPath: folder).contains { $0.contains("-wal") })
  }

  /// The write-ahead log is next to the file, not next to a link to the file.
  @Test func theWriteAheadLogNextToTheTargetOfALinkIsRead() async throws {
    let program = try Program()
    try FileManager.default.copyItem(atPath: Self.sample, toPath: program.path("b.sqlite"))
    let names = try await program.shell(
      "mkdir l && ln -s ../b.sqlite l/x.sqlite && cp b.sqlite $'a\\xe4.sqlite' && for f in b a$'\\xe4'; do printf x >$f.sqlite-wal; done"
    )
    #expect(names.status == 0, "\(names.errors)")
    for name in ["l/x.sqlite", "a?.sqlite"] {
      let outcome = try await program.shell("glucoport import \(name)")
      #expect(outcome.status == 65 && outcome.errors.contains("-wal"), "\(outcome.output)\(outcome.errors)")
    }
  }

  /// A store can be merged only from a file, since the merge needs its path.
  @Test func aGlucoportStoreInAPipeIsRefusedWithAdvice() async throws {
    let program = try Program()
    #expect(try await program.run("import", Self.sample, "--quiet").status == 3)
    let outcome = try await program.shell("cp '\(program.store)' copy.db && glucoport import - <copy.db")
    #expect(outcome.status == 65)
    #expect(
      outcome.errors.contains("this is a glucoport store (an SQLite database), not an export"), "\(outcome)")
    #expect(outcome.errors.contains("glucoport export --store FILE --format ndjson | glucoport import -"))
  }
}
