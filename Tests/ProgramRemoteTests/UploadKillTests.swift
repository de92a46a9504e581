// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests uploads and servers that are killed while people edit records and import readings.
///
/// `GLUCOPORT_KILLS` sets the number of killed uploads, and `GLUCOPORT_KILL_SEED` sets the seed for their
/// random times.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UploadKillTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let kills = environment["GLUCOPORT_KILLS"].flatMap { Int($0) } ?? 100
  private static let seed = environment["GLUCOPORT_KILL_SEED"].flatMap { Int($0) } ?? 20_261_121

  /// `edit` adds and edits notes, and edits one field of a record that both stores have. It writes all
  /// acknowledged edits to files. `bring` imports rows and writes their number to a file.
  private static let actors = """
    edit() {
      local name=$1 field=$2 number=0 id
      while [ ! -e done ]; do
        number=$((number + 1))
        id=$(of "$name" record add note "first $number of $name" --json | sed 's/.*"guid":"\\([^"]*\\)".*/\\1/')
        [ -n "$id" ] && echo "$id first $number of $name" >>"told-$name" || echo "$name cannot add" >>failed
        of "$name" record edit "$id" "second $number of $name" --quiet &&
          echo "$id second $number of $name" >>"told-$name" || echo "$name cannot edit" >>failed
        of "$name" record edit "$shared" $field "$number" --quiet && echo $number >"last-$name" ||
          echo "$name cannot edit both" >>failed
      done
    }
    bring() {
      local part=0
      while [ ! -e done ]; do
        awk -v part=$part 'BEGIN {
          print "time,glucose (mg/dL)"
          for (row = part * 100; row < part * 100 + 100; row++) print 1700000000 + row * 300 "," 60 + row % 200
        }' >part.csv
        of a import part.csv --quiet && part=$((part + 1)) || echo "cannot import" >>failed
        echo $((part * 100)) >brought
      done
    }
    # killed NAME: an upload that a signal ends within `span` milliseconds, unless it is done before.
    killed() {
      GLUCOPORT_STORE=$1.db glucoport upload --now --quiet 2>>uploads & local pid=$!
      sleep 0.$(printf %03d $((RANDOM % span)))
      kill -KILL $pid 2>/dev/null; wait $pid 2>/dev/null
      [ $? -eq 137 ] && struck=$((struck + 1))
    }

    """

  /// Repeats uploads until both stores have everything. After a lost answer or a retry delay, another upload
  /// is necessary.
  private static let settling = """
    settle() {
      for _ in 1 2 3 4 5; do
        for name in a b; do of $name upload --now --quiet 2>>uploads; echo "$name $?"; done >ends
        grep -qv ' 0$' ends || break
      done
      cat ends
    }

    """

  @Test func uploadsAndServersKilledAtAnyMomentLoseNothing() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.clients + Self.actors + Self.settling + """
        RANDOM=\(Self.seed % 32768); struck=0
        serve --quiet; connect a; connect b
        shared=$(of a record add insulin 1 --note 0 --json | sed 's/.*"guid":"\\([^"]*\\)".*/\\1/')
        of a upload --quiet; start=${EPOCHREALTIME/[.,]/}; of b upload --quiet
        # Twice as long as an upload takes here, so that about every second one is killed.
        span=$(((${EPOCHREALTIME/[.,]/} - start) / 500 + 1)); [ $span -gt 999 ] && span=999
        edit a --note & first=$!; edit b '' & second=$!; bring & third=$!
        for round in $(seq \(Self.kills)); do
          if [ $((RANDOM % 2)) = 0 ]; then killed a; else killed b; fi
          if [ $((RANDOM % 10)) = 0 ]; then crash; again --quiet; fi
        done
        touch done; wait $first $second $third
        settle; settle; connect c; upload c --quiet
        same a b; same a c; echo "$struck"; cat brought
        of c record show $shared --json | sed 's/.*"fields":{\\([^}]*\\)}.*/\\1/'; cat last-a last-b
        for name in a b c; do sqlite3 $name.db 'PRAGMA integrity_check'; done
        of c record list --format ndjson >listed; cat failed uploads 1>&2; stop
        """, within: .seconds(280))
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 16, "seed \(Self.seed): \(outcome)")
    #expect(
      lines[0..<7] == ["a 0", "b 0", "a 0", "b 0", "c 0", "same", "same"], "seed \(Self.seed): \(outcome)")
    #expect(
      Int(lines[7]).map { $0 * 4 >= Self.kills } == true, "too few were killed in mid-work: \(lines[7])")
    #expect(try StoreFile(program.path("c.db")).count("reading") == Int(lines[8]))
    #expect(lines[9] == "\"text\":\"\(lines[10])\",\"units\":\(lines[11])", "seed \(Self.seed)")
    #expect(lines[12..<16] == ["ok", "ok", "ok", "ended with 0"], "seed \(Self.seed)")
    try expectReported(program)
  }

  /// Checks that the third store has every edit that a command has acknowledged, in its last version.
  private func expectReported(_ program: Program) throws {
    var told: [String: String] = [:]
    for name in ["told-a", "told-b"] {
      for line in try String(contentsOfFile: program.path(name), encoding: .utf8).split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        told[String(parts[0])] = String(parts[1])
      }
    }
    let listed = try String(contentsOfFile: program.path("listed"), encoding: .utf8)
    var lines: [String: Substring] = [:]
    for line in listed.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable]
      if let guid = object?["guid"] as? String { lines[guid] = line }
    }
    #expect(told.count > 4)
    for (guid, text) in told {
      #expect(lines[guid]?.contains("\"\(text)\"") == true, "seed \(Self.seed): \(guid) \(text)")
    }
    #expect(!FileManager.default.fileExists(atPath: program.path("failed")))
  }
}
