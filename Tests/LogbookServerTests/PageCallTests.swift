// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServerStore
import Synchronization
import Testing

@testable import LogbookServer

/// A source of pages that show only the id of their logbook and the request.
private struct NamedPages: PageSource {
  /// Receives the events of a page that runs until it is cancelled.
  let events: AsyncStream<String>.Continuation

  func page(_ request: PageRequest, of logbook: any LogbookService) async throws -> PageAnswer {
    switch request.parameters["show"] {
    case "nothing": return .invalid("no such page")
    case "everything": return .tooLarge
    case "much": return .html([UInt8](repeating: UInt8(ascii: "x"), count: 2000))
    case "end":
      events.yield("begun")
      let (never, continuation) = AsyncStream.makeStream(of: Never.self)
      for await _ in never {}
      continuation.finish()
      events.yield("ended")
      throw CancellationError()
    default:
      let parameters = request.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      let name = try await logbook.logbook().name
      return .html(Array("<p>\(name) \(parameters.joined(separator: " ")) \(request.now)".utf8))
    }
  }
}

/// Tests the pages of a logbook and the links to them, over a real socket.
@Suite(.timeLimit(.minutes(10))) struct PageCallTests {
  private static let start: Int64 = 1_795_219_200

  /// A clock that the test sets.
  private final class Clock: Sendable {
    let now = Mutex(PageCallTests.start)
  }

  private static func with(
    _ adjust: @Sendable (inout PageSettings) -> Void = { _ in }, maxFailedLogins: Int = 20,
    _ body: @Sendable (Peer, Clock, AsyncStream<String>) async throws -> Void
  ) async throws {
    let clock = Clock()
    let (events, continuation) = AsyncStream.makeStream(of: String.self)
    var pages = PageSettings(source: NamedPages(events: continuation)) {
      var generator = SystemRandomNumberGenerator()
      return LoginToken(using: &generator)
    }
    adjust(&pages)
    let settings = pages
    try await Peer.with { server in
      server.pages = settings
      server.clock = { clock.now.withLock { $0 } }
      server.maxFailedLogins = maxFailedLogins
      server.failedLoginDelay = .zero
    } _: { (peer) async throws in
      try await body(peer, clock, events)
    }
  }

  /// Requests a page link from the server; `seconds` is a query with the lifetime of the link.
  private static func link(
    _ peer: Peer, token: String = Peer.writeToken, seconds: String = ""
  ) async throws -> PageLink {
    let reply = try #require(
      try await peer.send("POST", "/v1/pages\(seconds)", token: token, headers: [], body: nil))
    try #require(reply.status == 200, "\(reply.status)")
    return try WireCodec.readPageLink(reply.body)
  }

  private static func get(_ peer: Peer, _ path: String, headers: [String] = []) async throws -> Reply {
    try #require(try await peer.send("GET", path, token: nil, headers: headers))
  }

  // MARK: - Links

  @Test(arguments: [Peer.writeToken, Peer.readToken])
  func aPageLinkShowsItsLogbookWithoutALogin(_ token: String) async throws {
    try await Self.with { (peer, _, _) async throws in
      let link = try await Self.link(peer, token: token)
      #expect(link.path.hasPrefix("/pages/gp_") && link.path.utf8.count == 53)
      #expect(link.expiresAt == Self.start + 900)
      let page = try await Self.get(peer, link.path + "?last=2026-03-01&days=1")
      #expect(page.status == 200)
      #expect(
        String(decoding: page.body, as: UTF8.self) == "<p>Anna's days=1 last=2026-03-01 \(Self.start)")
    }
  }

  @Test func aPageLinkDoesNotShowAnotherLogbook() async throws {
    try await Self.with { (peer, _, _) async throws in
      let (own, other) = (try await Self.link(peer), try await Self.link(peer, token: Peer.otherToken))
      #expect(own.path != other.path)
      let pages = [try await Self.get(peer, own.path), try await Self.get(peer, other.path)].map {
        String(decoding: $0.body, as: UTF8.self)
      }
      #expect(pages[0].hasPrefix("<p>Anna's ") && pages[1].hasPrefix("<p>Berta's "))
    }
  }

  @Test func aPageLinkExpiresInTimeAndIfTheClockIsSetBack() async throws {
    try await Self.with { (peer, clock, _) async throws in
      let link = try await Self.link(peer, seconds: "?seconds=60")
      #expect(link.expiresAt == Self.start + 60)
      clock.now.withLock { $0 = Self.start + 59 }
      #expect(try await Self.get(peer, link.path).status == 200)
      clock.now.withLock { $0 = Self.start + 60 }
      let ended = try await Self.get(peer, link.path)
      #expect(ended.status == 404 && ended.headers["content-type"] == "text/plain; charset=utf-8")
      #expect(String(decoding: ended.body, as: UTF8.self).contains("expired"))
      clock.now.withLock { $0 = Self.start + 59 }
      #expect(try await Self.get(peer, link.path).status == 404, "it does not come back")
      let later = try await Self.link(peer)
      clock.now.withLock { $0 = Self.start }
      #expect(try await Self.get(peer, later.path).status == 404)
    }
  }

  @Test func thePageLinksOfARevokedTokenExpire() async throws {
    try await Self.with { (peer, _, _) async throws in
      let (own, readers) = (try await Self.link(peer), try await Self.link(peer, token: Peer.readToken))
      try await peer.storage.logins.remove(name: "reader")
      #expect(try await Self.get(peer, readers.path).status == 404)
      #expect(try await Self.get(peer, own.path).status == 200)
    }
  }

  @Test func thePageLinksOfAReplacedTokenExpireWithItsGracePeriod() async throws {
    try await Self.with { (peer, clock, _) async throws in
      let before = try await Self.link(peer)
      try await peer.storage.logins.rotate(
        name: "Anna", token: LoginToken("gp_second"), graceSeconds: 60, at: Self.start)
      let links = [before, try await Self.link(peer), try await Self.link(peer, token: "gp_second")]
      func statuses() async throws -> [Int] {
        var statuses: [Int] = []
        for link in links { statuses.append(try await Self.get(peer, link.path).status) }
        return statuses
      }
      clock.now.withLock { $0 += 59 }
      #expect(try await statuses() == [200, 200, 200])
      clock.now.withLock { $0 += 1 }
      #expect(try await statuses() == [404, 404, 200])
      try await peer.storage.logins.rotate(
        name: "Anna", token: LoginToken("gp_third"), graceSeconds: 0, at: Self.start + 60)
      #expect(try await statuses() == [404, 404, 404])
    }
  }

  @Test func aPageLinkAboveTheLimitReplacesTheOldestOfItsLogin() async throws {
    try await Self.with {
      $0.maxLinksPerLogin = 2
    } _: { (peer, _, _) async throws in
      let other = try await Self.link(peer, token: Peer.otherToken)
      var links: [PageLink] = []
      for _ in 0..<3 { links.append(try await Self.link(peer)) }
      var statuses: [Int] = []
      for link in links + [other] { statuses.append(try await Self.get(peer, link.path).status) }
      #expect(statuses == [404, 200, 200, 200])
    }
  }

  @Test func theNumberOfPageLinksIsLimited() async throws {
    try await Self.with {
      $0.maxLinks = 1
    } _: { (peer, clock, _) async throws in
      _ = try await Self.link(peer)
      #expect(try await peer.status("POST", "/v1/pages", token: Peer.otherToken, headers: []) == 503)
      clock.now.withLock { $0 += 900 }
      #expect(try await peer.status("POST", "/v1/pages", token: Peer.otherToken, headers: []) == 200)
    }
  }

  @Test(arguments: ["?seconds=0", "?seconds=-1", "?seconds=x", "?seconds=86401", "?seconds=1&seconds=2"])
  func anInvalidRequestForAPageLinkIsRefused(_ query: String) async throws {
    try await Self.with { (peer, _, _) async throws in
      #expect(try await peer.status("POST", "/v1/pages\(query)", headers: []) == 400)
      #expect(try await Self.link(peer, seconds: "?seconds=86400").expiresAt == Self.start + 86400)
    }
  }

  @Test func aPageLinkNeedsALoginAndAPageNeedsALink() async throws {
    try await Self.with { (peer, _, _) async throws in
      #expect(try await peer.status("POST", "/v1/pages", token: nil, headers: []) == 401)
      #expect(try await peer.status("POST", "/v1/pages", headers: [], body: Array("{}".utf8)) == 400)
      let link = try await Self.link(peer)
      for path in ["/pages/", "/pages/\(Peer.writeToken)", link.path + "/", link.path + "x", "/pages"] {
        let reply = try #require(try await peer.send("GET", path, headers: []))
        #expect(reply.status == 404, "\(path)")
      }
      for method in ["POST", "PUT", "DELETE", "HEAD"] {
        #expect(try await peer.status(method, link.path, token: nil, headers: []) == 405, "\(method)")
      }
    }
  }

  @Test func theSecretOfAPageLinkIsNotAcceptedAsAToken() async throws {
    try await Self.with { (peer, _, _) async throws in
      let secret = String(try await Self.link(peer).path.dropFirst("/pages/".count))
      #expect(try await peer.status("GET", "/v1/logbook", token: secret, headers: []) == 401)
    }
  }

  @Test func requestsWithAnInvalidPageLinkCountAsFailedLogins() async throws {
    try await Self.with(maxFailedLogins: 2) { (peer, _, _) async throws in
      let link = try await Self.link(peer)
      var statuses: [Int] = []
      for _ in 0..<3 { statuses.append(try await Self.get(peer, "/pages/gp_wrong").status) }
      #expect(statuses == [404, 404, 429])
      #expect(try await peer.status("GET", "/v1/logbook", token: "gp_wrong", headers: []) == 429)
      #expect(try await Self.get(peer, link.path).status == 200, "a good link never waits")
    }
  }

  @Test func aServerWithoutPagesAnswersPageRequestsWithNotFound() async throws {
    try await Peer.with { (peer) async throws in
      for (method, path) in [("POST", "/v1/pages"), ("GET", "/pages/gp_x"), ("PUT", "/pages/gp_x")] {
        let reply = try #require(try await peer.send(method, path, headers: []))
        #expect(reply.status == 404 && reply.error?.code == .notFound, "\(method) \(path)")
      }
    }
  }

  // MARK: - Pages

  @Test func aPageForbidsCachingFramesScriptsAndExternalRequests() async throws {
    try await Self.with { (peer, _, _) async throws in
      let link = try await Self.link(peer)
      for path in [link.path, link.path + "?show=nothing", "/pages/gp_wrong"] {
        let headers = try await Self.get(peer, path).headers
        let policy = try #require(headers["content-security-policy"], "\(path)").split(separator: "; ")
        #expect(policy.first == "default-src 'none'" && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains { $0.hasPrefix("script-src") || $0.hasPrefix("img-src") })
        #expect(headers["referrer-policy"] == "no-referrer" && headers["x-frame-options"] == "DENY")
        #expect(headers["cache-control"] == "no-store" && headers["x-content-type-options"] == "nosniff")
        #expect(headers["set-cookie"] == nil)
      }
      #expect(try await Self.get(peer, link.path).headers["content-type"] == "text/html; charset=utf-8")
    }
  }

  @Test(arguments: [
    ("?show=nothing", 400), ("?show=everything", 413), ("?show=much", 413), ("?a=1&a=2", 400),
    ("?a=\(String(repeating: "x", count: 65))", 400), ("?a&b&c&d&e&f&g&h&i", 400), ("?show=else", 200),
  ])
  func anInvalidOrTooLargePageIsRefused(_ query: String, _ status: Int) async throws {
    try await Self.with {
      $0.maxBytes = 1000
    } _: { (peer, _, _) async throws in
      let link = try await Self.link(peer)
      #expect(try await Self.get(peer, link.path + query).status == status)
    }
  }

  @Test func aLoginGetsOnePageAtATimeUntilItsClientDisconnects() async throws {
    try await Self.with { (peer, _, events) async throws in
      var event = events.makeAsyncIterator()
      let (link, other) = (try await Self.link(peer), try await Self.link(peer, token: Peer.otherToken))
      let request = "GET \(link.path)?show=end HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let connections = try peer.hold(1, sending: request)
      #expect(await event.next() == "begun")
      #expect(try await Self.get(peer, link.path).status == 503)
      #expect(try await Self.get(peer, other.path).status == 200)
      for connection in connections { close(connection) }
      #expect(await event.next() == "ended")
      // The server admits the next page of the login shortly after this page has ended.
      var status = 503
      while status == 503 { status = try await Self.get(peer, link.path).status }
      #expect(status == 200)
    }
  }

  @Test func aPageThatTakesTooLongIsAborted() async throws {
    try await Self.with {
      $0.maxTime = .milliseconds(1)
    } _: { (peer, _, events) async throws in
      var event = events.makeAsyncIterator()
      let link = try await Self.link(peer)
      #expect(try await Self.get(peer, link.path + "?show=end").status == 413)
      #expect(await event.next() == "begun")
      #expect(await event.next() == "ended")
    }
  }

  @Test func metricsDoNotContainPageLinks() async throws {
    try await Self.with { (peer, _, _) async throws in
      let link = try await Self.link(peer)
      _ = try await Self.get(peer, link.path)
      let reply = try #require(try await peer.send("GET", "/metrics", token: nil, headers: []))
      let text = String(decoding: reply.body, as: UTF8.self)
      #expect(text.contains("glucoport_requests_total{route=\"page\",status=\"200\"} 1\n"))
      #expect(!text.contains("gp_"))
    }
  }
}
