// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Glibc
import Logbook
import LogbookAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Sends requests by HTTP, within limits of time and size. Redirections are not followed. A request is not
/// repeated, except one for which `DirectExchange` returned nil. The type does not depend on the protocol of
/// a remote.
struct PooledHTTPTransport: HTTPTransport {
  /// The minimum size in bytes of a body that is compressed.
  private static let packedFrom = 1024

  /// The address of the remote. The addresses of all requests begin with it, and so do error messages.
  let address: RemoteAddress
  /// The proxy, which error messages name; nil without one.
  let proxy: RemoteProxy?
  /// Whether this client has a certificate. Error messages mention the certificate.
  let hasCertificate: Bool
  /// Whether only the authorities in a file are trusted. Error messages mention this.
  let hasAuthorities: Bool
  private let pool: LazyPool
  /// Sends the first request of a run, and blocks the thread until the answer. Nil if the thread must not be
  /// blocked, or the address is not suitable.
  private let direct: DirectExchange?
  private let limits: ExchangeLimits
  private let agent: String
  private let traffic: Traffic
  /// When the time limit of the whole run ends; nil without a limit.
  private let lastEnd: ContinuousClock.Instant?

  /// Runs `body` with a transport to a remote. A thread for connections is started when a request needs it,
  /// and ends with `body`.
  static func with<Value>(
    _ login: RemoteLogin, limits: ExchangeLimits,
    isolation: isolated (any Actor)? = #isolation, _ body: (PooledHTTPTransport) async throws -> Value
  ) async throws -> Value {
    let (tls, proxy) = (try certificates(login), login.proxy)
    let pool = LazyPool { configuration(limits, tls ?? .makeClientConfiguration(), proxy) }
    let transport = PooledHTTPTransport(
      address: login.address, proxy: login.proxy, hasCertificate: login.clientCertificate != nil,
      hasAuthorities: login.authorities != nil, pool: pool,
      direct: login.mayBlock && login.proxy == nil ? DirectExchange(login.address, limits: limits) : nil,
      limits: limits, agent: login.agent, traffic: login.traffic, lastEnd: login.end)
    let result: Result<Value, any Error>
    do {
      result = .success(try await body(transport))
    } catch {
      result = .failure(error)
    }
    do {
      try await pool.shutDown()
    } catch {
      // If `body` failed, its error is thrown, since it is more precise than the error of shutting down the
      // client.
      _ = try result.get()
      throw error
    }
    return try result.get()
  }

  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    // Servers also limit the size of bodies after decompression, so they would refuse a larger body even if
    // it was compressed.
    guard request.body?.count ?? 0 <= limits.bodyBytes else { throw .tooLarge }
    let start = ContinuousClock.now
    let end = min(start + limits.whole, lastEnd ?? start + limits.whole)
    guard start < end else { throw address.unavailable("the time for this run is over") }
    if let answer = try directAnswer(to: request, until: end) { return answer }
    do {
      let response = try await pool.client().execute(
        prepared(request), deadline: .now() + TimeAmount(end - start))
      let body = try await collect(response, until: end)
      return ExchangeAnswer(
        status: Int(response.status.code), headers: response.headers,
        body: try unpacked(body, response.headers))
    } catch {
      throw (error as? ServiceError) ?? serviceError(for: error)
    }
  }
}

extension PooledHTTPTransport {
  /// Sends one request exactly once, and passes the body of the answer to `receive` piece by piece, without
  /// decompressing it.
  ///
  /// - Parameters:
  ///   - maxRefusalBytes: the maximum number of bytes that are read of a body if the status is not 200.
  ///   - receive: receives a piece, and whether the status is 200.
  /// - Returns: the answer without its body.
  /// - Throws: `ServiceError`, and errors of `receive`.
  func stream(
    _ request: ExchangeRequest, maxRefusalBytes: Int,
    _ receive: (UnsafeRawBufferPointer, _ isSuccess: Bool) throws -> Void
  ) async throws -> ExchangeAnswer {
    let start = ContinuousClock.now
    let end = min(start + limits.whole, lastEnd ?? start + limits.whole)
    guard start < end else { throw address.unavailable("the time for this run is over") }
    var isReceiving = false
    do {
      var prepared = prepared(request)
      // Compression is not requested, since the size of the document would be unknown until it is
      // decompressed. The import itself decompresses files, with limits.
      prepared.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
      let response = try await pool.client().execute(prepared, deadline: .now() + TimeAmount(end - start))
      let isSuccess = response.status == .ok
      let limit = isSuccess ? limits.bodyBytes : maxRefusalBytes
      let length = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
      guard !isSuccess || length <= limit else { throw address.tooLong(limits) }
      var count = 0
      for try await piece in response.body {
        // The time limit of the HTTP client only applies until the head of the answer has arrived. So the
        // limit for a slow body is checked here.
        guard ContinuousClock.now < end else { throw HTTPClientError.deadlineExceeded }
        count += piece.readableBytes
        traffic.addReceived(bytes: piece.readableBytes)
        guard count <= limit else {
          if isSuccess { throw address.tooLong(limits) }
          break
        }
        isReceiving = true
        try piece.withUnsafeReadableBytes { try receive($0, isSuccess) }
        isReceiving = false
      }
      return ExchangeAnswer(status: Int(response.status.code), headers: response.headers, body: [])
    } catch {
      if isReceiving { throw error }
      throw (error as? ServiceError) ?? serviceError(for: error)
    }
  }
}

