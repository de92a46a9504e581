// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
import NIOHTTP1

/// What is needed to request a document from a source.
package struct SourceLogin: Sendable {
  /// The secret, and how it is sent.
  package enum Credential: Sendable {
    /// The server requires no secret.
    case none
    /// A token in the header `Authorization: Bearer`.
    case bearer(Token)
    /// A password for basic authentication (RFC 7617).
    case password(user: String, Token)
    /// A token as the value of a header with this name.
    case header(name: String, Token)

    /// The secret; `none` if there is none.
    var token: Token {
      switch self {
      case .none: .none
      case .bearer(let token), .password(_, let token), .header(_, let token): token
      }
    }

    var headers: HTTPHeaders {
      switch self {
      case .none: [:]
      case .bearer(let token): ["Authorization": "Bearer \(token.text)"]
      case .password(let user, let token):
        ["Authorization": "Basic \(Data("\(user):\(token.text)".utf8).base64EncodedString())"]
      case .header(let name, let token): [name: token.text]
      }
    }

    /// Whether a text is the name of a header that may contain a secret. Other headers are refused, since
    /// they would change which document is requested, or from which host.
    package static func isHeaderName(_ name: String) -> Bool {
      let isToken = name.utf8.allSatisfy {
        ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == 0x2D || $0 == 0x5F
      }
      return isToken && (1...64).contains(name.utf8.count) && !reserved.contains(name.lowercased())
    }
    private static let reserved: Set<String> = [
      "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "if-none-match",
      "if-modified-since", "user-agent", "te", "trailer", "upgrade", "proxy-authorization", "range", "expect",
    ]
  }

  /// The address of the document.
  package let address: SourceAddress
  /// The secret, and how it is sent.
  package let credential: Credential
  /// The connection to the server. Its token is the secret of `credential`, so that the exchange removes it
  /// from messages.
  package var server: RemoteLogin

  /// - Parameters:
  ///   - agent: the program's name and version.
  ///   - authorities: the path of a file with the only trusted authorities; nil for those that the system
  ///     trusts.
  package init(_ address: SourceAddress, _ credential: Credential, agent: String, authorities: String?) {
    (self.address, self.credential) = (address, credential)
    server = RemoteLogin(
      address: address.server, token: credential.token, agent: agent, authorities: authorities)
  }
}

/// The answer of a source, without its body.
package struct SourceAnswer: Sendable {
  /// Whether the document has not changed since the stored answer.
  package let isUnchanged: Bool
  /// The entity tag (`ETag`), which the next request repeats; nil without one.
  package let entityTag: String?
  /// The header `Last-Modified`, which the next request repeats; nil without one.
  package let lastModified: String?
  /// Whether the answer states where its body ends. If it does not, a lost connection cannot be distinguished
  /// from the end of the body.
  package let statesEnd: Bool
}

/// The failure of a request to a source.
package struct SourceFailure: Error {
  /// The failure, with its message for people.
  package let failure: Failure
  /// How long the source asks to wait, in seconds; nil if it does not ask.
  package let retryAfterSeconds: Int?

  /// A failure, and how long the source asks to wait.
  package init(_ failure: Failure, retryAfterSeconds: Int? = nil) {
    (self.failure, self.retryAfterSeconds) = (failure, retryAfterSeconds)
  }

  /// The failure for an error of the exchange.
  package init(_ error: ServiceError, host: String) {
    failure = Failure(error, host: host)
    if case .busy(_, let seconds) = error {
      retryAfterSeconds = seconds.map { min(max($0, 0), RetryAfter.maxSeconds) }
    } else {
      retryAfterSeconds = nil
    }
  }
}

