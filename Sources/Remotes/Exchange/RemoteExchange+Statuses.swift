// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import NIOHTTP1

extension RemoteExchange {
  /// What an answer means that is no success, by its status alone: what HTTP says, and what servers in front of the
  /// remote send.
  ///
  /// - Parameter words: the remote's own words, where its answer has some.
  func problem(_ answer: ExchangeAnswer, words: String = "") -> ServiceError {
    let said = words.isEmpty ? "it answers with status \(answer.status)" : quoted(words)
    switch answer.status {
    // The others of this class name no other place.
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

  /// What to do where something answers that says not even why: the most usual reasons.
  private static let advice =
    "which is unexpected for this type of remote; check the address with its path, and the type ('glucoport remote set --type')"

  /// How long the answer asks to wait.
  func retryAfter(_ answer: ExchangeAnswer) -> Int? {
    RetryAfter.seconds(answer.headers.first(name: "Retry-After"), date: answer.headers.first(name: "Date"))
  }

  /// A redirection is not followed, so that no token goes where nobody sent it; the message names its target.
  private func redirection(_ answer: ExchangeAnswer) -> ServiceError {
    let target = answer.headers.first(name: "Location").flatMap { URLComponents(string: $0) }
    guard let host = target?.host, let scheme = target?.scheme else {
      return violation("it redirects to another address; redirects are not followed")
    }
    let port = target?.port.map { ":\($0)" } ?? ""
    return violation(
      "it redirects to \(quoted("\(scheme)://\(host)\(port)")); redirects are not followed: set the remote to the final address"
    )
  }
}
