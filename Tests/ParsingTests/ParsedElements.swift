// SPDX-License-Identifier: Apache-2.0

import Archives
import Testing

extension ParsedContent {
  /// Elements of XML as rows, in pieces of the size in which files are read.
  static let elements: [ParsedContent] = [
    elements("rows", 20_000, repeated(#"<Row a="1"/>"#, between: "<Root>", "</Root>")),
    elements(
      "rows with and without content", 8000,
      repeated(#"<Row a="1"/><Row a='1'><x/></Row>"#, between: "<Root>", "</Root>")),
    elements(
      "names in another order", 8000, repeated(#"<Row a="1" b="2"/><Row b="1" a="2"/>"#, between: "<Root>")),
    elements("a row that does not end", 40_000, repeated("<x/>", between: "<Root><Row>")),
    elements("ends of tags in a comment", 200_000, repeated(">", between: "<Root><!--", "--></Root>")),
    elements(
      "ends of tags in a comment before the root", 200_000, repeated(">", between: "<!--", "--><Root/>")),
    elements("ends of tags in a comment that does not end", 200_000, repeated(">", between: "<Root><!--")),
    elements("ends of tags in a value", 200_000, repeated(">", between: "<Root><Row a='", "'/></Root>")),
    elements("ends of tags in a text", 200_000, repeated(" >", between: "<Root>", "</Root>")),
    elements("ends of tags in characters", 200_000, repeated(">", between: "<Root><![CDATA[", "]]></Root>")),
    elements("references", 5000, repeated("&amp;", between: "<Root><Row a=\"", "\"/></Root>")),
  ]

  private static func elements(_ name: String, _ size: Int, _ make: @escaping @Sendable (Int) -> [UInt8])
    -> ParsedContent
  {
    ParsedContent("XMLScanner: \(name)", size, make) { bytes in
      let scanner = XMLScanner(ElementShape(path: ["Root", "Row"], attributes: ["a", "b"]))
      for start in stride(from: 0, to: bytes.count, by: 1 << 18) {
        let end = min(start + (1 << 18), bytes.count)
        let stop = bytes[start..<end].withUnsafeBufferPointer { scanner.feed($0, isLast: end == bytes.count) }
        if stop != nil { return }
      }
    }
  }
}
