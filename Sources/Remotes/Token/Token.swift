// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The secret of a login. It appears in no message, log or dump.
package struct Token: Sendable {
  static let longestLength = 4096

  /// The secret. Only requests may contain it.
  let text: String

  /// Reads the secret from the first line of its source.
  ///
  /// - Parameter origin: the source, for the message.
  /// - Throws: `Failure` of category `configuration` for an impossible token; its message contains no part of it.
  package init(firstLineOf bytes: [UInt8], origin: String) throws(Failure) {
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    let end = line.lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? line.startIndex
    let trimmed = line[..<end].drop(while: Self.isBlank)
    guard !trimmed.isEmpty else {
      throw Failure(.configuration, "\(origin): its first line is empty, but must be the token")
    }
    guard trimmed.count <= Self.longestLength, trimmed.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw Failure(
        .configuration,
        "\(origin): its first line is not a token; a token has up to \(Self.longestLength) visible ASCII characters without blanks"
      )
    }
    text = String(decoding: trimmed, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Lets a later run recognise the same secret. Its 16 bits are far too few to derive the secret, even a short one
  /// that a person chose.
  ///
  /// - Parameter salt: makes the marks of equal secrets in two stores differ.
  package func mark(salt: String) -> String {
    String(Digest.uuid(of: ["token", salt, text]).prefix(4))
  }

  /// The text without this secret.
  func redacted(_ text: String) -> String { text.replacing(self.text, with: "…") }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Excludes the secret.
  package var description: String { "token" }
  /// Excludes the secret.
  package var debugDescription: String { description }
  /// Excludes the secret from dumps, which print members.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
