// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Tests the bodies of errors, and of links to pages.
@Suite struct ErrorBodyTests {
  @Test func everyErrorCodeIsReadBackUnchanged() throws {
    #expect(Set(ErrorCode.allCases.map(\.rawValue)).count == ErrorCode.allCases.count)
    for code in ErrorCode.allCases {
      for logbook in [nil, "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"] {
        let body = ErrorBody(code, "a \"b\"\n\u{1}<é😀>", logbook: logbook)
        let read = try ErrorBody(body.json)
        #expect(read.code == code && read.message == body.message && read.logbook == logbook, "\(code)")
        #expect(!body.json.contains { $0 < 0x20 }, "\(code)")
      }
    }
  }

  @Test(arguments: ["", "{", "[]", "null", "\"x\"", "{\"error\":1}", "<html>", "{\"error\":{}}x"])
  func anInvalidErrorBodyIsRefused(_ text: String) {
    #expect(throws: JSONError.self) { try ErrorBody(Array(text.utf8)) }
  }

  @Test(arguments: [946_684_800, 1_795_219_200, 1_795_219_259, 4_102_444_800] as [Int64])
  func theExpiryTimeOfAPageLinkIsReadBackUnchanged(_ seconds: Int64) throws {
    let link = PageLink(path: WireProtocol.pagesPath + "gp_x", expiresAt: seconds)
    #expect(try WireCodec.readPageLink(WireCodec.write(link)) == link)
  }

  @Test func aPageLinkPathAboveTheMaximumLengthIsRefused() throws {
    func body(_ count: Int) -> [UInt8] {
      WireCodec.write(
        PageLink(
          path: WireProtocol.pagesPath + String(repeating: "a", count: count), expiresAt: 1_795_219_200))
    }
    let max = 200 - WireProtocol.pagesPath.utf8.count
    #expect(try WireCodec.readPageLink(body(max)).path.utf8.count == 200)
    for count in [0, max + 1, 100_000] {
      #expect(throws: JSONError.self, "\(count)") { try WireCodec.readPageLink(body(count)) }
    }
  }

  /// The path in the server's answer cannot lead to another host or to a script.
  @Test(arguments: [
    "javascript:alert(1)", "https://example.com/pages/x", "//example.com/pages/x", "/pages/\"onload=x",
    "/pages/<script>", "/pages/x#y", "/pages/x?y", "/pages/x/y", "/pages/x%2e", "/pages/..", "/pages/x\\\\y",
    "/Pages/x", " /pages/x", "/pages/x ", "/pages", "/v1/pages",
  ])
  func aPageLinkPathOutsideThePagesIsRefused(_ path: String) {
    let escaped = path.replacing("\"", with: "\\\"")
    let body = "{\"path\":\"\(escaped)\",\"expires\":\"2026-11-21T00:00:00Z\"}"
    #expect(throws: JSONError.self) { try WireCodec.readPageLink(Array(body.utf8)) }
  }

  @Test func unknownMembersAndTheOrderOfMembersInABodyAreIgnored() throws {
    let body = #"{"later":{"a":[1]},"expires":"2026-11-21T00:00:07Z","path":"/pages/x"}"#
    #expect(
      try WireCodec.readPageLink(Array(body.utf8)) == PageLink(path: "/pages/x", expiresAt: 1_795_219_207))
  }
}
