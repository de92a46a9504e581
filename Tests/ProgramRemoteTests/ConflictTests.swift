// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport conflict` as a person calls it. A record was edited both in the store and on the remote.
@Suite(.timeLimit(.minutes(10)))
struct ConflictTests {
  private static let theirs = #"{"carbs":40,"text":"soup"}"#

  private static func state(_ fields: String, isDeleted: Bool = false, editedAt: String) -> String {
    """
    {"kind":"food","entry_guid":null,"device_time":"2026-05-06T18:30:00","utc_offset":"+02:00",\
    "offset_source":"stated","fields":\(fields),"deleted":\(isDeleted),"edited_at":\(editedAt)}
    """
  }

  /// Makes a store with a conflict. The last synced version has 30 g, the version of this store has 45 g, and
  /// `theirs` is the version of the remote.
  private func conflicted(
    theirs: String = state(Self.theirs, editedAt: "\"2000-01-01T00:00:00Z\"")
  ) async throws -> (program: Program, id: String) {
    let program = try Program()
    let added = try await program.run(
      "record", "add", "food", "30", "g", "--at", "2026-05-06T18:30:00+02:00", "--json")
    let id = try #require(try added.objects().first?["guid"] as? String)
    let base = Self.state(#"{"carbs":30}"#, editedAt: "null")
    let store = try StoreFile(program.store)
    try store.execute("UPDATE record SET version_synced = 1, revision = 'r1', base = '\(base)'")
    #expect(try await program.run("record", "edit", id, "45").status == 0)
    try store.execute("UPDATE record SET conflict = '\(theirs)', conflict_revision = 'r2'")
    return (program, id)
  }

  private func show(_ program: Program, _ id: String) async throws -> [String: any Sendable] {
    try #require(try await program.run("show", id, "--json").objects().first)
  }

  @Test func aSyncConflictIsListedWithItsDifferences() async throws {
    let (program, id) = try await conflicted()
    let table = try await program.run("conflict", "list")
    #expect(
      table.output == "2026-05-06 18:30:00  food       \(id.prefix(8))  carbs, text\n", "\(table.errors)")
    let object = try #require(try await program.run("conflict", "list", "--json").objects().first)
    #expect(object["guid"] as? String == id && object["kind"] as? String == "food")
    #expect(object["time"] as? String == "2026-05-06T16:30:00Z" && object["cause"] as? String == "edited")
    #expect(object["differs"] as? [String] == ["carbs", "text"])
  }

