// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

/// Requests to one site. The access token is sent in the one request that turns it into a JWT, and the JWT in all
/// others; it ends with the run.
actor NightscoutSession {
  private struct Login {
    var token: String
    var rights: NightscoutRights?
    /// The server's clock in milliseconds, cut to seconds, at `at`.
    var issued: Int64
    var at: ContinuousClock.Instant
  }

  private static let tokenPath = "/api/v2/authorization/request/"

  private let exchange: RemoteExchange
  private let token: Token
  private var login: Login?

  init(_ exchange: RemoteExchange, token: Token) {
    self.exchange = exchange
    self.token = token
  }

  /// What the login may do; nil where the site does not tell.
  func rights() async throws(RemoteError) -> NightscoutRights? { try await current().rights }

  /// The server's clock in milliseconds, never ahead of it: in its time stands what is pulled, and no other clock counts.
  func now() async throws(RemoteError) -> Int64 {
    let login = try await current()
    return login.issued + Int64((ContinuousClock.now - login.at) / .milliseconds(1))
  }

  /// Sends a request. A JWT that is no longer good is renewed once: each further attempt would make the site answer
  /// everybody at this address later.
  func send(
    _ method: HTTPMethod = .GET, _ path: String, body: JSONValue? = nil, headers: HTTPHeaders = [:]
  ) async throws(RemoteError) -> ExchangeAnswer {
    let bytes = body.map { Array($0.json.utf8) }
    let answer = try await exchange.send(request(method, path, bytes, headers, try await current()))
    guard answer.status == 401 else { return answer }
    login = nil
    return try await exchange.send(request(method, path, bytes, headers, try await current()))
  }

  /// What an answer means that is no success.
  func problem(_ answer: ExchangeAnswer, isWrite: Bool = false) -> RemoteError {
    switch answer.status {
    case 403 where isWrite: .readOnly
    case 400, 422: .refused("\(exchange.address.host): \(words(answer))")
    default: exchange.problem(answer, words: words(answer))
    }
  }

  /// The site's own words, without a secret; empty without any.
  func words(_ answer: ExchangeAnswer) -> String {
    guard let message = NightscoutAnswer.value(answer)?["message"]?.text else { return "" }
    let words = login.map { message.replacing($0.token, with: "…") } ?? message
    return exchange.quoted(words)
  }

  /// A breach of the protocol.
  nonisolated func violation(_ reason: String) -> RemoteError { exchange.violation(reason) }
}

extension NightscoutSession {
  private func current() async throws(RemoteError) -> Login {
    if let login { return login }
    let made = try await makeLogin()
    login = made
    return made
  }

  private func makeLogin() async throws(RemoteError) -> Login {
    guard let secret = Self.accessToken(token.text) else {
      throw .loginRefused(
        "\(exchange.address.host): this is no access token, such as name-0123456789abcdef; the API secret of a site is not taken, and was not sent"
      )
    }
    let answer = try await exchange.send(
      ExchangeRequest(
        path: Self.tokenPath + secret,
        headers: ["Accept": "application/json", "Cache-Control": "no-cache"]))
    guard answer.status == 200 else { throw exchange.problem(answer) }
    guard let value = NightscoutAnswer.value(answer), let jwt = value["token"]?.text, Self.isVisible(jwt)
    else {
      throw exchange.violation("it does not answer like Nightscout")
    }
    let issued = value["iat"]?.integer ?? answer.headers.first(name: "Date").flatMap(RetryAfter.instant)
    guard let issued, issued > 0, issued < NightscoutTime.most / 1000 else {
      throw exchange.violation("it does not tell its time")
    }
    return Login(
      token: jwt, rights: NightscoutRights(value["permissionGroups"]), issued: issued * 1000,
      at: ContinuousClock.now)
  }

  /// The token as Admin tools show it, also where `token=` was copied with it. Nothing else is sent: a secret that opens
  /// everything does not belong into a path.
  private static func accessToken(_ text: String) -> String? {
    let text = text.hasPrefix("token=") ? String(text.dropFirst("token=".count)) : text
    let end = text.utf8.suffix(17)
    guard end.count == 17, end.first == UInt8(ascii: "-"),
      end.dropFirst().allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) }),
      NightscoutDocument.escaped(text) == text
    else { return nil }
    return text
  }

  private static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private func request(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8]?, _ more: HTTPHeaders, _ login: Login
  ) -> ExchangeRequest {
    var headers: HTTPHeaders = [
      "Authorization": "Bearer \(login.token)", "Accept": "application/json", "Cache-Control": "no-cache",
    ]
    if body != nil { headers.add(name: "Content-Type", value: "application/json") }
    headers.add(contentsOf: more)
    return ExchangeRequest(method: method, path: path, headers: headers, body: body, mayBePacked: false)
  }
}

/// Answers of Nightscout as values.
enum NightscoutAnswer {
  /// The body; nil for what is no JSON.
  static func value(_ answer: ExchangeAnswer) -> JSONValue? {
    do throws(WireError) {
      return try JSONValue.read(answer.body)
    } catch {
      return nil
    }
  }
}
