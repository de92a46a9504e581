// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Tests what happens if a person connects a store to a server whose logbook has another time zone.
@Suite(.timeLimit(.minutes(5)))
struct ZoneJoinCommandTests {
  /// Runs a script with a server that has a logbook in Madrid's zone. Store b has the zone Tokyo, which a
  /// person set.
  private func run(_ script: String) async throws -> Program.Outcome {
    let program = try Program()
    return try await program.shell(
      ServerScript.clients + """
        serve; trap 'kill -TERM $server 2>/dev/null; wait $server' EXIT
        export GLUCOPORT_TIMEZONE=Europe/Madrid
        connect a; row a 07:10 100; upload a --quiet
        export GLUCOPORT_TIMEZONE=Asia/Tokyo
        row b 08:10 101; login b
        zone() { of b config timezone; }
        set_b() { of b remote set "$url" --token-file b.token "$@" >shown 2>>errors; echo "set $?"; }
        \(script)
        """)
  }

  @Test func withTwoTimeZonesSetByPeopleARemoteNeedsAChoice() async throws {
    let outcome = try await run(
      """
      set_b; grep -c -- '--zone mine' errors; zone; of b remote show 2>/dev/null; echo "show $?"
      set_b --zone theirs; zone; upload b --quiet; same a b; upload a --quiet; same a b
      """)
    #expect(
      outcome.output == """
        a 0
        set 78
        1
        timezone Asia/Tokyo
        show 78
        set 0
        timezone Europe/Madrid: 0 readings, 0 records
          given for imports: Asia/Tokyo: 1 reading, 0 records
        b 0
        different
        a 0
        same

        """, "\(outcome)")
  }

  @Test func theChosenTimeZoneOfTheStoreIsKeptAndSent() async throws {
    let outcome = try await run(
      "set_b --zone mine; zone; upload b --quiet; upload a --quiet; same a b; of a config timezone")
    #expect(
      outcome.output
        == "a 0\nset 0\ntimezone Asia/Tokyo\nb 0\na 0\nsame\ntimezone Asia/Tokyo\n", "\(outcome)")
  }

  @Test func aFetchOnlyUploadEndsWithStatus78UntilATimeZoneIsChosen() async throws {
    // When the remote was set, its logbook had no zone. So `remote set` asked for no decision.
    let outcome = try await run(
      """
      token c write other >b.token; chmod 600 b.token; set_b; login b; set_b --new-remote
      upload b --pull-only --quiet; grep -c -- 'upload --zone mine' errors; zone
      upload b --pull-only --quiet --zone theirs; zone
      """)
    #expect(
      outcome.output == """
        a 0
        set 0
        set 0
        b 78
        1
        timezone Asia/Tokyo
        b 0
        timezone Europe/Madrid: 1 reading, 0 records
          given for imports: Asia/Tokyo: 1 reading, 0 records

        """, "\(outcome)")
  }

  @Test func aServerWithoutATimeZoneIsAcceptedAsRemote() async throws {
    let outcome = try await run(
      "login d write empty; of d remote set \"$url\" --token-file d.token >shown; echo $?; of d config timezone; of d verify"
    )
    #expect(outcome.output.hasPrefix("a 0\n0\ntimezone Asia/Tokyo\n"), "\(outcome)")
    // The commands before were not uploads, so `verify` reports that no upload has run.
    #expect(outcome.errors.contains("no upload has run yet"), "\(outcome)")
  }
}