/// Requests one document from a source by HTTP.
package enum SourceExchange {
  /// The maximum size of a body in bytes.
  package static let maxBytes = 64 << 20
  /// The maximum number of bytes that are read of an unsuccessful answer's body.
  private static let maxRefusalBytes = 64 << 10
  /// The maximum number of redirections that are followed on one server.
  private static let maxRedirects = 3

  /// Requests the document.
  ///
  /// - Parameters:
  ///   - known: the entity tag and the time of the last change in the stored answer. With them, an unchanged
  ///     document is not sent again.
  ///   - refusal: returns the failure that the body of an unsuccessful answer states; nil if it states none.
  ///   - write: receives the body of a successful answer piece by piece. If the request fails, it may have
  ///     received a part.
  /// - Throws: `SourceFailure`, and errors of `write`.
  package static func fetch(
    _ login: SourceLogin, known: (entityTag: String?, lastModified: String?),
    refusal: (_ body: [UInt8]) -> SourceFailure?,
    isolation: isolated (any Actor)? = #isolation, write: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> SourceAnswer {
    var limits = ExchangeLimits()
    limits.bodyBytes = maxBytes
    do {
      return try await PooledHTTPTransport.with(login.server, limits: limits) { transport in
        var address = login.address
        for _ in 0...maxRedirects {
          let request = request(to: address, login, known)
          var bytes: [UInt8] = []
          let head = try await transport.stream(request, maxRefusalBytes: maxRefusalBytes) {
            piece, isSuccess in
            if isSuccess { try write(piece) } else { bytes += piece }
          }
          guard [301, 302, 303, 307, 308].contains(head.status),
            let location = head.headers.first(name: "Location"),
            let next = address.redirected(to: location)
          else {
            return try answer(head, bytes, RemoteExchange(login.server, over: transport), known, refusal)
          }
          address = next
        }
        throw SourceFailure(
          Failure(.protocolViolation, "\(login.address.server.host): it redirects in a circle"))
      }
    } catch let error as ServiceError {
      throw SourceFailure(error, host: login.address.server.host)
    } catch let failure as Failure {
      throw SourceFailure(failure)
    }
  }

  private static func request(
    to address: SourceAddress, _ login: SourceLogin, _ known: (entityTag: String?, lastModified: String?)
  ) -> ExchangeRequest {
    var headers = login.credential.headers
    if let tag = known.entityTag { headers.add(name: "If-None-Match", value: tag) }
    if let date = known.lastModified { headers.add(name: "If-Modified-Since", value: date) }
    return ExchangeRequest(path: address.target, headers: headers)
  }

  private static func answer(
    _ head: ExchangeAnswer, _ body: [UInt8], _ exchange: RemoteExchange,
    _ known: (entityTag: String?, lastModified: String?), _ refusal: ([UInt8]) -> SourceFailure?
  ) throws -> SourceAnswer {
    let host = exchange.address.host
    switch head.status {
    case 200:
      let isChunked = head.headers.first(name: "Transfer-Encoding")?.lowercased().contains("chunked") == true
      return SourceAnswer(
        isUnchanged: false, entityTag: validator(head, "ETag"),
        lastModified: validator(head, "Last-Modified"),
        statesEnd: isChunked || head.headers.contains(name: "Content-Length"))
    case 304 where known.entityTag != nil || known.lastModified != nil:
      // An answer without these headers means that those of the stored answer are still valid.
      return SourceAnswer(
        isUnchanged: true, entityTag: validator(head, "ETag") ?? known.entityTag,
        lastModified: validator(head, "Last-Modified") ?? known.lastModified, statesEnd: true)
    case 404, 410:
      throw SourceFailure(
        Failure(
          .protocolViolation,
          "\(host): there is nothing at this address (status \(head.status)); check its path"))
    default: break
    }
    if !statusExplainsMore(head, than: body), var found = refusal(body) {
      if found.retryAfterSeconds == nil, let seconds = exchange.retryAfter(head) {
        found = SourceFailure(found.failure, retryAfterSeconds: min(max(seconds, 0), RetryAfter.maxSeconds))
      }
      throw found
    }
    switch head.status {
    case 401, 403:
      throw SourceFailure(
        Failure(
          .permission,
          "\(host): it rejects the login with status \(head.status); check the password or the token, and run 'glucoport source set' again"
        ))
    case 400..<500 where ![408, 413, 429].contains(head.status), 200..<300, 304:
      throw SourceFailure(
        Failure(
          .protocolViolation,
          "\(host): it answers with status \(head.status), which is unexpected; check the address"))
    default: throw SourceFailure(exchange.serviceError(for: head), host: host)
    }
  }

  /// Whether the status explains the failure better than the body. This is so if the body is a page for
  /// people: web servers send one with a redirection, a rejected login or an overload.
  private static func statusExplainsMore(_ head: ExchangeAnswer, than body: [UInt8]) -> Bool {
    guard body.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) == UInt8(ascii: "<") else {
      return false
    }
    return switch head.status {
    case 300..<400, 401, 408, 429, 500...: true
    // Without the header `WWW-Authenticate`, the login was not the reason. The answer may come from a service
    // that excludes programs, and its body may explain this.
    case 403: head.headers.contains(name: "WWW-Authenticate")
    default: false
    }
  }

  /// The value of a header that the next request repeats; nil for a value that no request can contain.
  private static func validator(_ head: ExchangeAnswer, _ name: String) -> String? {
    head.headers.first(name: name).flatMap { value in
      (1...256).contains(value.utf8.count) && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? value : nil
    }
  }
}
