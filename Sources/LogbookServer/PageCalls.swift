// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI

/// Answers requests for the pages of a logbook, and creates the links to them.
struct PageCalls: Sendable {
  private static let maxParameters = 8
  private static let maxParameterBytes = 64

  private let settings: PageSettings
  private let links: PageLinks
  private let shared: (any PageLinkDirectory)?
  private let atWork: WorkLimits
  private let clock: @Sendable () -> Int64

  /// - Parameter shared: the links in the storage that several servers share; nil if this server keeps its
  ///   links itself.
  init(_ settings: PageSettings, _ shared: (any PageLinkDirectory)?, clock: @escaping @Sendable () -> Int64) {
    self.settings = settings
    self.shared = shared
    self.clock = clock
    links = PageLinks(max: settings.maxLinks, perLogin: settings.maxLinksPerLogin)
    atWork = WorkLimits(max: settings.maxPagesAtWork, perLogin: 1)
  }

  /// Answers `POST /v1/pages`: creates a link for the login, whatever its role.
  func makeLink(_ incoming: IncomingRequest, _ login: Login) async throws -> HTTPAnswer {
    // A body is refused, since this call does not read it, and the server would take its bytes for the next
    // request.
    guard !incoming.hasBody, let token = incoming.token else {
      throw Refusal(.badRequest, "this call has no body")
    }
    let text = try incoming.parameter("seconds")
    guard let seconds = text.map({ Int($0) }) ?? settings.linkSeconds,
      (1...settings.maxLinkSeconds).contains(seconds)
    else {
      throw Refusal(
        .badRequest, "the parameter seconds must be a number from 1 to \(settings.maxLinkSeconds)")
    }
    let now = clock()
    let (secret, end) = (settings.makeSecret(), now + Int64(seconds))
    let link = PageLinks.Link(
      tokenHash: token.hash, login: login.name, logbook: login.logbook, madeAt: now, expiresAt: end)
    guard try await add(link, secret.hash) else {
      var refusal = Refusal(.busy, "there are too many links; try again when some have expired")
      refusal.retryAfterSeconds = 60
      throw refusal
    }
    return HTTPAnswer(
      body: WireCodec.write(PageLink(path: WireProtocol.pagesPath + secret.text, expiresAt: end)))
  }

  /// Adds a link. Returns false if the server cannot keep further links; see `PageLinks.add`.
  private func add(_ link: PageLinks.Link, _ secretHash: [UInt8]) async throws -> Bool {
    guard let shared else { return await links.add(link, secretHash: secretHash) }
    try await shared.add(link, secretHash: secretHash, maxPerLogin: settings.maxLinksPerLogin)
    return true
  }

  /// The login that created a link, if the link and the token of the login are still valid.
  func login(_ incoming: IncomingRequest, _ logins: any LoginDirectory) async throws -> Login? {
    let secret = LoginToken(String(incoming.path.dropFirst(WireProtocol.pagesPath.count)))
    let now = clock()
    // A replaced token is valid for its links as long as for other requests.
    let known =
      if let shared { try await shared.link(secretHash: secret.hash, at: now) } else {
        await links.link(secretHash: secret.hash, at: now)
      }
    guard let link = known,
      let login = try await logins.login(tokenHash: link.tokenHash, at: now), login.logbook == link.logbook
    else { return nil }
    return login
  }

  /// Answers `GET /pages/SECRET` with a page. If the client disconnects, the creation of the page is
  /// cancelled.
  func page(_ incoming: IncomingRequest, _ login: Login, _ logbook: any LogbookService) async throws
    -> HTTPAnswer
  {
    guard let parameters = parameters(incoming) else {
      throw Refusal(.badRequest, "This page does not exist: its address has wrong parameters.")
    }
    guard await atWork.reserve(1, for: login.name) else {
      var refusal = Refusal(.busy, "Another page is being made; reload in a moment.")
      refusal.retryAfterSeconds = 2
      throw refusal
    }
    do {
      let request = PageRequest(parameters: parameters, now: clock())
      let made = try await incoming.request.body.consumeWithCancellationOnInboundClose { _ in
        try await inTime { try await settings.source.page(request, of: logbook) }
      }
      await atWork.release(1, for: login.name)
      return answer(made)
    } catch {
      await atWork.release(1, for: login.name)
      throw error
    }
  }

  /// A refusal as text for a browser.
  static func answer(_ refusal: Refusal) -> HTTPAnswer {
    HTTPAnswer(
      status: refusal.status, headers: refusal.headers.merging(Self.headers),
      body: Array((refusal.message + "\n").utf8), type: "text/plain; charset=utf-8")
  }

