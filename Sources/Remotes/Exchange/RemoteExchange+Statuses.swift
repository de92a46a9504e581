// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import NIOHTTP1

extension RemoteExchange {
  /// The error for an answer without success, by its status only: its meaning in HTTP, and usual answers of proxies.
  ///
  /// - Parameter words: the remote's message, if its answer has one.
  func serviceError(for answer: ExchangeAnswer, words: String = "") -> ServiceError {
    let said = words.isEmpty ? "it answers with status \(answer.status)" : sanitised(words)
    switch answer.status {
    // Other redirections have no target.
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

  /// Advice about the most frequent reasons, for an answer that states no reason.
  private static let advice =
    "which is unexpected for this type of remote; check the address with its path, and the type ('glucoport remote set --type')"

  /// The seconds to wait that the answer asks for.
  func retryAfter(_ answer: ExchangeAnswer) -> Int? {
    RetryAfter.seconds(answer.headers.first(name: "Retry-After"), date: answer.headers.first(name: "Date"))
  }

  /// Redirections are not followed, so that a token is only sent to the configured host. The message states the target.
  private func redirection(_ answer: ExchangeAnswer) -> ServiceError {
    let target = answer.headers.first(name: "Location").flatMap { URLComponents(string: $0) }
    guard let host = target?.host, let scheme = target?.scheme else {
      return violation("it redirects to another address; redirects are not followed")
    }
    let port = target?.port.map { ":\($0)" } ?? ""
    return violation(
      "it redirects to \(sanitised("\(scheme)://\(host)\(port)")); redirects are not followed: set the remote to the final address"
    )
  }
}
