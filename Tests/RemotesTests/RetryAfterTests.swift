// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

/// Tests how long a client waits after an answer with the header `Retry-After`.
@Suite struct RetryAfterTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test(arguments: [
    ("0", 0), ("1", 1), ("007", 7), ("120", 120), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil),
    (" 1", 1), ("7200 ", 7200), ("1 2", nil),
    ("1s", nil), ("soon", nil), ("٣", nil), ("99999999999999999999", .max),
  ])
  func aNumberInRetryAfterIsReadAsSeconds(_ value: String, _ seconds: Int?) {
    #expect(RetryAfter.seconds(value, date: nil) == seconds)
    #expect(RetryAfter.seconds(value, date: Self.date) == seconds)
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
    ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
  ])
  func aDateInRetryAfterIsRelativeToTheClockOfTheServer(_ value: String, _ seconds: Int) {
    #expect(RetryAfter.seconds(value, date: Self.date) == seconds)
    #expect(RetryAfter.seconds(value, date: nil) == nil, "nothing says what time it is there")
    #expect(RetryAfter.seconds(value, date: "now") == nil)
  }

  @Test func withoutARetryAfterHeaderNoWaitIsKnown() {
    #expect(RetryAfter.seconds(nil, date: Self.date) == nil)
  }
}
