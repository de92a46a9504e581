// SPDX-License-Identifier: Apache-2.0

import CZlib

/// A PDF file, parsed as a PDF reader does: objects by the cross-reference table, streams decompressed.
struct PDFFile {
  /// The objects by their numbers, with their streams left out.
  let objects: [Int: String]
  /// The decompressed streams by the numbers of their objects.
  let streams: [Int: [UInt8]]
  let trailer: String

  /// Parses a file; nil if its cross-reference table or a stream is damaged.
  init?(_ bytes: [UInt8]) {
    // In Latin 1, each byte is one character.
    let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    guard text.hasPrefix("%PDF-1.7\n"), text.hasSuffix("%%EOF\n"),
      let start = text.matches(of: /startxref\n(\d+)\n%%EOF\n/).last.flatMap({ Int($0.1) })
    else { return nil }
    let characters = Array(text.unicodeScalars)
    func string(_ from: Int, _ to: Int) -> String {
      String(String.UnicodeScalarView(characters[from..<min(to, characters.count)]))
    }
    let table = string(start, characters.count)
    guard let head = table.firstMatch(of: /^xref\n0 (\d+)\n0000000000 65535 f \n/), let count = Int(head.1)
    else {
      return nil
    }
    let places = table.matches(of: /(\d{10}) 00000 n \n/).compactMap { Int($0.1) }
    guard places.count == count - 1 else { return nil }
    var objects: [Int: String] = [:]
    var streams: [Int: [UInt8]] = [:]
    for (index, place) in places.enumerated() {
      let next = places.filter { $0 > place }.min() ?? start
      let body = string(place, next)
      guard body.hasPrefix("\(index + 1) 0 obj\n"), body.hasSuffix("endobj\n") else { return nil }
      guard let length = body.firstMatch(of: /\/Length (\d+)>>\nstream\n/), let size = Int(length.1) else {
        objects[index + 1] = body
        continue
      }
      let from = place + body.unicodeScalars.distance(from: body.startIndex, to: length.range.upperBound)
      guard string(from + size, from + size + 11) == "\nendstream\n" else { return nil }
      objects[index + 1] = String(body[..<length.range.upperBound])
      let raw = Array(bytes[from..<from + size])
      streams[index + 1] = body.contains("/FlateDecode") ? Self.unpacked(raw) : raw
    }
    (self.objects, self.streams) = (objects, streams)
    trailer = table
  }

  /// The objects of a type, such as `/Type/Page`, in the order of their numbers.
  func all(_ type: String) -> [(number: Int, text: String)] {
    objects.sorted { $0.key < $1.key }.filter { $0.value.contains(type) }.map { ($0.key, $0.value) }
  }

  /// The content of each page.
  var contents: [String] {
    all("/Type/Page/").compactMap { page in
      page.text.firstMatch(of: /\/Contents (\d+) 0 R/).flatMap { Int($0.1) }.flatMap { streams[$0] }
        .map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// The texts of each page in the order in which they are drawn, by the maps from glyphs to letters.
  var texts: [[String]] {
    var maps: [String: [String: String]] = [:]
    for page in all("/Type/Page/") {
      for font in page.text.matches(of: /\/(F\d) (\d+) 0 R/) {
        guard let own = Int(font.2).flatMap({ objects[$0] }),
          let map = own.firstMatch(of: /\/ToUnicode (\d+) 0 R/).flatMap({ Int($0.1) }).flatMap({ streams[$0] }
          )
        else { continue }
        let lines = String(decoding: map, as: UTF8.self).matches(of: /<([0-9A-F]{4})> <([0-9A-F]+)>/)
        maps[String(font.1)] = Dictionary(
          lines.map { (String($0.1), Self.letter(String($0.2))) }, uniquingKeysWith: { first, _ in first })
      }
    }
    return contents.map { content in
      content.matches(of: /BT\/(F\d) [^<]*<([0-9A-F]*)>Tj ET/).map { text in
        var rest = Substring(text.2)
        var letters = ""
        while rest.count >= 4 {
          letters += maps[String(text.1)]?[String(rest.prefix(4))] ?? "\u{FFFD}"
          rest = rest.dropFirst(4)
        }
        return letters
      }
    }
  }

  private static func letter(_ code: String) -> String {
    UInt32(code, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? "\u{FFFD}"
  }

  private static func unpacked(_ bytes: [UInt8]) -> [UInt8] {
    var length = UInt(bytes.count * 60 + 1000)
    let capacity = Int(length)
    return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialised in
      initialised =
        uncompress(buffer.baseAddress, &length, bytes, UInt(bytes.count)) == Z_OK ? Int(length) : 0
    }
  }
}
