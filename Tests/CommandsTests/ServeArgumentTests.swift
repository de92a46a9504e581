// SPDX-License-Identifier: Apache-2.0

import Logbook
import Report
import Testing

@testable import CommandParts
@testable import Commands

/// Tests the arguments of `serve`, and the addresses of the pages that it serves.
@Suite struct ServeArgumentTests {
  private static let day: Int64 = 86400

  @Test(arguments: [("600", 0o600), ("660", 0o660), ("0660", 0o660), ("000", 0), ("777", 0o777)])
  func aSocketModeIsThreeOctalDigits(_ text: String, _ mode: UInt32) throws {
    #expect(try #require(FileModeArgument(argument: text)).mode == mode)
  }

  @Test(arguments: [
    "", "6", "66", "999", "668", "1777", "00660", "-66", "+66", "rw-", "0x6", "6 0", " 66", "u=r", "６６０",
  ])
  func anInvalidSocketModeIsRefused(_ text: String) {
    #expect(FileModeArgument(argument: text) == nil)
  }

  @Test(arguments: [
    ("0", 0), ("90", 90), ("90s", 90), ("30m", 1800), ("24h", 86_400), ("1000000h", 3_600_000_000),
  ])
  func aDurationOptionIsANumberWithItsUnit(_ text: String, _ seconds: Int) throws {
    #expect(try #require(DurationArgument(argument: text)).seconds == seconds)
  }

  @Test(arguments: [
    "", "s", "-1", "-1h", "1d", "1H", "1.5h", "h1", "1 h", "1000001", "99999999999999999999", "soon", "٣",
  ])
  func anInvalidDurationOptionIsRefused(_ text: String) {
    #expect(DurationArgument(argument: text) == nil)
  }

  // MARK: - Pages

  @Test(arguments: [1, 2, 7, 14, 15, 30, 90])
  func aServedPageShowsExactlyTheRequestedDays(_ days: Int) throws {
    let query = try #require(PageQuery(["days": "\(days)"]))
    let last = 20_000 * Self.day
    let range = query.range(last: last)
    #expect(range.upperBound == last + Self.day && range.count == days * Int(Self.day))
  }

  /// Each link on a page must be a valid address. If a person follows the link to earlier days and then the
  /// link to later days, the first page is shown again.
  @Test(arguments: [1, 7, 14, 30, 90])
  func theLinksOnAServedPageAreValidQueries(_ days: Int) throws {
    let query = try #require(PageQuery(["days": "\(days)", "language": "de"]))
    let last = 20_000 * Self.day
    func parsed(_ target: String) throws -> PageQuery {
      try #require(target.first == "?", "\(target)")
      var parameters: [String: String] = [:]
      for pair in target.dropFirst().split(separator: "&") {
        let words = pair.split(separator: "=", maxSplits: 1)
        parameters[String(words[0])] = String(words[1])
      }
      return try #require(PageQuery(parameters), "\(target)")
    }
    let links = query.links(query.range(last: last), today: last + 365 * Self.day)
    for link in links {
      let linked = try parsed(link.target)
      #expect(linked.last != nil && linked.texts.code == "de", "\(link.target)")
    }
    let earlier = try parsed(try #require(links.first { $0.subject == .earlier }).target)
    #expect(earlier.last == last - Int64(days) * Self.day && earlier.days == days)
    let back = earlier.links(
      earlier.range(last: try #require(earlier.last)), today: last + 365 * Self.day)
    #expect(try parsed(try #require(back.first { $0.subject == .later }).target).last == last)
    #expect(links.filter(\.isCurrent).count == 1)
  }

  @Test func aServedPageOfTheEarliestDayHasNoLinkToAnEarlierPage() throws {
    let query = try #require(PageQuery(["days": "1", "last": "1970-01-01"]))
    #expect(query.last == 0)
    let links = query.links(query.range(last: 0), today: Self.day)
    #expect(!links.contains { $0.subject == .earlier } && links.contains { $0.subject == .later })
  }

  @Test(arguments: [
    ("last", "2026-02-28 "), ("last", " 2026-02-28"), ("last", "2026/02/28"), ("last", "20260228"),
    ("last", "2026-02-2٣"), ("last", "28-02-2026"), ("last", "<script>x"), ("days", "+-1"), ("days", "1.0"),
    ("days", ""), ("days", "99999999999999999999"), ("language", "EN"), ("language", ""), ("language", "en "),
    ("Last", "2026-02-28"), ("", ""), ("device", "x"),
  ])
  func misspeltPageParametersAreRefused(_ name: String, _ value: String) {
    #expect(PageQuery([name: value]) == nil)
  }
}
