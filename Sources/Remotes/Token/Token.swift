// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The secret of a login, which shows itself in no message, log or dump.
package struct Token: Sendable {
  static let longestLength = 4096

  /// The secret. Only requests may carry it.
  let text: String

  /// The secret in the first line of what its source gave.
  ///
  /// - Parameter origin: where it comes from, for the message.
  /// - Throws: `Failure` of category `configuration` for what can be no token; its message repeats none of it.
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

  /// By which a later run knows the same secret again. Its 16 bits are far too few to find the secret by, also a short
  /// one that a person chose.
  ///
  /// - Parameter salt: what keeps the marks of equal secrets of two stores apart.
  package func mark(salt: String) -> String {
    String(Digest.uuid(of: ["token", salt, text]).prefix(4))
  }

  /// The text without this secret, whoever wrote it there.
  func redacted(_ text: String) -> String { text.replacing(self.text, with: "…") }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Not the secret.
  package var description: String { "token" }
  /// Not the secret.
  package var debugDescription: String { description }
  /// Without the secret, for what prints values by their members.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