extension PooledHTTPTransport {
  /// The TLS settings with the certificates that a login names; nil if it names none.
  private static func certificates(_ login: RemoteLogin) throws(Failure) -> TLSConfiguration? {
    guard login.authorities != nil || login.clientCertificate != nil else { return nil }
    var tls = TLSConfiguration.makeClientConfiguration()
    if let authorities = login.authorities {
      tls.trustRoots = .certificates(try CertificateFiles.authorities(authorities))
    }
    if let certificate = login.clientCertificate { try CertificateFiles.join(certificate, &tls) }
    return tls
  }

  private static func configuration(
    _ limits: ExchangeLimits, _ tls: TLSConfiguration, _ proxy: RemoteProxy?
  ) -> HTTPClient.Configuration {
    var tls = tls
    tls.minimumTLSVersion = .tlsv12
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: .init(
        connect: TimeAmount(limits.connect), read: TimeAmount(limits.idle), write: TimeAmount(limits.idle)),
      // Unused connections are closed after 4 s. Servers close them later, for example Node.js after 5 s, so
      // no request uses a connection that the server is closing.
      connectionPool: .init(idleTimeout: .seconds(4)))
    // The HTTP client does not retry, since the caller decides when to retry.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    configuration.proxy = proxy.map(HTTPClient.Configuration.Proxy.init)
    return configuration
  }

  /// The answer to the run's first request, if it has no body and can be sent without the pool; otherwise
  /// nil.
  private func directAnswer(
    to request: ExchangeRequest, until end: ContinuousClock.Instant
  ) throws(ServiceError) -> ExchangeAnswer? {
    guard pool.isFirstUse(), let direct, request.method == .GET, request.body == nil,
      var answer = try direct.answer(to: request.path, headers(of: request), until: end, traffic)
    else { return nil }
    traffic.addReceived(bytes: answer.body.count)
    answer.body = try unpacked(answer.body, answer.headers)
    return answer
  }

  private func headers(of request: ExchangeRequest) -> HTTPHeaders {
    var headers = request.headers
    headers.add(name: "User-Agent", value: agent)
    headers.add(name: "Accept-Encoding", value: "gzip")
    return headers
  }

  private func prepared(_ request: ExchangeRequest) -> HTTPClientRequest {
    var prepared = HTTPClientRequest(url: address.text + request.path)
    prepared.method = request.method
    prepared.headers = headers(of: request)
    var bytes = request.body ?? []
    if request.mayBePacked, bytes.count >= Self.packedFrom, let packed = WireGzip.pack(bytes) {
      prepared.headers.add(name: "Content-Encoding", value: "gzip")
      bytes = packed
    }
    if request.body != nil { prepared.body = .bytes(ByteBuffer(bytes: bytes)) }
    traffic.addRequest(bytes: bytes.count)
    return prepared
  }

  /// Receives the body within the time limit. The time limit of the HTTP client only applies until the head
  /// of the answer has arrived.
  private func collect(
    _ response: HTTPClientResponse, until end: ContinuousClock.Instant
  ) async throws -> [UInt8] {
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask { try await collect(response) }
      group.addTask {
        try await Task.sleep(until: end)
        throw HTTPClientError.deadlineExceeded
      }
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }

  private func collect(_ response: HTTPClientResponse) async throws -> [UInt8] {
    let length = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
    guard length <= limits.bodyBytes else { throw address.tooLong(limits) }
    var body: [UInt8] = []
    body.reserveCapacity(max(0, length))
    for try await piece in response.body {
      guard body.count + piece.readableBytes <= limits.bodyBytes else { throw address.tooLong(limits) }
      traffic.addReceived(bytes: piece.readableBytes)
      body.append(contentsOf: piece.readableBytesView)
    }
    return body
  }

  private func unpacked(_ body: [UInt8], _ headers: HTTPHeaders) throws(ServiceError) -> [UInt8] {
    switch headers.first(name: "Content-Encoding")?.lowercased() {
    case nil, "identity": return body
    case "gzip" where body.isEmpty: return body
    case "gzip":
      do throws(WireGzip.Problem) {
        return try WireGzip.unpack(body, limit: limits.bodyBytes)
      } catch {
        throw error == .tooLarge
          ? address.tooLong(limits) : address.violation("the gzip data of its answer are damaged")
      }
    default: throw address.violation("its answer has an unexpected encoding")
    }
  }
}

/// A pool of connections with its thread. Both are created by the first request that needs them.
private final class LazyPool: Sendable {
  private struct Pool {
    let threads: MultiThreadedEventLoopGroup
    let client: HTTPClient
  }

