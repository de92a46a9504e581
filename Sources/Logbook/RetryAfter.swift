// SPDX-License-Identifier: Apache-2.0

/// The time to wait in an answer: the header `Retry-After` of RFC 9110 §10.2.3.
package enum RetryAfter {
  /// The maximum wait that a remote can request, in seconds: six hours. A longer one is reduced to it.
  package static let maxSeconds = 6 * 3600

  /// The seconds to wait; nil for an invalid value.
  ///
  /// - Parameter date: the answer's header `Date`. A date in `Retry-After` is relative to it, since it has the server's
  ///   clock.
  package static func seconds(_ value: String?, date: String?) -> Int? {
    guard var value = value?[...] else { return nil }
    while value.first == " " { value.removeFirst() }
    while value.last == " " { value.removeLast() }
    // A number that is too large for an integer is still a wait.
    if !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return Int(value) ?? .max }
    guard let end = HTTPText.seconds(ofDate: String(value)), let now = date.flatMap(HTTPText.seconds) else {
      return nil
    }
    return max(0, Int(end - now))
  }
}
