// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Stores of every version whose files are kept, as a released program of that version wrote them.
@Suite(.timeLimit(.minutes(10))) struct ReleasedStoreTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/stores").path

  /// The names without an end, such as `13`.
  private static var names: [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
    return (files ?? []).filter { $0.hasSuffix(".db.gz") }.map { String($0.dropLast(6)) }.sorted()
  }

  /// What the views show, which are stable.
  private static let views = """
    SELECT kind, time, device_time, value, unit, marks, withdrawn, vendor, serial FROM readings ORDER BY 1, 2, 4;
    SELECT kind, time, subtype, fields, withdrawn, deleted FROM records ORDER BY 1, 2, 4
    """

  @Test func thereIsOneOfEachKeptVersion() { #expect(Self.names == ["13"]) }

  @Test(arguments: names)
  func aStoreOfAnEarlierVersionIsOpenedAndShowsTheSame(_ name: String) async throws {
    let program = try Program()
    let expected = try String(contentsOfFile: Self.folder + "/\(name).txt", encoding: .utf8)
    let outcome = try await program.shell(
      """
      gunzip -c '\(Self.folder)/\(name).db.gz' >logbook.db && chmod 600 logbook.db && export GLUCOPORT_STORE=$PWD/logbook.db
      glucoport status --json >/dev/null && sqlite3 logbook.db "\(Self.views)"
      """)
    #expect(outcome.status == 0 && outcome.output == expected, "\(outcome.errors)")
    let work = try await program.shell(
      """
      export GLUCOPORT_STORE=$PWD/logbook.db
      printf 'time,glucose (mg/dL)\n2026-09-01T08:00:00Z,100\n' | glucoport import - --kind smbg --quiet; echo $?
      glucoport add 45g --quiet; echo $?; glucoport undo --yes --quiet; echo $?; glucoport undo 1 --quiet; echo $?
      glucoport redo 1 --quiet; echo $?; glucoport doctor --deep >/dev/null; echo $?
      """)
    #expect(
      work.output.split(separator: "\n").prefix(5).joined(separator: " ") == "0 0 0 0 0",
      "\(work.output)\(work.errors)")
    let again = try await program.shell("sqlite3 logbook.db \"\(Self.views)\" | grep -c smbg")
    #expect(again.status == 0)
  }

  /// A step that leaves something out, or a released schema that was edited, would only show when a command needs it.
  @Test(arguments: names)
  func aStoreOfAReleasedVersionHasTheSchemaOfAStoreOfThisProgram(_ name: String) async throws {
    let program = try Program()
    let schema = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"
    let outcome = try await program.shell(
      """
      gunzip -c '\(Self.folder)/\(name).db.gz' >old.db && chmod 600 old.db
      sqlite3 old.db 'PRAGMA user_version'
      glucoport status --store old.db >/dev/null && glucoport add 45g --quiet --store created.db
      sqlite3 old.db "\(schema)" >old && sqlite3 created.db "\(schema)" >created
      diff old created >&2 && wc -l <created
      """)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.hasPrefix("\(name)\n"))
  }
}