  private let configuration: @Sendable () -> HTTPClient.Configuration
  /// The pool. While the lock is held, a first request creates the pool, which calls nothing of this type.
  private let pool = Mutex<Pool?>(nil)
  private let isUsed = Atomic(false)

  /// - Parameter configuration: returns the settings of the pool. It is called when the pool is created.
  init(_ configuration: @escaping @Sendable () -> HTTPClient.Configuration) {
    self.configuration = configuration
  }

  /// Whether this is the first call, so that no request was sent yet. All later calls return false.
  func isFirstUse() -> Bool { !isUsed.exchange(true, ordering: .relaxed) }

  func client() -> HTTPClient {
    pool.withLock { pool in
      if let pool { return pool.client }
      let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let client = HTTPClient(eventLoopGroupProvider: .shared(threads), configuration: configuration())
      pool = Pool(threads: threads, client: client)
      return client
    }
  }

  func shutDown() async throws {
    guard let pool = pool.withLock({ $0 }) else { return }
    do {
      try await pool.client.shutdown()
    } catch {
      try await pool.threads.shutdownGracefully()
      throw error
    }
    try await pool.threads.shutdownGracefully()
  }
}

extension HTTPClient.Configuration.Proxy {
  fileprivate init(_ proxy: RemoteProxy) {
    switch proxy.kind {
    case .socks: self = .socksServer(host: proxy.host, port: proxy.port)
    case .http:
      let login = proxy.login.map {
        HTTPClient.Authorization.basic(username: $0.user, password: $0.password)
      }
      self = .server(host: proxy.host, port: proxy.port, authorization: login)
    }
  }
}

extension TimeAmount {
  init(_ duration: Duration) { self = .nanoseconds(Int64(duration / .nanoseconds(1))) }
}

extension PooledHTTPTransport {
  /// The error for a caller. The message of the HTTP client is never shown, since it may contain the address
  /// of the request.
  func serviceError(for error: any Error) -> ServiceError {
    switch error {
    case let error as HTTPClientError: serviceError(for: error)
    case let error as NIOConnectionError: address.unavailable(reason(error))
    case HTTPParserError.invalidEOFState:
      address.unavailable("connection lost during the answer")
    case is HTTPParserError: address.violation("its answer is not HTTP")
    case ChannelError.connectTimeout: address.unavailable("cannot connect\(way): connection timed out")
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: address.unavailable(tlsReason)
    case is CancellationError: address.unavailable("the exchange was cancelled")
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      address.unavailable("cannot connect: \(Self.text(ECONNREFUSED)); is the server running?")
    case let error as IOError: address.unavailable("connection lost: \(Self.text(error.errnoCode))")
    default: address.unavailable("connection lost\(way)")
    }
  }

  private func serviceError(for error: HTTPClientError) -> ServiceError {
    switch error {
    case .proxyAuthenticationRequired:
      address.unavailable(
        proxy?.login == nil
          ? "the proxy \(proxyName) needs a user and a password: set HTTPS_PROXY to http://user:password@host:port"
          : "the proxy \(proxyName) rejected the user and the password of its variable")
    case .invalidProxyResponse:
      address.unavailable("the proxy \(proxyName) does not open a connection to the server")
    case .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
      address.unavailable("the proxy \(proxyName) did not answer in time")
    case .connectTimeout, .getConnectionFromPoolTimeout:
      address.unavailable("cannot connect\(way): connection timed out")
    case .tlsHandshakeTimeout: address.unavailable(tlsReason)
    case .deadlineExceeded, .readTimeout: address.unavailable("it did not answer in time")
    case .writeTimeout: address.unavailable("it did not accept the request in time")
    case .remoteConnectionClosed, .uncleanShutdown:
      address.unavailable("it closed the connection\(way) without an answer")
    case .cancelled: address.unavailable("the exchange was cancelled")
    default: address.unavailable("connection lost\(way)")
    }
  }

  private var tlsReason: String {
    let trust =
      hasAuthorities ? "that the CA file of the remote trusts" : "that this system trusts, or --ca-file"
    let client =
      hasCertificate ? "it may have rejected the client certificate" : "it may ask for a client certificate"
    return
      "cannot establish an encrypted connection: the server must offer TLS 1.2 or newer on this port, and a certificate of this host \(trust); \(client)"
  }

  private var proxyName: String { proxy.map { "\($0)" } ?? "" }

  /// The end of an error message that names the proxy, since the proxy may be the cause of the error.
  private var way: String { proxy.map { " through the proxy \($0)" } ?? "" }

  private func reason(_ error: NIOConnectionError) -> String {
    let place = proxy.map { "cannot connect to the proxy \($0)" } ?? "cannot connect"
    if let code = error.connectionErrors.lazy.compactMap({ ($0.error as? IOError)?.errnoCode }).first {
      let question = code == ECONNREFUSED ? "; is \(proxy == nil ? "the server" : "it") running?" : ""
      return "\(place): \(Self.text(code))\(question)"
    }
    if error.connectionErrors.isEmpty { return "\(place): unknown host name" }
    return "\(place): connection timed out"
  }

  private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }
}
