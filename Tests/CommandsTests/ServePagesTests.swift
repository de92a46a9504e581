// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Report
import TestProgram
import Testing

@testable import CommandParts
@testable import Commands

/// Tests `serve --pages` and `remote page` with a real server process and real sockets.
@Suite(.timeLimit(.minutes(10))) struct ServePagesTests {
  /// Shell functions: `link NAME …` requests a page link. `page LINK [QUERY]` saves the page in the file
  /// `body` and prints the HTTP status.
  private static let prelude =
    ServerScript.clients + """
      link() { local name=$1; shift; of "$name" remote page "$@" 2>>told; }
      has() { grep -q -- "$1" body && echo 1 || echo 0; }
      page() { curl -sS -D head -o body -w '%{http_code}\\n' "$1${2:-}"; }
      day='&last=2026-03-01&days=1'

      """

  private func script(_ text: String, pages: Bool = true) async throws -> Program.Outcome {
    try await Program().shell(
      Self.prelude + "serve \(pages ? "--pages" : "")\n" + text + "\nstop >/dev/null; cat errors told 1>&2")
  }

  @Test func aPageLinkOfAReadOnlyTokenShowsTheUploadedDay() async throws {
    let outcome = try await script(
      """
      connect a; connect r read; row a 07:10 123; of a record add note 'a <walk>' --at 2026-03-01T09:00 --quiet
      upload a --quiet; link=$(link r --language de); page "$link" "$day"
      has '<html lang="de">'; has '123 mg/dL'; has 'a &lt;walk&gt;'; has '<script'
      grep -ci '^content-security-policy: default-src .none.' head; grep -ci '^set-cookie' head
      """)
    #expect(outcome.output == "a 0\n200\n1\n1\n1\n0\n1\n0\n", "\(outcome)")
    #expect(outcome.errors.hasPrefix("glucoport: anyone with this link can read the logbook until 2"))
  }

  @Test func namesAndNotesAreEscapedOnAServedPage() async throws {
    var rows = ReadingRows()
    rows.add(.smbg, "123", at: "2026-03-01T07:10", serial: "\"<script>alert(1)</script>\"\"'&\u{202E}\"")
    let outcome = try await script(
      """
      connect a; cat >rows.csv <<'END'
      \(rows.csv)END
      of a import rows.csv --quiet
      of a record add note $'</td><script>alert(2)</script>"\\'&\\e[31m' --at 2026-03-01T09:00 --quiet
      upload a --quiet; page "$(link a)" "$day"
      has 'Note &lt;/td&gt;&lt;script&gt;alert(2)&lt;/script&gt;&quot;&#39;&amp;'
      grep -c '<script' body; grep -c $'\\e' body; grep -c $'\\xe2\\x80\\xae' body
      """)
    #expect(outcome.output == "a 0\n200\n1\n0\n0\n0\n", "\(outcome)")
  }

  @Test func aServedPageEqualsTheReportOfTheSameDays() async throws {
    let outcome = try await script(
      """
      export GLUCOPORT_TIMEZONE=Europe/Madrid; connect a; row a 07:10 123; row a 07:20 61; row a 22:00 250; row a 23:00 400; of a undo --yes --quiet
      of a record add insulin 4.5 --subtype rapid --at 2026-03-01T08:00 --quiet; upload a --quiet
      page "$(link a)" "$day"
      of a report --since 2026-03-01 --until 2026-03-02 --pages all -o report
      sed '/<nav /d' body >shown; cmp shown report && echo same; grep -c '>400<' body; grep -c '<nav ' body report
      """)
    #expect(outcome.output == "a 0\n200\nsame\n0\nbody:1\nreport:0\n", "\(outcome)")
  }

  /// A phone copies sensor values as finger sticks, six on each of two days. Only together they are enough to
  /// be recognised as copies. Two apps have the same dose near midnight.
  @Test func aServedPageHasTheSameStatisticsAsTheReport() async throws {
    var (sensor, phone) = (ReadingRows(), ReadingRows())
    for date in ["2026-02-24", "2026-03-01"] {
      for hour in 0..<6 as Range<Int64> {
        sensor.add(.cbg, "\(100 + hour)", at: date + "T08:00", plus: hour * 3600)
        phone.add(.smbg, "\(100 + hour)", at: date + "T08:00", plus: hour * 3600)
      }
    }
    let relayed = phone.csv.split(separator: "\n").dropFirst().map { $0 + "\n" }.joined()
      .replacing("Vendor,Meter,S,f,", with: "Apple Health,iPhone,,apple-health,")
    func treatment(_ time: String, _ name: String, _ notes: String = "") -> String {
      #"{"_id":"66a00000000000000000000\#(name)","eventType":"Correction Bolus","created_at":"\#(time)Z","insulin":3,"enteredBy":"\#(name)","notes":"\#(notes)"}"#
    }
    // The two doses count once. The dose with more fields is the one that counts, and it is on the day after
    // the page.
    let doses = [treatment("2026-03-01T23:59:50", "1"), treatment("2026-03-02T00:00:20", "2", "late")]
    let outcome = try await script(
      """
      export GLUCOPORT_TIMEZONE=UTC; connect a
      cat >rows.csv <<'END'
      \(sensor.csv)\(relayed)END
      echo '[\(doses.joined(separator: ","))]' >doses.json
      of a import rows.csv --quiet 2>>told; of a import doses.json --quiet 2>>told; upload a --quiet
      page "$(link a)" "$day"
      of a report --since 2026-03-01 --until 2026-03-02 --pages all -o report
      sed '/<nav /d' body >shown; cmp shown report && echo same; has 'own value'; has '>3 U'
      """)
    #expect(outcome.output == "a 0\n200\nsame\n1\n0\n", "\(outcome)")
  }

  @Test func aPageLinkShowsOnlyItsOwnLogbook() async throws {
    let outcome = try await script(
      """
      connect a; connect b write second; row a 07:10 123; row b 07:10 234; upload a --quiet; upload b --quiet
      page "$(link a)" "$day"; has '123 mg/dL'; has '234 mg/dL'
      page "$(link b)" "$day"; has '123 mg/dL'; has '234 mg/dL'
      """)
    #expect(outcome.output == "a 0\nb 0\n200\n1\n0\n200\n0\n1\n", "\(outcome)")
  }

  @Test func linksOnAServedPageLeadToOtherDays() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; upload a --quiet; link=$(link a)
      page "$link" '&last=2026-03-14'; has '123 mg/dL'
      next=$(grep -o 'href="[^"]*"' body | sed -n '1s/href="//; 1s/"$//; 1s/&amp;/\\&/g; 1p'); echo "$next"
      page "${link%%\\?*}$next"; has '123 mg/dL'
      for query in '&days=91' '&days=0' '&last=2026-02-30' '&last=9999-01-01' '&language=xx' '&other=1'; do
        page "${link%%\\?*}" "?${query#&}"
      done
      """)
    #expect(
      outcome.output == """
        a 0
        200
        1
        ?last=2026-02-28&days=14&language=en
        200
        0
        400
        400
        400
        400
        400
        400

        """, "\(outcome)")
  }

  @Test func aServedPageCanBeDownloadedAsPDF() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; upload a --quiet; link=$(link a)
      page "$link" "$day"; target=$(grep -o 'href="[^"]*format=pdf"' body | sed 's/href="//; s/"$//; s/&amp;/\\&/g'); echo "$target"
      page "${link%%\\?*}$target"; head -c 8 body; echo; grep -ci '^content-type: application/pdf' head
      grep -ci '^content-disposition: inline; filename="glucose-report.pdf"' head
      of a report --since 2026-03-01 --until 2026-03-02 --pages all -o report.pdf; cmp body report.pdf && echo same
      """)
    #expect(
      outcome.output == """
        a 0
        200
        ?last=2026-03-01&days=1&language=en&format=pdf
        200
        %PDF-1.7
        1
        1
        same

        """, "\(outcome)")
  }

  @Test func aPageLinkExpiresInTimeAndWithItsToken() async throws {
    let outcome = try await script(
      """
      connect a; connect r read; row a 07:10 123; upload a --quiet
      short=$(link a --expires 1s); long=$(link r); page "$long"
      for _ in $(seq 600); do [ "$(page "$short")" = 200 ] || break; sleep 0.05; done; page "$short"
      name=$(glucoport serve token list --data served | sed -n 's/^\\(r-[0-9]*\\) .*/\\1/p')
      glucoport serve token revoke "$name" --data served; page "$long"; cat body
      """)
    #expect(
      outcome.output == """
        a 0
        200
        404
        404
        This link is unknown or has expired; 'glucoport remote page' makes a new one.

        """, "\(outcome)")
  }

  @Test func aServerWithoutThePagesOptionServesNoPages() async throws {
    let outcome = try await script(
      """
      connect a; link a; echo $?; page "$url/pages/gp_x"
      curl -sS -o body -w '%{http_code}\\n' -X POST -H "Authorization: Bearer $(cat a.token)" "$url/v1/pages"
      """, pages: false)
    #expect(outcome.output == "78\n404\n404\n", "\(outcome)")
    #expect(outcome.errors.contains("the server shows no pages; it needs 'glucoport serve --pages'"))
  }

  @Test(arguments: [
    ["--expires", "0"], ["--expires", "x"], ["--language", "xx"], ["--language", ""],
  ])
  func invalidOptionsOfThePageLinkCommandAreUsageErrors(_ arguments: [String]) async throws {
    let outcome = try await Program().run(arguments: ["remote", "page"] + arguments)
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
  }

  @Test func withoutARemoteThePageLinkCommandFails() async throws {
    let program = try Program()
    let made = try await program.run("record", "add", "note", "x", "--quiet")
    #expect(made.status == 0, "\(made.errors)")
    let outcome = try await program.run("remote", "page")
    #expect(outcome.status == 78 && outcome.errors.contains("the store has no remote"), "\(outcome)")
  }
}

