// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The permission of a login token.
package enum LoginRole: String, CaseIterable, Sendable {
  /// The login may read its logbook.
  case read
  /// The login may read and change its logbook.
  case write
}

/// The database in which a storage with several databases has a logbook.
package struct LogbookPlace: Hashable, Sendable {
  /// The address of the database; empty for the database that also has the logins.
  package var address: String
  /// How often the logbook was moved to another database.
  package var moves: Int64

  package init(address: String = "", moves: Int64 = 0) {
    self.address = address
    self.moves = moves
  }
}

/// A login at the server. A client proves the login with a token.
package struct Login: Hashable, Sendable {
  /// The name for people.
  package var name: String
  /// The id of the logbook to which the login has access.
  package var logbook: String
  /// Whether the login may change the logbook.
  package var role: LoginRole
  /// The database that has the logbook. Only the storage uses it.
  package var place = LogbookPlace()

  package init(name: String, logbook: String, role: LoginRole) {
    self.name = name
    self.logbook = logbook
    self.role = role
  }

  /// A text that identifies a login in logs without naming a person: eight digits of the name's SHA-256.
  package static func logID(_ name: String) -> String {
    var digest = Digest()
    digest.update(name)
    return String(digest.hexadecimal().prefix(8))
  }
}

/// A login in a list for people. Its token cannot be shown again.
package struct ListedLogin: Hashable, Sendable {
  /// The name for people.
  package let name: String
  /// Whether the login may change the logbook.
  package let role: LoginRole
  /// The name of the logbook to which the login has access.
  package let logbook: String
  /// When the login was added, in UTC seconds.
  package let createdAt: Int64

  package init(name: String, role: LoginRole, logbook: String, createdAt: Int64) {
    self.name = name
    self.role = role
    self.logbook = logbook
    self.createdAt = createdAt
  }
}

/// The secret that a client sends with each request. The server stores only its hash.
package struct LoginToken: Sendable {
  /// The text that the client sends.
  package let text: String

  package init(_ text: String) { self.text = text }

  /// A token of 256 random bits.
  package init(using generator: inout some RandomNumberGenerator) {
    let bytes = (0..<4).flatMap { _ -> [UInt8] in
      let word = generator.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
    text = Self.prefix + Self.base64(bytes)
  }

  /// The SHA-256 of the text. Salt and key stretching are not needed, since 256 random bits cannot be
  /// guessed.
  package var hash: [UInt8] {
    var digest = Digest()
    digest.update(text)
    return digest.bytes()
  }
}

extension LoginToken {
  /// The prefix of every token, by which people and scanners for leaked secrets recognise it.
  private static let prefix = "gp_"

  /// Base64 with the alphabet for URLs and without padding (RFC 4648 §5).
  private static func base64(_ bytes: [UInt8]) -> String {
    let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var out: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in bytes {
      bits = (bits << 8 | Int(byte)) & 0xFFFF
      count += 8
      while count >= 6 {
        count -= 6
        out.append(signs[bits >> count & 63])
      }
    }
    if count > 0 { out.append(signs[bits << (6 - count) & 63]) }
    return String(decoding: out, as: UTF8.self)
  }
}
