// SPDX-License-Identifier: Apache-2.0

import Crypto

/// SHA-256 of bytes that arrive in pieces.
package struct Digest: Sendable {
  private var hash = SHA256()

  /// The digest of no bytes.
  package init() {}

  /// Adds bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

  /// Adds the UTF-8 of a text.
  package mutating func update(_ text: String) { hash.update(data: Array(text.utf8)) }

  /// The 32 bytes of the digest.
  package func bytes() -> [UInt8] { Array(hash.finalize()) }

  /// 64 lower-case hexadecimal digits.
  package func hexadecimal() -> String { hexadecimalText(bytes()) }

  /// A UUID of version 8 (RFC 9562 §5.8) from SHA-256 over these parts. Each part is its UTF-8 length in decimal, a
  /// colon and its text, so that no two lists of parts have the same bytes.
  package static func uuid(of parts: [String]) -> String {
    let bytes = uuidBytes(of: parts)
    let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimalText(bytes[$0]) }
    return groups.joined(separator: "-")
  }

  /// The 16 bytes of `uuid(of:)`.
  package static func uuidBytes(of parts: [String]) -> [UInt8] {
    var digest = Digest()
    for part in parts { digest.update("\(part.utf8.count):\(part)") }
    var bytes = Array(digest.bytes().prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes
  }
}

private func hexadecimalText(_ bytes: some Collection<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var out: [UInt8] = []
  out.reserveCapacity(bytes.count * 2)
  for byte in bytes {
    out.append(digits[Int(byte >> 4)])
    out.append(digits[Int(byte & 15)])
  }
  return String(decoding: out, as: UTF8.self)
}
