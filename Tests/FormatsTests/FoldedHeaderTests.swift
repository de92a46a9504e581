// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Formats

@Suite struct FoldedHeaderTests {
  @Test(arguments: [
    ("Glucose mg/dL", "glucose mg/dl"), ("  Time \t of  day ", "time of day"), ("\"Device\"", "device"),
    ("\u{FEFF}Date", "date"), ("ï»¿Date", "date"), ("Gerät", "gerät"), ("", ""), ("   ", ""), ("\"\"", ""),
    ("a row\r\n\"Date", "date"),
  ])
  func aHeaderIsComparedInLowerCaseWithSingleSpaces(_ text: String, _ folded: String) {
    #expect(foldedHeader(text) == folded)
  }

  /// A cell of megabytes is looked at as a header where its row is none of the table: its words are not sought.
  @Test func whatIsLongerThanAnyNameIsNone() {
    func words(_ count: Int) -> HeaderWords { HeaderWords(String(repeating: "time ", count: count)) }
    #expect(words(800).isTime && words(800).words == ["time"])
    #expect(!words(900).isTime && words(900).words.isEmpty && words(900).name.isEmpty)
    for (count, kept) in [(100, 100), (100_000, Field.maxNameBytes)] {
      let bytes = [UInt8](repeating: UInt8(ascii: "X"), count: count)
      let folded = bytes.withUnsafeBufferPointer { buffer in
        buffer.baseAddress.map { Field(start: $0, count: buffer.count, shape: .bare).folded }
      }
      #expect(folded == String(repeating: "x", count: kept))
    }
  }

  @Test(arguments: UInt64(1)...40) func aPlainTextFoldsAsAnyOtherDoes(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      var scalars = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        scalars.append(Self.scalar(&random))
      }
      let text = String(scalars)
      // A byte order mark is left out, and makes the text one that is not plain.
      let folded = foldedHeader(text).utf8
      #expect(folded.elementsEqual(foldedHeader(text + "\u{FEFF}").utf8), "seed \(seed): '\(text)'")
    }
  }

  /// Often a blank or a quote, else ASCII, a letter of Western Europe, or a sign that joins the one before it.
  private static func scalar(_ random: inout SeededGenerator) -> Unicode.Scalar {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: " "
    case 1: ["\"", "\t", "\n", "\r", "\u{0B}", "\u{0C}"].randomElement(using: &random) ?? "\""
    case 2...4: Unicode.Scalar(UInt8.random(in: 0...0x7F, using: &random))
    case 5, 6: Unicode.Scalar(UInt8.random(in: 0xC0...0xFF, using: &random))
    default: ["\u{308}", "\u{A0}", "»", "¿"].randomElement(using: &random) ?? "»"
    }
  }
}
