// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Glibc
import Logbook
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension PooledHTTPTransport {
  /// The error for the caller. The client's own message may contain the address of the request, so it is never shown.
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

  /// Names the proxy, which may be the cause instead of the remote.
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
