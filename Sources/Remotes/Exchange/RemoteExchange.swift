// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import NIOHTTP1

/// Exchanges requests and answers with one remote. Its errors never contain the secret of the login. The type
/// does not depend on the protocol of a remote.
struct RemoteExchange: Sendable {
  /// The address of the remote, with which messages begin.
  let address: RemoteAddress
  private let token: Token
  private let transport: any HTTPTransport

  /// - Parameter transport: sends the requests, over the network or to a server of a test.
  init(_ login: RemoteLogin, over transport: any HTTPTransport) {
    address = login.address
    token = login.token
    self.transport = transport
  }

  /// Runs `body` with an exchange over the network. Its connections are closed when `body` ends.
  static func with<Value>(
    _ login: RemoteLogin, limits: ExchangeLimits = ExchangeLimits(),
    isolation: isolated (any Actor)? = #isolation, _ body: (RemoteExchange) async throws -> Value
  ) async throws -> Value {
    try await PooledHTTPTransport.with(login, limits: limits) {
      try await body(RemoteExchange(login, over: $0))
    }
  }

  /// Sends a request exactly once, and returns the answer.
  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    try await transport.send(request)
  }

  /// A text from a remote, prepared for messages: of limited length, on one line, and without the secret.
  func sanitised(_ words: String) -> String {
    // The secret is removed before the text is truncated, since a truncated secret would not be found.
    let line = token.redacted(words).unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : $0
    }
    return String(String.UnicodeScalarView(line.prefix(200)))
  }

  func unavailable(_ reason: String) -> ServiceError { address.unavailable(reason) }
  func violation(_ reason: String) -> ServiceError { address.violation(reason) }
}

extension RemoteAddress {
  /// The error for a remote that cannot be reached. The message begins with the remote's host.
  func unavailable(_ reason: String) -> ServiceError { .unavailable("\(host): \(reason)") }
  /// The error for a remote that violates its protocol. The message begins with the remote's host.
  func violation(_ reason: String) -> ServiceError { .protocolViolation("\(host): \(reason)") }
  /// The error for an answer with a body above the limit.
  func tooLong(_ limits: ExchangeLimits) -> ServiceError {
    violation("its answer is longer than \(limits.bodyBytes) bytes")
  }
}

extension RemoteExchange {
  /// The error for an unsuccessful answer, derived only from its status. The message states the meaning of
  /// the status in HTTP, and what proxies usually mean by it.
  ///
  /// - Parameter words: the remote's message; empty if the answer contains none.
  func serviceError(for answer: ExchangeAnswer, words: String = "") -> ServiceError {
    let said = words.isEmpty ? "it answers with status \(answer.status)" : sanitised(words)
    switch answer.status {
    // Other statuses of redirection have no target address, so they are treated as other errors.
    case 301, 302, 303, 307, 308: return redirection(answer)
    case 401, 403, 407: return .loginRefused("\(address.host): \(said)")
    case 408, 502, 504: return unavailable(said)
    case 413: return .tooLarge
    case 429, 503:
      return .busy("\(address.host): \(said)", retryAfterSeconds: retryAfter(answer))
    case 500...: return .serverFailure("\(address.host): \(said)")
    default: return violation(words.isEmpty ? "\(said), \(Self.advice)" : said)
    }
  }

  /// The end of the message for an unexpected status if the remote sent no message. It names the most
  /// frequent causes.
  private static let advice =
    "which is unexpected for this type of remote; check the address with its path, and the type ('glucoport remote set --type')"

  /// The number of seconds to wait before the next request, from the header `Retry-After`; nil without this
  /// header.
  func retryAfter(_ answer: ExchangeAnswer) -> Int? {
    RetryAfter.seconds(answer.headers.first(name: "Retry-After"), date: answer.headers.first(name: "Date"))
  }

  /// The error for a redirection. Its message names the target of the redirection. Redirections are not
  /// followed, so that a token is only sent to the configured host.
  private func redirection(_ answer: ExchangeAnswer) -> ServiceError {
    let target = answer.headers.first(name: "Location").flatMap { URLComponents(string: $0) }
    guard let host = target?.host, let scheme = target?.scheme else {
      return violation("it redirects to another address; redirects are not followed")
    }
    let port = target?.port.map { ":\($0)" } ?? ""
    return violation(
      "it redirects to \(sanitised("\(scheme)://\(host)\(port)")); redirects are not followed: use the final address"
    )
  }
}