  /// The refusal of a link that is unknown or expired, or whose token was revoked.
  static var unknownLink: Refusal {
    Refusal(.notFound, "This link is unknown or has expired; 'glucoport remote page' makes a new one.")
  }
}

extension PageCalls {
  /// Headers that restrict the browser: no scripts, no requests, no caching, no frames. The page itself
  /// states the digest of its style, so that no other style is applied.
  private static let headers: HTTPFields = {
    var headers: HTTPFields = [:]
    headers[.contentSecurityPolicy] =
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    headers[wire: "Referrer-Policy"] = "no-referrer"
    headers[wire: "X-Frame-Options"] = "DENY"
    headers[wire: "X-Robots-Tag"] = "noindex"
    headers[wire: "Cross-Origin-Resource-Policy"] = "same-origin"
    headers[wire: "Cross-Origin-Opener-Policy"] = "same-origin"
    return headers
  }()

  /// The headers of a PDF, with a file name. Without it, a browser would name the file after the secret of
  /// the link.
  private static let pdfHeaders: HTTPFields = {
    var headers = Self.headers
    headers[wire: "Content-Disposition"] = "inline; filename=\"glucose-report.pdf\""
    return headers
  }()

  private func parameters(_ incoming: IncomingRequest) -> [String: String]? {
    var parameters: [String: String] = [:]
    for (name, value) in incoming.request.uri.queryParameters {
      guard parameters.updateValue(String(value), forKey: String(name)) == nil,
        parameters.count <= Self.maxParameters,
        max(name.utf8.count, value.utf8.count) <= Self.maxParameterBytes
      else { return nil }
    }
    return parameters
  }

  private func answer(_ made: PageAnswer) -> HTTPAnswer {
    var answer =
      switch made {
      case .html(let bytes) where bytes.count <= settings.maxBytes:
        HTTPAnswer(headers: Self.headers, body: bytes, type: "text/html; charset=utf-8")
      case .pdf(let bytes) where bytes.count <= settings.maxBytes:
        HTTPAnswer(headers: Self.pdfHeaders, body: bytes, type: "application/pdf")
      case .html, .pdf, .tooLarge:
        Self.answer(Refusal(.tooLarge, "This period has more than a page shows; choose fewer days."))
      case .invalid(let reason): Self.answer(Refusal(.badRequest, reason))
      }
    // To notice that the client disconnects, the server has read from the connection. This may have read
    // further requests, which are lost. So the connection is closed, and the client repeats them.
    answer.endsConnection = true
    return answer
  }

  private func inTime(_ make: @escaping @Sendable () async throws -> PageAnswer) async throws -> PageAnswer {
    try await withThrowingTaskGroup(of: PageAnswer.self) { group in
      group.addTask { try await make() }
      group.addTask {
        try await Task.sleep(for: settings.maxTime)
        return .tooLarge
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .tooLarge
    }
  }
}

extension HTTPFields {
  fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
    var merged = self
    merged.append(contentsOf: others)
    return merged
  }
}

/// The valid links to pages, by the SHA-256 of their secrets. Links are only kept in memory, and are lost
/// when the server ends.
actor PageLinks {
  typealias Link = PageLinkEntry

  private let max: Int
  private let maxPerLogin: Int
  private var links: [[UInt8]: (link: Link, place: Int)] = [:]
  private var last = 0

  init(max: Int, perLogin: Int) {
    self.max = max
    maxPerLogin = perLogin
  }

  /// Adds a link. If its login has the maximum number of links, the oldest one of the login is removed.
  /// Returns false if the server still has the maximum number of links.
  func add(_ link: Link, secretHash: [UInt8]) -> Bool {
    links = links.filter { $0.value.link.isValid(at: link.madeAt) }
    let own = links.filter { $0.value.link.login == link.login }
    if own.count >= maxPerLogin, let oldest = own.min(by: { $0.value.place < $1.value.place }) {
      links[oldest.key] = nil
    }
    guard links.count < max else { return false }
    last += 1
    links[secretHash] = (link, last)
    return true
  }

  /// The link with this secret; nil if there is none or it has expired.
  func link(secretHash: [UInt8], at now: Int64) -> Link? {
    guard let link = links[secretHash]?.link else { return nil }
    if !link.isValid(at: now) { links[secretHash] = nil }
    return link.isValid(at: now) ? link : nil
  }
}

extension PageLinkEntry {
  /// Whether the link is valid. It is not valid before `madeAt`, so that setting the clock back does not
  /// extend its validity.
  func isValid(at now: Int64) -> Bool { now >= madeAt && now < expiresAt }
}
