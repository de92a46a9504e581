// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import TestServers
import Testing

/// Tests `glucoport verify` with a real store and a real server.
@Suite(.timeLimit(.minutes(10))) struct VerifyCommandTests {
  /// Starts a server with the data of a store, stops it, runs `damage` on its data, and starts it again.
  /// `before` and `after` are the commands before and after the damage.
  private func script(
    _ before: String, damage: String = "true", _ after: String, _ program: Program? = nil
  ) async throws -> Program.Outcome {
    let program = try program ?? Program()
    return try await program.shell(
      ServerScript.clients + """
        verify() { local name=$1; shift; of "$name" verify "$@" 2>>errors; echo "$name $?"; }
        hand() { sqlite3 "$1" "PRAGMA foreign_keys = OFF; $2"; }
        serve; connect a
        \(before)
        stop >/dev/null; book=$(ls served/logbooks/*.db)
        \(damage)
        listen=127.0.0.1:0; serve; of a remote set "$url" --token-file a.token >/dev/null
        \(after)
        stop >/dev/null; cat errors 1>&2
        """)
  }

  private static let triggers =
    "DROP TRIGGER reading_stays; DROP TRIGGER record_stays; DROP TRIGGER record_change_moves_it; DROP TRIGGER record_moves_to_the_end;"

  @Test func verifyReportsAndRestoresRowsDeletedOnTheServer() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3000), to: "all.csv")
    let outcome = try await script(
      """
      of a import all.csv --quiet; of a record add note gone --at 2026-03-01T08:00 --quiet
      of a record add note changedthere --at 2026-03-02T08:00 --quiet; upload a --quiet; verify a
      """,
      damage: """
        hand $book "\(Self.triggers) DELETE FROM reading WHERE seq IN (6, 1501, 3001);
        DELETE FROM record WHERE state LIKE '%gone%'; UPDATE record SET state = replace(state, 'changedthere', 'secret')"
        """,
      """
      verify a; verify a --json --quiet; verify a --fix; pending a; verify a --quiet; upload a --quiet; verify a
      of a record list | grep -c secret; sqlite3 $book 'SELECT count(*) FROM reading; SELECT count(*) FROM record'
      """, program)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 29, "\(outcome)")
    #expect(Array(lines[0...2]) == ["a 0", "no differences", "a 0"])
    let times = [4, 1499, 2999].map { GeneratedExport.time($0).replacing("T", with: " ") }
    #expect(
      lines[3...5].map { String($0.prefix(42)) } == times.map { "missing on the remote: \($0)" }, "\(outcome)"
    )
    #expect(lines[6].hasPrefix("missing on the remote: 2026-03-01 08:00:00  note  "))
    #expect(lines[7].hasPrefix("different on the remote: 2026-03-02 08:00:00  note  "))
    #expect(
      lines[8] == "missing on the remote 3 readings, 1 record · different on the remote 0 readings, 1 record")
    #expect(lines[9] == "a 3" && lines[11] == "a 3")
    #expect(!lines[3...10].joined().contains("secret") && !lines[3...10].joined().contains("changedthere"))
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(lines[10].utf8)) as? [String: any Sendable])
    #expect(object["outcome"] as? String == "different" && object["missing_there_readings"] as? Int == 3)
    #expect(object["missing_there_records"] as? Int == 1 && object["different_records"] as? Int == 1)
    let differences = try #require(object["differences"] as? [[String: any Sendable]])
    #expect(
      differences.map { $0["difference"] as? String } == [
        "missing-there", "missing-there", "missing-there", "missing-there", "different",
      ])
    #expect(differences[0]["device_time"] as? String == GeneratedExport.time(4))
    #expect(differences[4]["guid"] as? String == lines[7].split(separator: " ").last.map(String.init))
    #expect(
      Array(lines[18...22]) == [
        "downloaded 0 readings, 1 record",
        "queued again 3 readings, 1 record; 'glucoport upload' sends them", "a 0",
        "pending: 3 readings, 1 record; nothing was sent or changed", "a 0",
      ], "\(outcome.output)")
    #expect(Array(lines[23...]) == ["a 0", "no differences", "a 0", "1", "3000", "3"], "\(outcome.output)")
    #expect(outcome.errors == "")
  }

  @Test func verifyWithoutTheFixOptionWritesNothing() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 50), to: "all.csv")
    let outcome = try await script(
      "of a import all.csv --quiet; upload a --quiet",
      damage: "hand $book \"\(Self.triggers) DELETE FROM reading WHERE seq = 5\"",
      """
      upload a --quiet
      sqlite3 a.db .dump | sha256sum >before; sqlite3 $book .dump | sha256sum >>before
      verify a --quiet
      sqlite3 a.db .dump | sha256sum >after; sqlite3 $book .dump | sha256sum >>after; cmp before after && echo same
      """, program)
    #expect(outcome.output.hasPrefix("a 0\na 0\nmissing on the remote: "), "\(outcome)")
    #expect(outcome.output.hasSuffix("a 3\nsame\n"), "\(outcome)")
  }

  @Test func verifyRefusesToRunDuringAnUpload() async throws {
    let outcome = try await script(
      "row a 07:10 123; upload a --quiet",
      "exec 9>a.db-upload; flock 9; verify a; verify a --fix; flock -u 9; verify a --quiet")
    #expect(outcome.output == "a 0\na 75\na 75\na 0\n", "\(outcome)")
  }

  @Test func verifyWithoutARemoteOrUploadStatesWhatIsMissing() async throws {
    let outcome = try await script(
      "row a 07:10 123; row c 07:10 123; verify a; verify c; verify nobody", "true")
    #expect(outcome.output == "a 75\nc 78\nnobody 66\n", "\(outcome)")
    #expect(outcome.errors.contains("no upload has run yet") && outcome.errors.contains("remote set"))
  }

  @Test func verifyWithAnUnreachableServerChangesNothing() async throws {
    let program = try Program()
    _ = try await script("row a 07:10 123; upload a --quiet", "true", program)
    let before = try FolderListing(program.folder)
    for arguments in [["verify"], ["verify", "--fix"]] {
      let outcome = try await program.run(arguments: arguments + ["--store", program.path("a.db")])
      #expect(outcome.status == 69 && outcome.output.isEmpty, "\(outcome)")
      #expect(try FolderListing(program.folder) == before)
    }
  }

  @Test func purgeRefusesANightscoutSiteWithoutSendingARequest() async throws {
    let program = try Program()
    let token = try program.write("name-0123456789abcdef\n", to: "token")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token)
    #expect(try await program.run("import", "-", input: GeneratedExport.csv(rows: 3)).status == 0)
    let server = try ScriptedServer { _ in .status(500) }
    try StoreFile(program.store).execute(
      """
      INSERT INTO remote (id, node, run, run_id, kind, url, token_file, logbook, logbook_name)
      VALUES (1, 'n', 1, 'r', 'nightscout', '\(server.url)', '\(token)', 'site', 'site')
      """)
    let before = try FolderListing(program.folder)
    let outcome = try await program.run("remote", "purge", "--confirm", "site")
    #expect(outcome.status == 78 && outcome.errors.contains("this kind of server"), "\(outcome)")
    #expect(server.connectionCount == 0)
    #expect(try FolderListing(program.folder) == before)
  }
}
