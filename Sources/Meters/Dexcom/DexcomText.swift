// SPDX-License-Identifier: Apache-2.0

/// The attributes in a receiver's text: one XML element with quotes of either kind.
struct DexcomText {
  private let text: [UInt8]

  /// The text in these bytes, without the zeros after it.
  init(_ bytes: some Sequence<UInt8>) { text = Array(bytes.prefix { $0 != 0 }) }

  /// The value of an attribute; nil if it is missing or not printable.
  subscript(name: String) -> String? {
    let start = Array(" \(name)=".utf8)
    guard text.count > start.count else { return nil }
    for place in 0..<(text.count - start.count) where text[place...].starts(with: start) {
      let quoted = text[(place + start.count)...]
      guard let quote = quoted.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\""),
        let end = quoted.dropFirst().firstIndex(of: quote)
      else { return nil }
      return quoted[(quoted.startIndex + 1)..<end].printableText
    }
    return nil
  }
}
