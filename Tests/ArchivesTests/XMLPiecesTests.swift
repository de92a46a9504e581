// SPDX-License-Identifier: Apache-2.0

import Archives
import SeededRandom
import Testing

/// Tests that XML has the same rows, lines, positions and damage in pieces of any size.
@Suite struct XMLPiecesTests {
  private static let shape = ElementShape(
    path: ["Root", "Row"], attributes: ["a", "b"],
    pairs: ElementShape.Pairs(element: "Entry", key: "key", value: "value", names: ["k"]))

  /// The results of scanning a text: cells, lines and positions of the rows, and why it ended.
  private static func scan(_ bytes: [UInt8], piece: Int) -> [String] {
    let scanner = XMLScanner(shape)
    var said: [String] = []
    for start in stride(from: 0, to: max(bytes.count, 1), by: piece) {
      let end = min(start + piece, bytes.count)
      let stop = bytes[start..<end].withUnsafeBufferPointer { scanner.feed($0, isLast: end == bytes.count) }
      for row in scanner.rows {
        let cells = scanner.withValues { values in
          (0..<shape.columnCount).map { column in
            scanner.value(row, column).map { String(decoding: values[$0..<($0 + $1)], as: UTF8.self) } ?? "-"
          }
        }
        said.append("\(row.line) \(row.source) \(cells.joined(separator: "|"))")
      }
      if let stop { return said + ["\(stop.line): \(stop.reason)"] }
    }
    return said
  }

  private static func expectTheSame(_ text: [UInt8], _ generator: inout SeededGenerator) {
    let expected = scan(text, piece: 1)
    for piece in [text.count, Int.random(in: 2...200, using: &generator)] {
      let said = scan(text, piece: max(piece, 1))
      #expect(said == expected, "\(piece): \(String(decoding: text, as: UTF8.self))")
    }
  }

