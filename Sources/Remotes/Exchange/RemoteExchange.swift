// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Exchanges with one remote, reported without the login's secret. It knows nothing of any remote's protocol.
struct RemoteExchange: Sendable {
  /// For messages.
  let address: RemoteAddress
  private let token: Token
  private let transport: any HTTPTransport

  /// Exchanges over any transport.
  init(_ login: RemoteLogin, over transport: any HTTPTransport) {
    address = login.address
    token = login.token
    self.transport = transport
  }

  /// Runs a body with exchanges over the network, on one thread of their own that ends with it.
  static func with<Value>(
    _ login: RemoteLogin, limits: ExchangeLimits = ExchangeLimits(),
    isolation: isolated (any Actor)? = #isolation, _ body: (RemoteExchange) async throws -> Value
  ) async throws -> Value {
    try await PooledHTTPTransport.with(login, limits: limits) {
      try await body(RemoteExchange(login, over: $0))
    }
  }

  /// Sends a request and takes its answer.
  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    try await transport.carry(request)
  }

  /// A remote's words as they may be reported: bounded, on one line, without the secret.
  func quoted(_ words: String) -> String {
    // Redacted before it is cut: half a secret is none, and would not be found.
    let line = token.redacted(words).unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : $0
    }
    return String(String.UnicodeScalarView(line.prefix(200)))
  }

  func unavailable(_ reason: String) -> ServiceError { address.unavailable(reason) }
  func violation(_ reason: String) -> ServiceError { address.violation(reason) }
}

extension RemoteAddress {
  /// A failure of this remote: its host, then what went wrong.
  func unavailable(_ reason: String) -> ServiceError { .unavailable("\(host): \(reason)") }
  /// A breach of the protocol: the remote's host, then what went wrong.
  func violation(_ reason: String) -> ServiceError { .protocolViolation("\(host): \(reason)") }
}
