// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Logbook
import LogbookAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A request to a remote.
struct ExchangeRequest: Sendable {
  var method = HTTPMethod.GET
  /// Behind the address: path and query.
  var path: String
  var headers: HTTPHeaders = [:]
  var body: [UInt8]?
  /// Whether the remote is known to take a body that is packed by gzip.
  var mayBePacked = true
}

/// A remote's answer, whatever its status, with its body unpacked.
struct ExchangeAnswer: Sendable {
  var status: Int
  var headers: HTTPHeaders
  var body: [UInt8]
}

/// HTTP exchanges with one remote: bounded in time and size, never redirected, never repeated, and told without the
/// login's secret. It knows nothing of any remote's protocol.
struct RemoteExchange: Sendable {
  /// Smaller bodies go as they are.
  private static let packedFrom = 1024

  /// For messages, and for the base of every request.
  let address: RemoteAddress
  private let client: HTTPClient
  private let token: Token
  private let limits: ExchangeLimits
  private let agent: String

  /// Runs a body with exchanges, on one thread of their own that ends with it.
  static func with<Value>(
    _ login: RemoteLogin, limits: ExchangeLimits = ExchangeLimits(),
    isolation: isolated (any Actor)? = #isolation, _ body: (RemoteExchange) async throws -> Value
  ) async throws -> Value {
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let result: Result<Value, any Error>
    do {
      result = .success(
        try await HTTPClient.withHTTPClient(eventLoopGroup: threads, configuration: configuration(limits)) {
          try await body(
            RemoteExchange(
              address: login.address, client: $0, token: login.token, limits: limits, agent: login.agent))
        })
    } catch {
      result = .failure(error)
    }
    try await threads.shutdownGracefully()
    return try result.get()
  }

  /// Sends a request and takes its answer.
  func send(_ request: ExchangeRequest) async throws(RemoteError) -> ExchangeAnswer {
    // A server counts the unpacked bytes, too, and need not be asked.
    guard request.body?.count ?? 0 <= limits.bodyBytes else { throw .tooLarge }
    let end = ContinuousClock.now + limits.whole
    do {
      let response = try await client.execute(prepared(request), deadline: .now() + TimeAmount(limits.whole))
      let body = try await collect(response, until: end)
      return ExchangeAnswer(
        status: Int(response.status.code), headers: response.headers,
        body: try unpacked(body, response.headers))
    } catch {
      throw (error as? RemoteError) ?? problem(error)
    }
  }

  /// A remote's words as they may be told: bounded, on one line, without the secret.
  func quoted(_ words: String) -> String {
    // Redacted before it is cut: half a secret is none, and would not be found.
    let line = token.redacted(words).unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : $0
    }
    return String(String.UnicodeScalarView(line.prefix(200)))
  }

  /// A failure of this remote: its host, then what went wrong.
  func unavailable(_ reason: String) -> RemoteError { .unavailable("\(address.host): \(reason)") }
  /// A breach of the protocol: the remote's host, then what went wrong.
  func violation(_ reason: String) -> RemoteError { .protocolViolation("\(address.host): \(reason)") }
}

extension RemoteExchange {
  private static func configuration(_ limits: ExchangeLimits) -> HTTPClient.Configuration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: .init(
        connect: TimeAmount(limits.connect), read: TimeAmount(limits.idle), write: TimeAmount(limits.idle)),
      // Shorter than servers keep idle connections, which is 5 s in Node.js, so that no request meets one that is just
      // being closed.
      connectionPool: .init(idleTimeout: .seconds(4)))
    // When to try again is the caller's to decide.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return configuration
  }

  private func prepared(_ request: ExchangeRequest) -> HTTPClientRequest {
    var prepared = HTTPClientRequest(url: address.text + request.path)
    prepared.method = request.method
    prepared.headers = request.headers
    prepared.headers.add(name: "User-Agent", value: agent)
    prepared.headers.add(name: "Accept-Encoding", value: "gzip")
    guard let body = request.body else { return prepared }
    if request.mayBePacked, body.count >= Self.packedFrom, let packed = WireGzip.pack(body) {
      prepared.headers.add(name: "Content-Encoding", value: "gzip")
      prepared.body = .bytes(ByteBuffer(bytes: packed))
    } else {
      prepared.body = .bytes(ByteBuffer(bytes: body))
    }
    return prepared
  }

  /// The client's own deadline ends with the answer's head, so that the body is timed here: the client's limit for
  /// idle connections bounds the wait for each piece.
  private func collect(
    _ response: HTTPClientResponse, until end: ContinuousClock.Instant
  ) async throws -> [UInt8] {
    let length = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
    guard length <= limits.bodyBytes else { throw tooLong }
    var body: [UInt8] = []
    body.reserveCapacity(max(0, length))
    for try await piece in response.body {
      guard body.count + piece.readableBytes <= limits.bodyBytes else { throw tooLong }
      guard ContinuousClock.now < end else { throw HTTPClientError.deadlineExceeded }
      body.append(contentsOf: piece.readableBytesView)
    }
    return body
  }

  private func unpacked(_ body: [UInt8], _ headers: HTTPHeaders) throws(RemoteError) -> [UInt8] {
    switch headers.first(name: "Content-Encoding")?.lowercased() {
    case nil, "identity": return body
    case "gzip" where body.isEmpty: return body
    case "gzip":
      do throws(WireGzip.Problem) {
        return try WireGzip.unpack(body, limit: limits.bodyBytes)
      } catch {
        throw error == .tooLarge ? tooLong : violation("its answer is packed by gzip and damaged")
      }
    default: throw violation("its answer is packed in a way that was not asked for")
    }
  }

  private var tooLong: RemoteError { violation("its answer is longer than \(limits.bodyBytes) bytes") }
}

extension TimeAmount {
  init(_ duration: Duration) { self = .nanoseconds(Int64(duration / .nanoseconds(1))) }
}