  @Test func attributeDefaultsOfADocumentTypeApplyToXMLRows() {
    let text =
      "<!DOCTYPE Root [<!ATTLIST Row b CDATA \"mg\" a NMTOKEN #IMPLIED><!ATTLIST Entry key CDATA \"k\">]><Root>"
      + "\n<Row a=\" 5 \"/>\n<Row><Entry value=\"7\"/></Row></Root>"
    for piece in [1, 1000] {
      #expect(
        Self.scan(Array(text.utf8), piece: piece).map { $0.split(separator: " ").last } == [
          "5|mg|-", "-|mg|7",
        ])
    }
  }

  @Test func onlyXMLRowsWithTheExactPathAreRead() {
    let scanner = XMLScanner(ElementShape(path: ["A", "B", "C"], attributes: ["x"]))
    let text =
      "<A><C x=\"1\"/><B><C x=\"2\"/><D><C x=\"3\"/></D></B><C x=\"4\"/><B><C x=\"5\"/></B><E><C x=\"6\"/></E></A>"
    var values: [String] = []
    for (piece, isLast) in [
      (Array(text.utf8.prefix(20)), false), ([], false), (Array(text.utf8.dropFirst(20)), false), ([], true),
    ] {
      let stop = piece.withUnsafeBufferPointer { scanner.feed($0, isLast: isLast) }
      #expect(stop == nil)
      for row in scanner.rows {
        values.append(
          scanner.withValues { all in
            scanner.value(row, 0).map { String(decoding: all[$0..<($0 + $1)], as: UTF8.self) } ?? "-"
          })
      }
    }
    #expect(values == ["2", "5"])
  }

  @Test func anXMLTokenJustBelowTheLimitIsRead() {
    let start =
      Array("<Root><Row b=\"1\"/><!--".utf8) + [UInt8](repeating: 0x78, count: XMLScanner.longestItem - 50)
    let scanner = XMLScanner(Self.shape)
    #expect(start.withUnsafeBufferPointer { scanner.feed($0, isLast: false) } == nil)
    let end = [UInt8](repeating: 0x79, count: 100) + Array(">-->\n<Row a=\"2\"/></Root>".utf8)
    #expect(end.withUnsafeBufferPointer { scanner.feed($0, isLast: true) } == nil)
    #expect(scanner.rows.count == 1)
  }

  @Test func xmlBytesThatAreNotUTF8AreReportedAsDamage() {
    for bytes: [UInt8] in [[0x80], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] {
      let text = Array("<Root><Row a=\"1\"/><Row a=\"".utf8) + bytes + Array("\"/></Root>".utf8)
      let said = Self.scan(text, piece: text.count)
      #expect(said == Self.scan(text, piece: 1))
      #expect(said.count == 2 && said.last?.contains("truncated or damaged") == true)
    }
  }

  @Test func xmlAttributesInAnotherOrderKeepTheirColumns() {
    let rows = ["a b", "b a", "a c b", "c", "b c a", "a b c d"].map { names in
      "<Row " + names.split(separator: " ").map { "\($0)=\"of \($0)\"" }.joined(separator: " ") + "/>"
    }
    let said = Self.scan(Array("<Root>\(rows.joined())</Root>".utf8), piece: 1000)
    #expect(
      said.map { $0.split(separator: " ", maxSplits: 2).last ?? "" } == [
        "of a|of b|-", "of a|of b|-", "of a|of b|-", "-|-|-", "of a|of b|-", "of a|of b|-",
      ])
  }

  // MARK: Arbitrary input

  private static let words = [
    "1", "mg/dL", "é", "猫😀", "&amp;", "&lt;", "&quot;", "&#65;", "a > b", "it's", " ", "x\ny", "\u{F8FF}", "",
  ]
  private static let blanks = [" ", "  ", "\n", "\t", "\r\n", " \n "]

  private static func attributes(_ names: [String], _ generator: inout SeededGenerator) -> String {
    var text = ""
    for name in names.shuffled(using: &generator) where Int.random(in: 0...3, using: &generator) > 0 {
      let sign = Int.random(in: 0...9, using: &generator) == 0 ? "'" : "\""
      let word = words.randomElement(using: &generator) ?? ""
      let value = sign == "'" ? word.replacing("'", with: "") : word
      text += "\(blanks.randomElement(using: &generator) ?? " ")\(name)=\(sign)\(value)\(sign)"
    }
    return text
  }

  private static func element(_ depth: Int, _ generator: inout SeededGenerator) -> String {
    let (name, names) =
      [
        ("Row", ["a", "b", "c"]), ("Row", ["a", "b"]), ("Entry", ["key", "value"]), ("Other", ["a", "x"]),
        ("é", ["a"]),
      ].randomElement(using: &generator) ?? ("Row", [])
    var text = "<\(name)"
    if name == "Entry", Bool.random(using: &generator) {
      text += " key=\"k\" value=\"\(words.randomElement(using: &generator) ?? "")\""
    } else {
      text += attributes(names, &generator)
    }
    if Bool.random(using: &generator) {
      return text + ["/>", " />"][Int.random(in: 0...1, using: &generator)]
    }
    text += ">"
    for _ in 0..<(depth > 3 ? 0 : Int.random(in: 0...3, using: &generator)) {
      text += blanks.randomElement(using: &generator) ?? ""
      text += Int.random(in: 0...11, using: &generator) == 0 ? "text <!-- <Row/> --><![CDATA[<Row/>]]>" : ""
      text += element(depth + 1, &generator)
    }
    return text + "</\(name)>"
  }

  private static func document(_ generator: inout SeededGenerator) -> [UInt8] {
    var text = "<?xml version=\"1.0\"?>\n<Root x='1'\ny='2'>"
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      text += element(1, &generator) + (blanks.randomElement(using: &generator) ?? "")
    }
    return Array((text + "</Root>\n").utf8)
  }

  @Test(arguments: UInt64(1)...40) func randomXMLHasTheSameRowsInPiecesOfAnySize(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<10 { Self.expectTheSame(Self.document(&generator), &generator) }
  }

  @Test(arguments: UInt64(1)...40) func damagedXMLEndsAtTheSamePlaceInPiecesOfAnySize(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = Array("<>&\"'/= \n\r\t;!?-[]a:\u{0}".utf8) + [0x80, 0xC3, 0xEF, 0xBF, 0xFF]
    for _ in 0..<10 {
      var text = Self.document(&generator)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 20..<text.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: text[place] = bytes.randomElement(using: &generator) ?? 0
        case 1: text.insert(bytes.randomElement(using: &generator) ?? 0, at: place)
        default: text.remove(at: place)
        }
      }
      Self.expectTheSame(text, &generator)
    }
  }
}
