// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PDF

/// Tests the font that is contained in the program.
struct FontTests {
  @Test(arguments: PDFFace.allCases) func bothFontFacesHaveTheLettersOfEuropeanLanguages(_ face: PDFFace)
    throws
  {
    let font = try #require(face.font)
    let letters = "AZaz09ÄÖÜäöüßéèçñ¿¡ŁłŐőŞşČčĞğİıȘșΑΩαωЁЯяёҐґ€£°µ±×≤≥≠−–—…·•„“”‘’«»▲▼●○%<>\u{202F}"
    for scalar in letters.unicodeScalars { #expect(font.glyph(scalar) != nil, "\(scalar)") }
    #expect(font.unitsPerEm == 2048 && font.rise.ascent > 1500 && font.rise.descent < -300)
  }

  @Test func theWidthOfTextIsTheSumOfTheFontWidths() {
    // Of 2048 units per em, a digit takes 1172 in the regular face and 1282 in the bold one.
    #expect(abs(PDFFace.regular.width("0", size: 1000) - 572.27) < 0.01)
    #expect(abs(PDFFace.bold.width("0", size: 1000) - 625.98) < 0.01)
    #expect(PDFFace.regular.width("00", size: 8) == 2 * PDFFace.regular.width("0", size: 8))
    #expect(PDFFace.regular.width("", size: 8) == 0 && PDFFace.regular.width("\u{200B}", size: 8) == 0)
    #expect(PDFFace.regular.width("e\u{301}", size: 8) == PDFFace.regular.width("é", size: 8))
  }

  @Test func aFontSubsetHasOnlyTheOutlinesOfItsGlyphs() throws {
    let font = try #require(PDFFace.regular.font)
    let (a, dotted) = (try #require(font.glyph("a")), try #require(font.glyph("ä")))
    let one = Table(font.subset([a]))
    let composite = Table(font.subset([dotted]))
    #expect(one.hasOutline(Int(a)) && !one.hasOutline(Int(dotted)))
    // A letter with an accent is made of two other glyphs.
    #expect(composite.hasOutline(Int(dotted)) && composite.hasOutline(Int(a)))
    #expect(one.outlines == 1 && composite.outlines > one.outlines && composite.outlines < 8)
    #expect(one.names == ["glyf", "head", "hhea", "hmtx", "loca", "maxp"])
  }

  @Test func fontDataThatIsInvalidIsRefused() {
    #expect(TrueTypeFont([]) == nil && TrueTypeFont([0, 1, 0, 0, 0, 9]) == nil)
    #expect(TrueTypeFont([UInt8](repeating: 255, count: 500)) == nil)
  }
}

/// The tables of a font file.
private struct Table {
  let names: [String]
  private let lengths: [Int]

  init(_ bytes: [UInt8]) {
    func short(_ place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }
    func long(_ place: Int) -> Int { short(place) << 16 | short(place + 2) }
    var tables: [String: Range<Int>] = [:]
    for index in 0..<short(4) {
      let entry = 12 + 16 * index
      let start = long(entry + 8)
      tables[String(decoding: bytes[entry..<entry + 4], as: UTF8.self)] = start..<start + long(entry + 12)
    }
    names = tables.keys.sorted()
    let loca = tables["loca"] ?? 0..<0
    let isLong = tables["head"].map { short($0.lowerBound + 50) == 1 } ?? false
    let places = stride(from: loca.lowerBound, to: loca.upperBound, by: isLong ? 4 : 2).map {
      isLong ? long($0) : short($0) * 2
    }
    lengths = zip(places, places.dropFirst()).map { $1 - $0 }
  }

  var outlines: Int { lengths.filter { $0 > 0 }.count }

  func hasOutline(_ glyph: Int) -> Bool { lengths[glyph] > 0 }
}
