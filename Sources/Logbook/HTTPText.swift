// SPDX-License-Identifier: Apache-2.0

/// Texts in the headers and paths of HTTP, which clients and servers write in the same way.
package enum HTTPText {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The UTC seconds as a date for a header, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7). The
  /// language is English in every locale.
  package static func date(_ seconds: Int64) -> String {
    let words = DeviceTime(seconds: seconds).text.split(whereSeparator: { $0 == "-" || $0 == "T" })
    guard words.count == 4, let month = Int(words[1]), months.indices.contains(month - 1) else { return "" }
    let weekday = (DeviceTime.day(of: seconds) % 7 + 7) % 7
    return "\(days[Int(weekday)]), \(words[2]) \(months[month - 1]) \(words[0]) \(words[3]) GMT"
  }

  /// Parses a date in the format of `date(_:)`, the only format that servers may send; returns its UTC
  /// seconds. Nil for any other text.
  package static func seconds(ofDate text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
      let month = months.firstIndex(of: String(words[2]))
    else { return nil }
    let clock = words[4].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard clock.count == 3 else { return nil }
    return DeviceTime(
      year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])?.seconds
  }

  /// The text escaped for a path or for the query of a URL (RFC 3986 §2.1). Every byte is escaped except
  /// ASCII letters, digits and `plain`.
  ///
  /// - Parameter plain: further ASCII characters that are not escaped.
  package static func escaped(_ text: String, plain: String = "-._~") -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        String(UnicodeScalar(byte))
      case byte where plain.utf8.contains(byte): String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}

/// Reads the header `Retry-After` of an HTTP answer (RFC 9110 §10.2.3): how long a client must wait.
package enum RetryAfter {
  /// The maximum wait that a remote can request, in seconds: six hours. A longer wait is reduced to it.
  package static let maxSeconds = 6 * 3600

  /// The seconds to wait; nil for an invalid value.
  ///
  /// - Parameter date: the answer's header `Date`. If `Retry-After` contains a date, the wait is the time
  ///   between the two dates, since both come from the server's clock.
  package static func seconds(_ value: String?, date: String?) -> Int? {
    guard var value = value?[...] else { return nil }
    while value.first == " " { value.removeFirst() }
    while value.last == " " { value.removeLast() }
    // A number of seconds that is too large for an integer is valid, too. It becomes the largest integer.
    if !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return Int(value) ?? .max }
    guard let end = HTTPText.seconds(ofDate: String(value)), let now = date.flatMap(HTTPText.seconds) else {
      return nil
    }
    return max(0, Int(end - now))
  }
}

/// A link to the pages of a logbook. Until it expires, everyone who has the link can see them.
package struct PageLink: Hashable, Sendable {
  /// The path that follows the address of the service. It contains the secret of the link.
  package var path: String
  /// When the link expires, in UTC seconds by the clock of the service.
  package var expiresAt: Int64

  /// A link with this path and time of expiry.
  package init(path: String, expiresAt: Int64) {
    self.path = path
    self.expiresAt = expiresAt
  }
}

/// Creates links to the pages of a logbook, since a browser cannot log in to the logbook.
package protocol PageService: Sendable {
  /// Creates a link to the pages; nil if the service has no pages.
  ///
  /// - Parameter seconds: how long the link is valid; nil for the default of the service.
  func makePageLink(seconds: Int?) async throws(ServiceError) -> PageLink?
}
