// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1
import Nightscout

/// Sends requests to one site. One request sends the access token, to get a JWT. All others send the JWT,
/// which is discarded after the run.
actor NightscoutSession {
  private struct Login {
    var token: String
    var rights: NightscoutRights?
    /// The server's time when the JWT was issued: milliseconds that are rounded to whole seconds.
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

  /// The rights of the login; nil if the site does not state them.
  func rights() async throws(ServiceError) -> NightscoutRights? { try await current().rights }

  /// The time on the server's clock in milliseconds. The result may be a little earlier than this time, but
  /// is never later. All times that a pull stores are of this clock.
  func now() async throws(ServiceError) -> Int64 {
    let login = try await current()
    return login.issued + Int64((ContinuousClock.now - login.at) / .milliseconds(1))
  }

  /// Sends a request. An expired JWT is renewed only once. After further failed logins, the site would delay
  /// its answers to all clients with this network address.
  func send(
    _ method: HTTPMethod = .GET, _ path: String, body: JSONValue? = nil, headers: HTTPHeaders = [:]
  ) async throws(ServiceError) -> ExchangeAnswer {
    let bytes = body.map(\.bytes)
    let answer = try await exchange.send(request(method, path, bytes, headers, try await current()))
    guard answer.status == 401 else { return answer }
    login = nil
    return try await exchange.send(request(method, path, bytes, headers, try await current()))
  }

  /// The error for an unsuccessful answer.
  func serviceError(for answer: ExchangeAnswer, isWrite: Bool = false) -> ServiceError {
    switch answer.status {
    case 200..<300: unknownAnswer
    case 403 where isWrite && NightscoutAnswer.status(answer) != nil: missingRight(answer)
    case 400, 422: refusal(answer, isWrite: isWrite)
    default: exchange.serviceError(for: answer, words: message(in: answer))
    }
  }

  /// The error for an item that the login may not send. If the login may send other items, only this item is
  /// refused.
  private func missingRight(_ answer: ExchangeAnswer) -> ServiceError {
    let words = message(in: answer)
    let right = words.split(separator: " ").last.map(String.init) ?? ""
    guard let rights = login?.rights, rights.maySend, NightscoutRights.needed.contains(right),
      !rights.covers(right)
    else { return .readOnly }
    return .refused("\(exchange.address.host): \(words); add it to the role of the access token")
  }

  /// The error for a rejected request. If a write was rejected, only its item is refused. If a request that
  /// reads was rejected, or the answer is from a proxy, the whole run fails.
  private func refusal(_ answer: ExchangeAnswer, isWrite: Bool) -> ServiceError {
    let words = message(in: answer)
    guard NightscoutAnswer.status(answer) != nil else {
      return exchange.serviceError(for: answer, words: words)
    }
    if isWrite { return .refused("\(exchange.address.host): \(words)") }
    return violation("it refuses the request\(words.isEmpty ? "" : ": \(words)")")
  }

  /// The site's message in an answer, without secrets; empty if there is none.
  func message(in answer: ExchangeAnswer) -> String {
    guard let message = NightscoutAnswer.value(answer)?["message"]?.text else { return "" }
    let words = login.map { message.replacing($0.token, with: "…") } ?? message
    return exchange.sanitised(words)
  }

  /// The error for a site that violates the protocol.
  nonisolated func violation(_ reason: String) -> ServiceError { exchange.violation(reason) }

  /// The error for an answer that is not from Nightscout, but possibly from a proxy. The request is repeated
  /// in a later run.
  nonisolated var unknownAnswer: ServiceError {
    violation(
      "its answer is not Nightscout's; check the address with its path, and any login page or proxy in front of the site"
    )
  }
}

extension NightscoutSession {
  private func current() async throws(ServiceError) -> Login {
    if let login { return login }
    let made = try await makeLogin()
    login = made
    return made
  }

  private func makeLogin() async throws(ServiceError) -> Login {
    guard let secret = Self.accessToken(token.text) else {
      throw .loginRefused(
        "\(exchange.address.host): not an access token such as name-0123456789abcdef; the API secret of a site is not accepted, and was not sent"
      )
    }
    let answer = try await exchange.send(
      ExchangeRequest(
        path: Self.tokenPath + secret,
        headers: ["Accept": "application/json", "Cache-Control": "no-cache"]))
    guard answer.status == 200 else { throw exchange.serviceError(for: answer) }
    guard let value = NightscoutAnswer.value(answer), let jwt = value["token"]?.text, Self.isVisible(jwt)
    else {
      throw unknownAnswer
    }
    let issued = value["iat"]?.integer ?? answer.headers.first(name: "Date").flatMap(HTTPText.seconds)
    guard let issued, issued > 0, issued < NightscoutTime.maxMilliseconds / 1000 else {
      throw exchange.violation("it does not report its time")
    }
    return Login(
      token: jwt, rights: NightscoutRights(value["permissionGroups"]), issued: issued * 1000,
      at: ContinuousClock.now)
  }

  /// The access token as Admin tools show it, also if it was copied with `token=`. Nil for any other text: it
  /// may be the secret of the site, which must not be sent in a path.
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

/// Parses answers of Nightscout, and distinguishes them from answers of proxies. The status of a proxy's
/// answer does not show what the site did.
enum NightscoutAnswer {
  /// The body as a JSON value; nil if it is not JSON.
  static func value(_ answer: ExchangeAnswer) -> JSONValue? {
    do throws(JSONError) {
      return try JSONValue.read(answer.body)
    } catch {
      return nil
    }
  }

  /// The status of an answer by API v3 about a document; nil if its body does not repeat the status. Also nil
  /// for status 404 with a message: such an answer is about an invalid path, not about a missing document.
  static func status(_ answer: ExchangeAnswer) -> Int? {
    guard let value = value(answer), value["status"]?.integer == Int64(answer.status),
      answer.status != 404 || value["message"] == nil
    else { return nil }
    return answer.status
  }

  /// Whether API v3 states that it stored the document of a POST, or that it already had the document.
  static func isStored(_ answer: ExchangeAnswer) -> Bool {
    guard answer.status == 200 || answer.status == 201 else { return false }
    return value(answer)?["identifier"]?.text?.isEmpty == false
  }

  /// The identifiers of the new documents in a bulk request. API v1 answers with a row for each document, and
  /// only new ones have an `_id`. Nil if the row of a document is missing.
  static func new(_ answer: ExchangeAnswer, of identifiers: [String]) -> Set<String>? {
    guard answer.status == 200 else { return nil }
    var (answered, new): (Set<String>, Set<String>) = ([], [])
    do throws(JSONError) {
      try JSONScanner.read(JSONValue.replacingLoneSurrogates(in: answer.body)) { (reader) throws(JSONError) in
        try reader.array { (reader) throws(JSONError) in
          let (identifier, isNew) = try row(&reader)
          guard let identifier else { return }
          answered.insert(identifier)
          if isNew { new.insert(identifier) }
        }
      }
    } catch {
      return nil
    }
    return identifiers.allSatisfy(answered.contains) ? new : nil
  }

  private static func row(
    _ reader: inout JSONScanner
  ) throws(JSONError) -> (identifier: String?, isNew: Bool) {
    var (identifier, isNew): (String?, Bool) = (nil, false)
    guard reader.peek() == UInt8(ascii: "{") else {
      try reader.skip()
      return (nil, false)
    }
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "identifier" where reader.peek() == UInt8(ascii: "\""): identifier = try reader.string()
      case "_id": isNew = try JSONValue(&reader) != .null
      default: return false
      }
      return true
    }
    return (identifier, isNew)
  }
}

/// The rights of a login, in the notation of Apache Shiro.
struct NightscoutRights: Hashable, Sendable {
  private let permissions: [[[Substring]]]

  /// Nil for any value that is not a list of lists of rights.
  init?(_ groups: JSONValue?) {
    guard let groups = groups?.items else { return nil }
    permissions = groups.flatMap { $0.items?.compactMap(\.text) ?? [] }.map { text in
      text.split(separator: ":").map { $0.split(separator: ",") }
    }
  }

  /// Whether the rights include this right, such as `api:entries:create`.
  func covers(_ right: String) -> Bool {
    let parts = right.split(separator: ":")
    return permissions.contains { permission in
      permission.enumerated().allSatisfy { place, words in
        words.contains("*") || (place < parts.count && words.contains(parts[place]))
      }
    }
  }

  /// The rights that an upload needs, as a person types them for a role of the site.
  static let needed =
    ["create", "read", "update"].map { "api:entries:\($0)" }
    + ["create", "read", "update", "delete"].map { "api:treatments:\($0)" }

  /// The needed rights that the login lacks.
  var missing: [String] { Self.needed.filter { !covers($0) } }

  /// Whether the login may send any items.
  var maySend: Bool { covers("api:entries:create") && covers("api:treatments:create") }
}
