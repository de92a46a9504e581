// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

/// Tests that the written cells of a CSV line can be read by the rules of RFC 4180.
@Suite struct CSVTextTests {
  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("two words", "two words"), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""),
    ("a\nb", "\"a\nb\""), ("a\r\nb", "\"a\r\nb\""), ("é", "é"), ("tab\tb", "tab\tb"),
    ("\u{2028}", "\"\u{2028}\""),
    ("\u{85}", "\"\u{85}\""), ("日本;x", "日本;x"),
  ])
  func aCSVCellIsQuotedOnlyIfItsTextRequiresQuotes(_ text: String, _ cell: String) {
    #expect(csvText(text) == cell)
  }

  @Test func aLineHasACommaBetweenItsCellsAndEndsWithACarriageReturn() {
    #expect(csvLine(["a", "b,c", ""]) == "a,\"b,c\",\r")
    #expect(csvLine([]) == "\r")
  }

  /// Swift joins a comma and a combining character to one character, but readers of CSV see a comma. So such
  /// a cell needs quotes.
  @Test(arguments: ["a,\u{301}b", "\"\u{308}", "x\"\u{200D}y", "\u{600},", ",\u{FE0F}"])
  func aCombiningCharacterDoesNotHideADelimiterInACSVCell(_ text: String) {
    let cell = Array(csvText(text).utf8)
    #expect(cell.first == UInt8(ascii: "\"") && cell.last == UInt8(ascii: "\""))
    #expect(Self.cells(cell + [0x2C]) == [Array(text.utf8), []])
  }

  @Test func randomCellsOfACSVLineAreReadBackUnchanged() {
    let parts = ["a", ",", "\"", "\r", "\n", "é", "\u{301}", "\u{2029}", " ", "😀", "\t", "\u{B}"]
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let texts = (0..<4).map { _ in
        (0..<random.next() % 6).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      }
      var line: [UInt8] = []
      for (index, text) in texts.enumerated() {
        if index > 0 { line.append(0x2C) }
        appendCSVText(text, to: &line)
      }
      #expect(Self.cells(line) == texts.map { Array($0.utf8) }, "seed \(seed)")
    }
  }

  /// Splits a line by the definition in RFC 4180: a comma outside of quotes ends a cell, and two quotes
  /// inside quotes are one.
  private static func cells(_ line: [UInt8]) -> [[UInt8]] {
    var cells: [[UInt8]] = [[]]
    var (isQuoted, index) = (false, 0)
    while index < line.count {
      let byte = line[index]
      if isQuoted, byte == UInt8(ascii: "\""), index + 1 < line.count, line[index + 1] == byte {
        cells[cells.count - 1].append(byte)
        index += 1
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == 0x2C, !isQuoted {
        cells.append([])
      } else {
        cells[cells.count - 1].append(byte)
      }
      index += 1
    }
    return cells
  }
}
