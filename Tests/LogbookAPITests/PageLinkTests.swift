// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

@Suite struct PageLinkTests {
  @Test func aPageLinkIsReadBackUnchanged() throws {
    let link = PageLink(path: "/pages/gp_aB-_9", expiresAt: 1_795_219_200)
    let body = WireCodec.write(link)
    #expect(
      String(decoding: body, as: UTF8.self)
        == "{\"path\":\"/pages/gp_aB-_9\",\"expires\":\"2026-11-21T00:00:00Z\"}")
    #expect(try WireCodec.readPageLink(body) == link)
  }

  @Test(arguments: [
    "", "/pages/", "/other/gp_x", "pages/gp_x", "/pages/a b", "/pages/../v1", "/pages/a?b", "/pages/a\\n",
    "//example.com/x", "/pages/é",
  ])
  func aPageLinkWithAnotherPathIsRefused(_ path: String) {
    let body = "{\"path\":\"\(path)\",\"expires\":\"2026-11-21T00:00:00Z\"}"
    #expect(throws: JSONError.self) { try WireCodec.readPageLink(Array(body.utf8)) }
  }

  @Test(arguments: ["{}", "{\"path\":\"/pages/x\"}", "{\"expires\":\"2026-11-21T00:00:00Z\"}", "[]"])
  func aPageLinkWithoutPathOrExpiryTimeIsRefused(_ body: String) {
    #expect(throws: JSONError.self) { try WireCodec.readPageLink(Array(body.utf8)) }
  }
}
