// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the complete output of lists, with every mark that an item can have and without marks.
@Suite(.timeLimit(.minutes(10))) struct MarksTests {
  /// Runs a script with a synced store. The function `waits` adds an item for each pending state, and `moves`
  /// simulates a running upload.
  private func screens(_ script: String) async throws -> Program.Outcome {
    let program = try Program()
    return try await program.shell(
      ServerScript.clients + """
        serve; connect a; export GLUCOPORT_STORE=a.db
        values() { printf 'time,glucose (mg/dL)\\n'; printf '%s:00,%s\\n' "$@"; }
        add() { glucoport record add "$@" --json | sed 's/.*"guid":"//; s/".*//'; }
        masked() { "$@" | sed -E 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/; s/  [0-9a-f]{8}($|  )/  ID\\1/; s/r1[.][^ ]+/ID/'; }
        values 2026-05-05T07:10 99 2026-05-06T07:10 100 | glucoport import - --quiet --timezone Europe/Madrid
        entry=$(add food 30 g --at 2026-05-06T12:00); add note calm --at 2026-05-06T12:30 >/dev/null
        clash=$(add note clash --at 2026-05-06T13:00); odd=$(add note odd --at 2026-05-06T13:30)
        gone=$(add note gone --at 2026-05-06T14:00)
        glucoport upload --quiet
        waits() {
          values 2026-05-06T09:10 102 2026-05-07T07:10 103 | glucoport import - --quiet
          glucoport record add note child --entry $entry --at 2026-05-06T12:05 --quiet
          glucoport record edit $clash --note mine --quiet; glucoport record edit $odd --note bad --quiet
          glucoport record delete $gone --quiet; glucoport record add note fresh --at 2026-05-06T14:30 --quiet
          sqlite3 a.db "UPDATE record SET conflict = base, conflict_revision = 'r2' WHERE guid = '$clash';
            UPDATE record SET quarantine = 'too odd', quarantined_version = version WHERE guid = '$odd';
            INSERT INTO refusal SELECT series, position, value_bucket, occurrence, 'too odd', 1 FROM reading WHERE value = 103"
        }
        moves() {
          exec 9>>a.db-upload; flock 9
          sqlite3 a.db "UPDATE record SET sent = '{}', sent_version = version WHERE fields LIKE '%fresh%';
            INSERT INTO transfer (lane, started_at, items, first_record, last_record)
              SELECT 'records', 1, 1, guid, guid FROM record WHERE sent IS NOT NULL;
            INSERT INTO transfer (lane, started_at, items, first_partition, first_position, last_partition, last_position)
              SELECT 'readings', 1, 1, partition, position, partition, position FROM reading WHERE value = 102"
        }
        \(script)
        stop >/dev/null
        """)
  }

  @Test func syncedItemsAreListedWithoutASyncMark() async throws {
    let outcome = try await screens(
      """
      masked glucoport list; masked glucoport record list; glucoport list --days
      glucoport list --long | grep -c '('
      """)
    #expect(
      outcome.output == """
        2026-05-05 07:10:00  smbg         99 mg/dL\u{20}
        2026-05-06 07:10:00  smbg        100 mg/dL\u{20}
        2026-05-06 12:00:00  food     30 g  ID
        2026-05-06 12:30:00  note     calm  ID
        2026-05-06 13:00:00  note     clash  ID
        2026-05-06 13:30:00  note     odd  ID
        2026-05-06 14:00:00  note     gone  ID
        2026-05-06 12:00:00  food     30 g  ID
        2026-05-06 12:30:00  note     calm  ID
        2026-05-06 13:00:00  note     clash  ID
        2026-05-06 13:30:00  note     odd  ID
        2026-05-06 14:00:00  note     gone  ID
        2026-05-05  1 reading
        2026-05-06  1 reading
        0

        """, "\(outcome)")
  }

  /// Every list marks records. Only lists with `--long` and `--days` mark readings.
  @Test func everySyncStateOfAListedItemHasItsMark() async throws {
    let outcome = try await screens("waits; moves; masked glucoport list; masked glucoport list --long")
    #expect(
      outcome.output == """
        2026-05-05 07:10:00  smbg         99 mg/dL\u{20}
        2026-05-06 07:10:00  smbg        100 mg/dL\u{20}
        2026-05-06 09:10:00  smbg        102 mg/dL\u{20}
        2026-05-06 12:00:00  food     30 g  ID  (queued)
        2026-05-06 12:05:00  note     child  ID  (queued)
        2026-05-06 12:30:00  note     calm  ID
        2026-05-06 13:00:00  note     mine  ID  (queued: conflict)
        2026-05-06 13:30:00  note     bad  ID  (queued: refused)
        2026-05-06 14:30:00  note     fresh  ID  (syncing)
        2026-05-07 07:10:00  smbg        103 mg/dL\u{20}
        2026-05-05 07:10:00  smbg         99 mg/dL   Generic unknown  ID
        2026-05-06 07:10:00  smbg        100 mg/dL   Generic unknown  ID
        2026-05-06 09:10:00  smbg        102 mg/dL   Generic unknown  ID  (syncing)
        2026-05-06 12:00:00  food     30 g  ID  (queued)
        2026-05-06 12:05:00  note     child  ID  (queued)
        2026-05-06 12:30:00  note     calm  ID
        2026-05-06 13:00:00  note     mine  ID  (queued: conflict)
        2026-05-06 13:30:00  note     bad  ID  (queued: refused)
        2026-05-06 14:30:00  note     fresh  ID  (syncing)
        2026-05-07 07:10:00  smbg        103 mg/dL   Generic unknown  ID  (queued: refused)

        """, "\(outcome)")
  }

  @Test func everySyncStateOfARecordOrDayHasItsMark() async throws {
    let outcome = try await screens(
      "waits; masked glucoport record list --deleted; glucoport list --days; moves; glucoport list --days")
    #expect(
      outcome.output == """
        2026-05-06 12:00:00  food     30 g  ID  (queued)
        2026-05-06 12:05:00  note     child  ID  (queued)
        2026-05-06 12:30:00  note     calm  ID
        2026-05-06 13:00:00  note     mine  ID  (queued: conflict)
        2026-05-06 13:30:00  note     bad  ID  (queued: refused)
        2026-05-06 14:00:00  note       ID  (deleted)  (queued)
        2026-05-06 14:30:00  note     fresh  ID  (queued)
        2026-05-05  1 reading
        2026-05-06  2 readings  (queued, 1 of them)
        2026-05-07  1 reading  (queued: refused, 1 of them)
        2026-05-05  1 reading
        2026-05-06  2 readings  (syncing, 1 of them)
        2026-05-07  1 reading  (queued: refused, 1 of them)

        """, "\(outcome)")
  }
}
