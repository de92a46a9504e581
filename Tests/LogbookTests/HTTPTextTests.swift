// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct HTTPTextTests {
  @Test(arguments: [
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
  ])
  func anHTTPDateIsWrittenAndReadBack(_ seconds: Int64, _ text: String) {
    #expect(HTTPText.date(seconds) == text)
    #expect(HTTPText.seconds(ofDate: text) == seconds)
  }

  @Test(arguments: [
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, xx Nov 1994 08:49:37 GMT",
    "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "GMT", "",
  ])
  func anInvalidHTTPDateIsRefused(_ text: String) { #expect(HTTPText.seconds(ofDate: text) == nil) }

  @Test func inAURLEveryByteExceptUnreservedOnesIsPercentEncoded() {
    #expect(HTTPText.escaped("aZ09-._~") == "aZ09-._~")
    #expect(HTTPText.escaped("a b/c?é\n") == "a%20b%2Fc%3F%C3%A9%0A")
    #expect(HTTPText.escaped("a.b_c~", plain: "-_") == "a%2Eb_c%7E")
  }
}
