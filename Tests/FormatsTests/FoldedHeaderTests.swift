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
  func columnNamesAreComparedInLowerCaseWithSingleSpaces(_ text: String, _ folded: String) {
    #expect(foldedHeader(text) == folded)
  }

  /// A row outside of the table may have a cell of megabytes. Such a cell is compared with column names as
  /// well, but is not split into words.
  @Test func aTextLongerThanAnyColumnNameIsNotAColumnName() {
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

  /// The fast check `mayNameTime` excludes most rows that are not a header, so that the slower `isTime` runs
  /// rarely.
  @Test(arguments: UInt64(1)...20) func noColumnNameForATimeIsMissedByTheFastCheck(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let names = [
      "Time", "zeit", "DATUM", "dato", "Date", "fecha", "hora", "Heure", "horod", "tijd", "Tidspunkt",
      "tidpunkt",
      "tidsst", "klok", "orario", "ts", "data", "ora", "tid", "czas", "godzina", "epoch", "Jour", "day",
      "dag", "Tag",
      "día", "DÍA", "di\u{301}a", "dia", "giorno", "when", "Recorded", "occurred", "created",
    ]
    for _ in 0..<100 {
      var text = ""
      for _ in 0..<3 { text.unicodeScalars.append(Self.scalar(&random)) }
      text += names.randomElement(using: &random) ?? ""
      if Bool.random(using: &random) {
        let place = text.unicodeScalars.indices.randomElement(using: &random) ?? text.startIndex
        text.unicodeScalars.insert(Self.scalar(&random), at: place)
      }
      let mayBe = text.withField(HeaderWords.mayNameTime)
      #expect(mayBe || !HeaderWords(text).isTime, "seed \(seed): '\(text)'")
    }
    for text in ["2026-13-45 99:00:00", "142", "-", "Dexcom G6", "mg/dL", "n/a", ""] {
      #expect(!text.withField(HeaderWords.mayNameTime) && !HeaderWords(text).isTime)
    }
    // The word `día` in the bytes of Windows-1252.
    let bytes: [UInt8] = [0x64, 0xED, 0x61]
    bytes.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      let field = Field(start: start, count: buffer.count, shape: .bare)
      #expect(HeaderWords.mayNameTime(field) && HeaderWords(field.text).isTime)
    }
  }

  @Test(arguments: UInt64(1)...40) func asciiColumnNamesAreNormalisedLikeAnyOther(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      var scalars = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        scalars.append(Self.scalar(&random))
      }
      let text = String(scalars)
      // `foldedHeader` removes a byte order mark. Because of the mark, the general code folds the second
      // text, and not the fast code for plain texts.
      let folded = foldedHeader(text).utf8
      #expect(folded.elementsEqual(foldedHeader(text + "\u{FEFF}").utf8), "seed \(seed): '\(text)'")
    }
  }

  /// A random character. It is often a blank or a quote, otherwise ASCII, a letter of Western Europe, or a
  /// mark that combines with the character before it.
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
