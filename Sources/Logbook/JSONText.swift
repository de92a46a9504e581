// SPDX-License-Identifier: Apache-2.0

/// `text` as a JSON string with its quotes.
package func jsonText(_ text: String) -> String {
  var out: [UInt8] = []
  out.reserveCapacity(text.utf8.count + 2)
  appendJSONText(text, to: &out)
  return String(decoding: out, as: UTF8.self)
}

/// Appends `text` as a JSON string with its quotes (RFC 8259 §7), in UTF-8.
package func appendJSONText(_ text: String, to out: inout [UInt8]) {
  out.append(UInt8(ascii: "\""))
  var text = text
  text.withUTF8 { bytes in
    // A loop without an iterator, which would take most of the time in an unoptimised build, as for tests.
    var (plain, index) = (0, 0)
    while index < bytes.count {
      if let escape = escape(bytes[index]) {
        out.append(contentsOf: bytes[plain..<index])
        out.append(contentsOf: escape)
        plain = index + 1
      }
      index += 1
    }
    // Most texts have nothing to escape. Copying bytes without a range is faster.
    if plain == 0 { out.append(contentsOf: bytes) } else { out.append(contentsOf: bytes[plain...]) }
  }
  out.append(UInt8(ascii: "\""))
}

/// The escape of a byte in a JSON string; nil for a byte without one.
@inline(__always) private func escape(_ byte: UInt8) -> [UInt8]? {
  guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F else { return nil }
  let letter: Unicode.Scalar? =
    switch byte {
    case 0x22: "\""
    case 0x5C: "\\"
    case 0x0A: "n"
    case 0x0D: "r"
    case 0x09: "t"
    default: nil
    }
  if let letter { return [0x5C, UInt8(ascii: letter)] }
  let digits = Array("0123456789abcdef".utf8)
  return Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
}
