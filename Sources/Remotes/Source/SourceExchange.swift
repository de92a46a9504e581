// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
import NIOHTTP1

/// How a source is asked for a document.
package struct SourceLogin: Sendable {
  /// The secret, and what it is to the server.
  package enum Credential: Sendable {
    /// The server asks for none.
    case none
    /// `Authorization: Bearer`.
    case bearer(Token)
    /// A password, for the basic authentication of RFC 7617.
    case password(user: String, Token)
    /// The value of a header.
    case header(name: String, Token)

    /// The secret.
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

    /// Whether a text is the name of a header that may have a secret. Others would change what is asked for, or whom.
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

  /// The document.
  package let address: SourceAddress
  /// The secret.
  package let credential: Credential
  /// What is needed for a connection; its token is the secret, so that no message contains it.
  package var server: RemoteLogin

  /// - Parameters:
  ///   - agent: the program's name and version.
  ///   - authorities: the file with the only trusted certificates of authorities; nil for those that the system trusts.
  package init(_ address: SourceAddress, _ credential: Credential, agent: String, authorities: String?) {
    (self.address, self.credential) = (address, credential)
    server = RemoteLogin(
      address: address.server, token: credential.token, agent: agent, authorities: authorities)
  }
}

/// What a source answered, without its body.
package struct SourceAnswer: Sendable {
  /// Whether the document is still the one that the request named.
  package let isUnchanged: Bool
  /// The entity tag for the next request; nil without one.
  package let entityTag: String?
  /// The time of the last change for the next request; nil without one.
  package let lastModified: String?
  /// Whether the protocol states where the body ends. Without a length, a lost connection looks like an end.
  package let statesEnd: Bool
}

/// A failed request to a source.
package struct SourceFailure: Error {
  /// The failure for people.
  package let failure: Failure
  /// How long the source asks to wait, in seconds; nil if it does not.
  package let retryAfterSeconds: Int?

  /// A failure, and how long the source asks to wait.
  package init(_ failure: Failure, retryAfterSeconds: Int? = nil) {
    (self.failure, self.retryAfterSeconds) = (failure, retryAfterSeconds)
  }

  /// The failure for an error of a service.
  package init(_ error: ServiceError, host: String) {
    failure = Failure(error, host: host)
    if case .busy(_, let seconds) = error {
      retryAfterSeconds = seconds.map { min(max($0, 0), RetryAfter.maxSeconds) }
    } else {
      retryAfterSeconds = nil
    }
  }
}

/// Asks a source for one document by HTTP.
package enum SourceExchange {
  /// The maximum size of a body.
  package static let maxBytes = 64 << 20
  /// How much of the body of an answer without success is read.
  private static let maxRefusalBytes = 64 << 10
  /// The maximum number of redirections on one server.
  private static let maxRedirects = 3

  /// Sends the request.
  ///
  /// - Parameters:
  ///   - known: the entity tag and the time of the last change of the document that is stored.
  ///   - refusal: returns the failure that the body of an answer without success states; nil if it states none.
  ///   - write: receives the body of a success piece by piece. It may have received a part of one that fails.
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
      // It may leave out the validators, which are still those of the stored answer.
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
    if !saysMore(head, than: body), var found = refusal(body) {
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

  /// Whether the status says more than the body. Web servers add a page for people to a redirection, to a rejected login and to
  /// an overload.
  private static func saysMore(_ head: ExchangeAnswer, than body: [UInt8]) -> Bool {
    guard body.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) == UInt8(ascii: "<") else {
      return false
    }
    return switch head.status {
    case 300..<400, 401, 408, 429, 500...: true
    // Without a challenge it is not a question of the login, as of a service that shuts programs out.
    case 403: head.headers.contains(name: "WWW-Authenticate")
    default: false
    }
  }

  /// The value of a header that a later request repeats; nil for a value that no request may have.
  private static func validator(_ head: ExchangeAnswer, _ name: String) -> String? {
    head.headers.first(name: name).flatMap { value in
      (1...256).contains(value.utf8.count) && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? value : nil
    }
  }
}
