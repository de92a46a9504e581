// SPDX-License-Identifier: Apache-2.0

import LogbookAPI
import Testing

@testable import LogbookServer

/// Tests how long page links are valid, and how many the server keeps.
@Suite struct PageLinksTests {
  private func link(
    _ login: String = "a", from madeAt: Int64 = 100, until expiresAt: Int64 = 200
  ) -> PageLinks.Link {
    PageLinks.Link(
      tokenHash: [1], login: login, logbook: "book", madeAt: madeAt, expiresAt: expiresAt)
  }

  @Test func aPageLinkIsValidFromItsStartUntilItsEnd() {
    let valid = [99, 100, 199, 200, 201].filter { link().isValid(at: $0) }
    #expect(valid == [100, 199])
    #expect(![Int64.min, .max].contains { link().isValid(at: $0) })
  }

  @Test func aPageLinkIsFoundOnlyByItsSecret() async {
    let links = PageLinks(max: 4, perLogin: 4)
    #expect(await links.add(link(), secretHash: [7, 8]))
    #expect(await links.link(secretHash: [7, 8], at: 150)?.logbook == "book")
    for other: [UInt8] in [[], [7], [8, 7], [7, 8, 0], [1]] {
      #expect(await links.link(secretHash: other, at: 150) == nil, "\(other)")
    }
  }

  @Test func anExpiredPageLinkNeverBecomesValidAgain() async {
    let links = PageLinks(max: 4, perLogin: 4)
    for secret: UInt8 in 1...2 { #expect(await links.add(link(), secretHash: [secret])) }
    #expect(await links.link(secretHash: [1], at: 200) == nil)
    #expect(await links.link(secretHash: [1], at: 150) == nil)
    #expect(await links.link(secretHash: [2], at: 150) != nil)
  }

  @Test func aPageLinkAboveTheLimitReplacesOnlyTheOldestOfItsLogin() async {
    let links = PageLinks(max: 10, perLogin: 2)
    #expect(await links.add(link("b"), secretHash: [0]))
    for secret: UInt8 in 1...4 { #expect(await links.add(link("a"), secretHash: [secret])) }
    var valid: [UInt8] = []
    for secret: UInt8 in 0...4 where await links.link(secretHash: [secret], at: 150) != nil {
      valid.append(secret)
    }
    #expect(valid == [0, 3, 4])
  }

  @Test func atTheTotalLimitNewPageLinksAreRefusedUntilSomeExpire() async {
    let links = PageLinks(max: 2, perLogin: 2)
    #expect(await links.add(link("a", until: 150), secretHash: [1]))
    #expect(await links.add(link("b"), secretHash: [2]))
    #expect(await !links.add(link("c"), secretHash: [3]))
    #expect(await links.link(secretHash: [3], at: 120) == nil)
    #expect(await links.add(link("c", from: 150), secretHash: [4]))
    #expect(await links.link(secretHash: [2], at: 150) != nil, "that of another is as it was")
  }

  @Test func atTheTotalLimitALoginMayReplaceItsOwnPageLink() async {
    let links = PageLinks(max: 2, perLogin: 1)
    #expect(await links.add(link("a"), secretHash: [1]))
    #expect(await links.add(link("b"), secretHash: [2]))
    #expect(await links.add(link("a"), secretHash: [3]))
    #expect(await links.link(secretHash: [1], at: 150) == nil)
    #expect(await links.link(secretHash: [3], at: 150) != nil)
  }
}
