// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import TestProgram
import Testing

/// Tests a running server with a damaged file of one logbook. Only the requests for this logbook may fail.
@Suite(.timeLimit(.minutes(10))) struct DamagedServerFileTests {
  /// Damages the file `$book` with bash and SQLite. The rules of the schema do not prevent it.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: String

    /// Removes the triggers, NOT NULL and STRICT from the schema, and ignores its checks. So the rows can
    /// become as a damaged disk may leave them.
    static func rows(_ name: String, _ sql: String) -> Damage {
      Damage(
        testDescription: name,
        script: """
          sqlite3 -cmd 'PRAGMA foreign_keys = OFF' $book "
            PRAGMA writable_schema = ON;
            DELETE FROM sqlite_schema WHERE type = 'trigger';
            UPDATE sqlite_schema SET sql = replace(replace(sql, ' NOT NULL', ''), 'STRICT', '') WHERE type = 'table'
              AND sql NOT LIKE '%WITHOUT ROWID%';
            PRAGMA writable_schema = RESET;"
          sqlite3 -cmd 'PRAGMA ignore_check_constraints = ON' $book "\(sql)"
          """)
    }
  }

  private static let damages: [Damage] =
    [
      "unit", "value", "marks", "offset_source", "utc_offset", "range_flag",
    ].map { .rows("a reading without its \($0)", "UPDATE reading SET \($0) = NULL") } + [
      .rows("readings without their series", "UPDATE reading SET series = NULL"),
      .rows(
        "devices without anything",
        "UPDATE device SET vendor = NULL, model = NULL, serial = NULL, format = NULL"),
      .rows("series of no kind", "UPDATE series SET kind = NULL, position_kind = NULL, device = NULL"),
      .rows(
        "text in place of numbers",
        "UPDATE reading SET unit = 'SECRET', marks = 'SECRET', value = 'SECRET'"),
      .rows(
        "a number at the end of all numbers", "UPDATE reading SET seq = 9223372036854775807 WHERE seq = 3"),
      Damage(
        testDescription: "a record whose state is cut",
        script: """
          sqlite3 $book "DROP TRIGGER record_change_moves_it; DROP TRIGGER record_moves_to_the_end;
            PRAGMA ignore_check_constraints = ON; UPDATE record SET state = '{\"kind\":\"note\",\"deleted\":tr'"
          """),
      Damage(
        testDescription: "flipped bytes in every page",
        script: """
          size=$(stat -c %s $book); page=$((16 << 10))
          for ((at = page + 9; at < size; at += 1021)); do printf '\\377\\000\\201' | dd of=$book bs=1 seek=$at conv=notrunc; done 2>/dev/null
          """),
      Damage(
        testDescription: "a header of zeros",
        script: "dd if=/dev/zero of=$book bs=1 count=80 conv=notrunc 2>/dev/null"),
      Damage(testDescription: "a file that ends early", script: "truncate -s 40000 $book"),
      Damage(testDescription: "no database", script: "echo SECRETNONSENSE >$book"),
      Damage(testDescription: "a folder", script: "rm $book; mkdir $book"),
    ]

  /// Shell functions that store readings and a record in a logbook and read everything from it. The test
  /// damages the file of the logbook anna while the server is stopped.
  private static let script =
    ServerScript.prelude + """
      uuid() { cat /proc/sys/kernel/random/uuid; }
      ask() {
        curl -sS -o body -w '%{http_code} ' -H "Authorization: Bearer $1" -H "Glucoport-Node: $node" -H "Glucoport-Run: 1 $run" \
          -H 'Content-Type: application/json' "${@:2}"
      }
      rows() {
        seq -f @%.0f 1700000060 60 1700024000 |
          date -u -f - '+[%s,69,0,"%Y-%m-%dT%H:%M:%S","Z","stated",123.5,"mg/dL"]' | paste -s -d ,
      }
      fill() {
        node=$(uuid) run=$(uuid)
        printf '{"series":[{"device":{"vendor":"v","serial":"SECRETSERIAL"},"kind":"smbg","position_kind":"time","readings":[%s]}]}' \
          "$(rows)" >readings.json
        ask $1 -d @readings.json "$url/v1/readings"
        state='{"kind":"note","entry_guid":null,"device_time":"2026-03-01T08:00:00","utc_offset":"Z","offset_source":"stated","fields":{"text":"SECRETNOTE"},"deleted":false,"edited_at":null}'
        printf '{"records":[{"guid":"%s","node":"%s","version":1,"base":null,"digest":"%s","state":%s}]}' "$(uuid)" $node \
          "$(printf %s "$state" | sha256sum | cut -c 1-64)" "$state" >records.json
        ask $1 -d @records.json "$url/v1/records"
      }
      # All that a login can ask for; the number of answers by status.
      all() {
        node=$(uuid) run=$(uuid)
        { ask $1 "$url/v1/changes"; ask $1 "$url/v1/digests"; ask $1 "$url/v1/digests?of=records"
          ask $1 "$url/v1/logbook"; ask $1 -d @readings.json "$url/v1/readings"; } | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' '
      }

      """

  @Test(arguments: Seeds.share(of: damages, every: 3))
  func aDamagedFileOfOneLogbookDoesNotAffectOthers(_ damage: Damage) async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.script + """
        anna=$(token a write anna); berta=$(token b write berta); serve
        fill $anna >filled; book=$(ls served/logbooks/*.db); fill $berta >>filled; cat filled; echo
        all $berta; echo; stop >/dev/null
        sqlite3 $book 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
        \(damage.script)
        : >log; serve; pid=$server
        all $anna >anna; all $berta; echo; all $anna >>anna; all $berta; echo
        grep -q ' 500 ' anna && echo failed; curl -sS -o body -w '%{http_code}\n' "$url/healthz"
        [ -d /proc/$pid ] && echo alive; stop
        name=$(basename $book .db); grep 'storage failed' log | grep -c -v $name
        grep -c 'storage failed' log | sed 's/^[1-9][0-9]*$/named/'
        """, within: .seconds(120))
    let lines = outcome.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(
      lines == [
        "200 200 200 200", "5 200", "5 200", "5 200", "failed", "200", "alive", "ended with 0", "0", "named",
      ], "\(outcome)")
    let log = try String(contentsOfFile: program.path("log"), encoding: .utf8)
    for secret in ["SECRET", "123.5", "1700000", "2026-03-01", "value_bucket", "\"text\""] {
      #expect(!log.contains(secret), "\(secret): \(log)")
    }
  }
}
