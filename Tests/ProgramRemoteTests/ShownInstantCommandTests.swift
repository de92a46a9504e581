// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Tests that two stores of a logbook show instants at the same times, in whatever order a person states
/// zones and imports data.
@Suite(.timeLimit(.minutes(5)))
struct ShownInstantCommandTests {
  private static let sensor = """
    timestamp,glucose (mg/dL)\\n2026-03-10T23:30:00Z,110\\n2026-03-12T12:00:00Z,120\\n2026-03-14T12:00:00Z,130\\n
    """
  private static let meal = """
    [{"_id":"5cd4212a614598d46eb40db7","eventType":"Carb Correction","created_at":"2026-03-12T12:05:00.000Z","carbs":45,"enteredBy":"x"}]
    """

  /// Runs a script with two stores in Berlin's zone that sync with a server. The files `i.csv` and `t.json`
  /// contain instants.
  private func run(_ script: String) async throws -> Program.Outcome {
    let program = try Program()
    return try await program.shell(
      ServerScript.clients + """
        serve; trap 'kill -TERM $server 2>/dev/null; wait $server' EXIT
        export GLUCOPORT_TIMEZONE=Europe/Berlin
        printf '\(Self.sensor)' >i.csv; echo '\(Self.meal)' >t.json
        connect a; connect b
        journey() { of "$1" config timezone America/New_York --from 2026-03-11 --until 2026-03-14 >/dev/null; }
        bring() { of "$1" import --quiet --kind cbg i.csv 2>>errors; of "$1" import --quiet t.json 2>>errors; }
        sync() { for name in a b a b; do upload $name --quiet; done | sort | uniq -c | tr -s ' '; }
        times() { of "$1" list --format csv | cut -d , -f 4-6,13; }
        \(script)
        """)
  }

  private static let shown = """
    device_time,utc_offset,offset_source,vendor
    2026-03-11T00:30:00,+01:00,instant,Generic
    2026-03-12T08:00:00,-04:00,instant,Generic
    2026-03-12T08:05:00,-04:00,instant,
    2026-03-14T13:00:00,+01:00,instant,Generic

    """

  @Test func aJourneyStatedInOneStoreHoldsForImportsBeforeAndAfterItInBothStores() async throws {
    let outcome = try await run("journey a; bring a; bring b; sync; same a b; times a; times b")
    #expect(outcome.output == " 2 a 0\n 2 b 0\nsame\n" + Self.shown + Self.shown, "\(outcome)")
  }

  @Test func aCorrectedTimeZoneShowsInstantsAgainInBothStores() async throws {
    let outcome = try await run(
      """
      bring a; sync; of b config timezone Asia/Tokyo | head -n 1; sync; same a b; times a | tail -n 1
      of a verify --quiet; echo "verify $?"
      """)
    #expect(
      outcome.output == """
         2 a 0
         2 b 0
        timezone Asia/Tokyo: recalculated 3 readings and 1 record
         2 a 0
         2 b 0
        same
        2026-03-14T21:00:00,+09:00,instant,Generic
        verify 0

        """, "\(outcome)")
  }
}