  @Test func aSyncConflictIsShownFieldByField() async throws {
    let (program, id) = try await conflicted()
    let outcome = try await program.run("conflict", "show", String(id.prefix(8)))
    let parts = outcome.output.split(separator: "\n").dropFirst(3).joined(separator: "\n")
    #expect(
      parts == """
        carbs
          base    30
          mine    45
          theirs  40
        text
          base    none
          mine    none
          theirs  soup
        """, "\(outcome.errors)")
    #expect(outcome.output.contains("theirs 2000-01-01T00:00:00Z"))
    let object = try #require(try await program.run("conflict", "show", id, "--json").objects().first)
    let sides = ["base", "mine", "theirs"].map {
      ((object[$0] as? NSDictionary)?["fields"] as? NSDictionary)?["carbs"] as? Int
    }
    #expect(sides == [30, 45, 40])
  }

  @Test(arguments: [("mine", 45), ("theirs", 40), ("newer", 45), ("both", 45)])
  func resolvingAConflictQueuesTheChosenSideAsAnEdit(_ side: String, _ carbs: Int) async throws {
    let (program, id) = try await conflicted()
    let outcome = try await program.run("conflict", "resolve", id, "--keep", side)
    #expect(outcome.status == 0 && outcome.output.hasPrefix("resolved: "), "\(outcome)")
    let record = try await show(program, id)
    #expect((record["fields"] as? NSDictionary)?["carbs"] as? Int == carbs)
    #expect(record["version"] as? Int == 3 && record["state"] as? String == "queued")
    #expect(try await program.run("conflict", "list").output == "")
    #expect(try StoreFile(program.store).count("record") == (side == "both" ? 2 : 1))
    let again = try await program.run("conflict", "resolve", id, "--keep", side)
    #expect(again.status == 66 && again.errors.contains("not in conflict"), "\(again)")
  }

  @Test func aConflictResolvedWithBothSidesIsReportedAsTwoJSONObjects() async throws {
    let (program, id) = try await conflicted()
    let objects = try await program.run("conflict", "resolve", id, "--keep", "both", "--json").objects()
    #expect(objects.count == 2 && objects.first?["guid"] as? String == id)
    #expect(objects.last?["fields"] as? NSDictionary == ["carbs": 40, "text": "soup"])
  }

  @Test func invalidConflictResolutionsAreRefusedAndChangeNothing() async throws {
    let tombstone = Self.state("{}", isDeleted: true, editedAt: "null")
    let (program, id) = try await conflicted(theirs: tombstone)
    let before = try await show(program, id)
    for arguments in [
      ["--keep", "both"], ["--keep", "newer"], [], ["--keep", "mine", "--edit"], ["--keep", "yours"],
      ["--edit"], ["--keep", "mine", "--json", "--quiet"],
    ] {
      let outcome = try await program.run(arguments: ["conflict", "resolve", id] + arguments)
      #expect(outcome.status == 64 && outcome.output == "", "\(arguments): \(outcome)")
    }
    let newer = try await program.run("conflict", "resolve", id, "--keep", "newer")
    #expect(newer.errors.contains("it is unknown when the side 'theirs' was edited"), "\(newer.errors)")
    let edit = try await program.run("conflict", "resolve", id, "--edit")
    #expect(edit.errors.contains("terminal"), "\(edit.errors)")
    #expect(NSDictionary(dictionary: try await show(program, id)) == NSDictionary(dictionary: before))
    #expect(before["state"] as? String == "queued" && before["reason"] as? String == "conflict")
    for command in [["show", "abcdef"], ["resolve", "abcdef", "--keep", "mine"]] {
      #expect(try await program.run(arguments: ["conflict"] + command).status == 66)
    }
    #expect(try await program.run("conflict", "resolve", id, "--keep", "theirs", "--quiet").output == "")
    #expect(try await show(program, id)["deleted"] as? Bool == true)
  }

  // MARK: - With an editor

  /// Resolves a conflict with an editor, as on a terminal. The editor is a shell script that gets the file as
  /// its only argument.
  private func edit(_ program: Program, _ id: String, with script: String) async throws -> Program.Outcome {
    try program.write("#!/bin/sh\n" + script + "\n", to: "my editor")
    return try await program.shell(
      """
      chmod +x 'my editor'; unset VISUAL; export EDITOR="'$HOME/my editor'"
      script -qec 'glucoport conflict resolve \(id) --edit' /dev/null </dev/null
      """)
  }

  @Test func aConflictIsResolvedWithTheContentFromTheEditor() async throws {
    let (program, id) = try await conflicted()
    let outcome = try await edit(
      program, id,
      with:
        #"cp "$1" seen; stat -c %a "$1" >mode; sed -i 's/"carbs": *45$/"carbs": 42/' "$1""#
    )
    #expect(outcome.status == 0 && outcome.output.contains("resolved: "), "\(outcome)")
    #expect(try await show(program, id)["fields"] as? NSDictionary == ["carbs": 42])
    let seen = try String(contentsOfFile: program.path("seen"), encoding: .utf8)
    #expect(
      seen.contains("\"theirs\": \(Self.theirs)") && seen.contains("\"mine\": {\"carbs\":45}"), "\(seen)")
    #expect(try String(contentsOfFile: program.path("mode"), encoding: .utf8) == "600\n")
    let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
    #expect(!left.contains { $0.hasSuffix("conflict.json") })
  }

  @Test(arguments: [
    (":", 4, "was not changed"), (": >\"$1\"", 4, "was not changed"),
    ("echo '{\"fields\":{\"carbs\":' >\"$1\"", 65, "is not valid"),
    ("echo '{}' >\"$1\"", 64, "the record would be empty"),
    ("echo '{\"fields\":{}}' >\"$1\"", 64, "the record would be empty"), ("exit 3", 74, "failed"),
  ])
  func anInvalidEditDoesNotResolveAConflict(
    _ script: String, _ status: Int, _ words: String
  ) async throws {
    let (program, id) = try await conflicted()
    let outcome = try await edit(program, id, with: script)
    #expect(outcome.status == Int32(status) && outcome.output.contains(words), "\(outcome)")
    let record = try await show(program, id)
    #expect(record["reason"] as? String == "conflict" && record["version"] as? Int == 2)
  }

  @Test func aMissingEditorForAConflictIsReported() async throws {
    let (program, id) = try await conflicted()
    let outcome = try await program.shell(
      "unset VISUAL EDITOR; script -qec 'glucoport conflict resolve \(id) --edit' /dev/null </dev/null")
    #expect(outcome.status == 64 && outcome.output.contains("VISUAL or EDITOR"), "\(outcome)")
  }

  // MARK: - Pending and refused items

  @Test func conflictsAndRefusalsAreReportedSeparatelyFromPendingItems() async throws {
    let (program, id) = try await conflicted()
    let list = try await program.run("record", "list")
    #expect(list.output.hasSuffix("  (queued: conflict)\n"), "\(list.output)")
    let check = try await program.run("status", "--check")
    #expect(check.status == 4 && check.output.contains("1 record, 0 pending, 1 in conflict\n"), "\(check)")
    #expect(try await program.run("status").status == 0)
    let status = try #require(try await program.run("status", "--json").objects().first)
    #expect([status["pending"], status["conflicts"], status["refused"]].map { $0 as? Int } == [0, 1, 0])

    #expect(try await program.run("conflict", "resolve", id, "--keep", "mine", "--quiet").status == 0)
    try StoreFile(program.store).execute("UPDATE record SET quarantine = 'too odd', quarantined_version = 3")
    let refused = try await program.run("status", "--check", "--quiet")
    #expect(refused.status == 3 && refused.output == "" && refused.errors.contains("--retry-refused"))
    #expect(try await program.run("status").output.contains("1 record, 0 pending, 1 refused\n"))
    let shown = try await show(program, id)
    #expect(shown["reason"] as? String == "refused" && shown["refused"] as? String == "too odd")
    #expect(try await program.run("show", id).output.contains("refused        too odd\n"))
    #expect(try await program.run("record", "list").output.hasSuffix("  (queued: refused)\n"))
    let pending = try await program.run("upload", "--dry-run", "--json")
    #expect(try pending.objects().first?["pending_records"] as? Int == 0)
  }

  @Test func itemsThatArePendingForTooLongAreReported() async throws {
    let program = try Program()
    #expect(try await program.run("record", "add", "note", "x").status == 0)
    #expect(try await program.run("status", "--check").status == 0)
    #expect(try await program.run("status", "--check", "--max-age", "36h").status == 0)
    let store = try StoreFile(program.store)
    try store.execute("UPDATE queued SET queued_at = queued_at - 40 * 3600")
    let never = try await program.run("status", "--check", "--max-age", "36h", "--quiet")
    #expect(never.status == 75 && never.output == "", "\(never)")
    #expect(never.errors.contains("1 item is pending, the oldest since 20"), "\(never)")
    try store.execute("UPDATE queued SET queued_at = queued_at + 40 * 3600")
    let now = Int(Date().timeIntervalSince1970)
    try store.execute(
      """
      INSERT INTO remote (id, kind, url, token_file, logbook, logbook_name, node, last_success)
      VALUES (1, 'glucoport', 'http://localhost:1', '/t', 'l', 'n', 'x', \(now - 3600))
      """)
    #expect(try await program.run("record", "list").output.hasSuffix("  (queued)\n"))
    #expect(try await program.run("status", "--check", "--max-age", "2h").status == 0)
    let late = try await program.run("status", "--check", "--max-age", "30m")
    #expect(late.status == 75 && late.errors.contains("no upload succeeded since 20"), "\(late)")
    try store.execute("UPDATE record SET version_synced = version")
    #expect(try await program.run("status", "--check", "--max-age", "2h").status == 0)
    #expect(!(try await program.run("record", "list").output.contains("(")))
    for wrong in [["--max-age", "1h"], ["--quiet"], ["--check", "--json", "--quiet"]] {
      #expect(try await program.run(arguments: ["status"] + wrong).status == 64, "\(wrong)")
    }
  }

  // MARK: - Two stores and a server

  @Test func aConflictOfTwoStoresIsResolvedInOneAndSentToTheOther() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      set -u; umask 077
      glucoport serve --data data --listen 127.0.0.1:0 >out 2>>log & server=$!
      trap 'kill -TERM $server; wait $server' EXIT
      for _ in $(seq 1200); do grep -qs listening out && break; kill -0 $server || break; sleep 0.05; done
      url=$(sed 's/listening on //' out)
      glucoport serve token add a --role write --logbook anna --data data >token
      both() { for store in a b; do glucoport "$@" --store $store.db; done; }
      id=$(glucoport record add food 30 g --store a.db --json | sed 's/.*"guid":"//; s/".*//')
      glucoport record add note x --store b.db --quiet
      both remote set "$url" --token-file token >remotes
      both upload --quiet; both upload --quiet
      glucoport record edit $id 45 --store a.db --quiet
      glucoport record edit $id 40 --store b.db --quiet
      glucoport upload --store a.db --quiet; echo "a $?"
      glucoport upload --store b.db --quiet 2>>log; echo "b $?"
      glucoport conflict list --store b.db | cut -c 33-
      glucoport conflict resolve $id --keep both --store b.db --quiet; echo "resolved $?"
      glucoport upload --store b.db --retry-refused --quiet; echo "b $?"
      glucoport upload --store a.db --quiet; echo "a $?"
      both export --format csv | sort >all; sort -u all >once
      echo "$(wc -l <all) $(wc -l <once)"
      glucoport record list --kind food --store a.db | grep -c '40 g\\|45 g'
      """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 8, "\(outcome)")
    #expect(lines[0] == "a 0" && lines[1] == "b 4")
    #expect(lines[2].hasSuffix("  carbs"), "\(outcome)")
    #expect(Array(lines[3...5]) == ["resolved 0", "b 0", "a 0"], "\(outcome)")
    #expect(
      lines[6] == "10 5" && lines[7] == "2",
      "three records, the zone and the header in each, all the same")
  }

  @Test func itemsThatTheServerRefusedAreSentAgainOnRequest() async throws {
    let program = try Program()
    for wrong in ["--pull-only", "--dry-run"] {
      #expect(try await program.run("upload", "--retry-refused", wrong).status == 64)
    }
    let start = try await program.shell(
      """
      umask 077
      glucoport serve --data data --listen 127.0.0.1:0 >out 2>>log </dev/null & echo $! >pid
      for _ in $(seq 1200); do grep -qs listening out && break; kill -0 $(cat pid) || break; sleep 0.05; done
      glucoport serve token add a --role write --logbook anna --data data >token
      glucoport record add note x --quiet
      glucoport remote set "$(sed 's/listening on //' out)" --token-file token >remote
      """)
    #expect(start.status == 0, "\(start)")
    try StoreFile(program.store).execute("UPDATE record SET quarantine = 'too odd', quarantined_version = 1")
    let plain = try await program.run("upload", "--json")
    let retried = try await program.run("upload", "--retry-refused", "--json")
    let stop = try await program.shell("kill -TERM $(cat pid)")
    #expect(stop.status == 0)
    #expect(try plain.objects().first?["pushed_records"] as? Int == 0, "\(plain)")
    #expect(try retried.objects().first?["pushed_records"] as? Int == 1, "\(retried)")
    #expect(try await program.run("status", "--check").status == 0)
  }
}
