// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Exchanges with one remote, whose errors never contain the login's secret. It is independent of any remote's protocol.
struct RemoteExchange: Sendable {
  /// For messages.
  let address: RemoteAddress
  private let token: Token
  private let transport: any HTTPTransport

  /// - Parameter transport: any transport.
  init(_ login: RemoteLogin, over transport: any HTTPTransport) {
    address = login.address
    token = login.token
    self.transport = transport
  }

  /// Runs a body with exchanges over the network, on a separate thread that ends with the body.
  static func with<Value>(
    _ login: RemoteLogin, limits: ExchangeLimits = ExchangeLimits(),
    isolation: isolated (any Actor)? = #isolation, _ body: (RemoteExchange) async throws -> Value
  ) async throws -> Value {
    try await PooledHTTPTransport.with(login, limits: limits) {
      try await body(RemoteExchange(login, over: $0))
    }
  }

  /// Sends a request and returns its answer.
  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    try await transport.carry(request)
  }

  /// A remote's text for messages: limited, on one line, without the secret.
  func sanitised(_ words: String) -> String {
    // Redacted before truncation: a part of the secret would not be found.
    let line = token.redacted(words).unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : $0
    }
    return String(String.UnicodeScalarView(line.prefix(200)))
  }

  func unavailable(_ reason: String) -> ServiceError { address.unavailable(reason) }
  func violation(_ reason: String) -> ServiceError { address.violation(reason) }
}

extension RemoteAddress {
  /// An error of this remote, which begins with its host.
  func unavailable(_ reason: String) -> ServiceError { .unavailable("\(host): \(reason)") }
  /// A violation of the protocol by this remote; the message begins with its host.
  func violation(_ reason: String) -> ServiceError { .protocolViolation("\(host): \(reason)") }
}