/// Tests which days and which language the query of a page address chooses.
@Suite struct PageQueryTests {
  private static let day: Int64 = 86400
  private static let last: Int64 = 20_512 * day

  @Test func aPageServedWithoutParametersShowsTwoWeeks() throws {
    let query = try #require(PageQuery([:]))
    #expect(query == PageQuery() && query.days == 14 && query.last == nil && query.texts.code == "en")
    #expect(query.range(last: Self.last) == Self.last - 13 * Self.day..<Self.last + Self.day)
  }

  @Test func pageParametersChooseDaysAndLanguage() throws {
    let query = try #require(
      PageQuery(["last": "2026-02-28", "days": "90", "language": "fr", "format": "pdf"]))
    #expect(query.last == Self.last && query.days == 90 && query.texts.code == "fr" && query.form == .pdf)
  }

  @Test(arguments: [
    ("last", "2026-02-29"), ("last", "2026-2-28"), ("last", "2026-02-28T00:00"), ("last", ""),
    ("last", "1969-12-31"),
    ("days", "0"), ("days", "91"), ("days", "-1"), ("days", "x"), ("language", "xx"), ("else", "1"),
    ("format", "xml"), ("format", ""),
  ])
  func invalidPageParametersAreRefused(_ name: String, _ value: String) {
    #expect(PageQuery([name: value]) == nil)
  }

  @Test func pageLinksLeadToEarlierAndLaterDaysUpToToday() throws {
    let query = try #require(PageQuery(["days": "7"]))
    let links = query.links(query.range(last: Self.last), today: Self.last + 2 * Self.day)
    #expect(
      links.map(\.subject)
        == [.earlier, .later] + [1, 7, 14, 30, 90].map(ReportLink.Subject.days) + [.pdf]
        + (22...28).map { .day("2026-02-\($0)") })
    #expect(
      links.prefix(2).map(\.target) == [
        "?last=2026-02-21&days=7&language=en", "?last=2026-03-02&days=7&language=en",
      ])
    #expect(links.filter(\.isCurrent).map(\.subject) == [.days(7)])
    let today = query.links(query.range(last: Self.last), today: Self.last)
    #expect(!today.map(\.subject).contains(.later))
    let single = try #require(PageQuery(["days": "1"]))
    #expect(single.links(single.range(last: Self.last), today: Self.last).count == 7)
  }
}
