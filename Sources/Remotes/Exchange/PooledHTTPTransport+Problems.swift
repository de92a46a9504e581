// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Logbook
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension PooledHTTPTransport {
  /// What an error of the HTTP client means for the caller. The client's own words may hold the address of the request,
  /// so that none of them is told.
  func problem(_ error: any Error) -> ServiceError {
    switch error {
    case let error as HTTPClientError: problem(error)
    case let error as NIOConnectionError: address.unavailable(Self.reason(error))
    case HTTPParserError.invalidEOFState:
      address.unavailable("the connection broke off in the middle of its answer")
    case is HTTPParserError: address.violation("what it answers is no HTTP")
    case ChannelError.connectTimeout: address.unavailable("there is no connection in time")
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: address.unavailable(Self.tlsReason)
    case is CancellationError: address.unavailable("the exchange was cancelled")
    case let error as IOError: address.unavailable("the connection broke off: \(Self.text(error.errnoCode))")
    default: address.unavailable("the connection broke off")
    }
  }

  private func problem(_ error: HTTPClientError) -> ServiceError {
    switch error {
    case .connectTimeout, .getConnectionFromPoolTimeout: address.unavailable("there is no connection in time")
    case .tlsHandshakeTimeout: address.unavailable(Self.tlsReason)
    case .deadlineExceeded, .readTimeout: address.unavailable("it does not answer in time")
    case .writeTimeout: address.unavailable("it does not take the request in time")
    case .remoteConnectionClosed, .uncleanShutdown:
      address.unavailable("it closed the connection without an answer")
    case .cancelled: address.unavailable("the exchange was cancelled")
    default: address.unavailable("the connection broke off")
    }
  }

  private static let tlsReason =
    "there is no encrypted connection: does it speak TLS 1.2 or newer at this port, with a certificate that this system trusts?"

  private static func reason(_ error: NIOConnectionError) -> String {
    if let code = error.connectionErrors.lazy.compactMap({ ($0.error as? IOError)?.errnoCode }).first {
      return "cannot connect: \(text(code))"
    }
    if error.connectionErrors.isEmpty { return "cannot connect: this name has no address" }
    return "cannot connect: there is no connection in time"
  }

  private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }
}
