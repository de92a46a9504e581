// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A TrueType font: finds the glyph of a letter and its width, and creates smaller fonts with only some of
/// the glyphs.
struct TrueTypeFont: Sendable {
  private let tables: [String: [UInt8]]
  private let glyphs: [UInt32: UInt16]
  private let advances: [UInt16]
  private let offsets: [Int]
  private let hasLongOffsets: Bool

  /// The font size in units of the font: the number of units of the square in which a letter is drawn.
  let unitsPerEm: Double
  /// The box around all glyphs, in units of the font.
  let box: [Int]
  /// The height of letters above the base line, and their depth below it as a negative number, in units of
  /// the font.
  let rise: (ascent: Int, descent: Int)

  /// Parses a font; nil if the bytes are not a font, or lack a table that a PDF needs.
  init?(_ bytes: [UInt8]) {
    var tables: [String: [UInt8]] = [:]
    for index in 0..<bytes.short(4) {
      let place = 12 + 16 * index
      guard place + 16 <= bytes.count else { return nil }
      let (start, length) = (bytes.long(place + 8), bytes.long(place + 12))
      guard start + length <= bytes.count else { return nil }
      tables[String(decoding: bytes[place..<place + 4], as: UTF8.self)] = Array(bytes[start..<start + length])
    }
    guard let head = tables["head"], let maximum = tables["maxp"], let horizontal = tables["hhea"],
      let metrics = tables["hmtx"], let places = tables["loca"], let map = tables["cmap"],
      tables["glyf"] != nil,
      head.count >= 54, maximum.count >= 6, horizontal.count >= 36
    else { return nil }
    self.tables = tables
    unitsPerEm = Double(max(1, head.short(18)))
    box = stride(from: 36, to: 44, by: 2).map { head.signed($0) }
    rise = (horizontal.signed(4), horizontal.signed(6))
    hasLongOffsets = head.short(50) == 1
    let (count, isLong) = (maximum.short(4), hasLongOffsets)
    guard count > 0, places.count >= (count + 1) * (isLong ? 4 : 2) else { return nil }
    offsets = (0...count).map { isLong ? places.long($0 * 4) : places.short($0 * 2) * 2 }
    let wide = max(1, horizontal.short(34))
    guard metrics.count >= wide * 4 else { return nil }
    advances = (0..<count).map { UInt16(metrics.short(min($0, wide - 1) * 4)) }
    glyphs = Self.glyphs(map)
  }

  /// The glyph of a letter; nil for a letter that the font lacks.
  func glyph(_ scalar: Unicode.Scalar) -> UInt16? { glyphs[scalar.value] }

  /// The width of a glyph, in thousandths of the font size.
  func width(_ glyph: UInt16) -> Double { Double(advances[Int(glyph)]) * 1000 / unitsPerEm }

  /// The glyph of each letter, from the first character map of format 4 in the table `cmap`.
  private static func glyphs(_ map: [UInt8]) -> [UInt32: UInt16] {
    var glyphs: [UInt32: UInt16] = [:]
    for index in 0..<map.short(2) {
      let start = map.long(4 + 8 * index + 4)
      guard start + 14 <= map.count, map.short(start) == 4 else { continue }
      let count = map.short(start + 6) / 2
      let ends = start + 14
      let starts = ends + 2 * count + 2
      for segment in 0..<count {
        let (first, last) = (map.short(starts + 2 * segment), map.short(ends + 2 * segment))
        let delta = map.short(starts + 2 * count + 2 * segment)
        let rangePlace = starts + 4 * count + 2 * segment
        let range = map.short(rangePlace)
        guard first <= last, last < 0xFFFF else { continue }
        for letter in first...last {
          let raw = range == 0 ? letter : map.short(rangePlace + range + 2 * (letter - first))
          let glyph = raw == 0 ? 0 : UInt16((raw + delta) & 0xFFFF)
          if glyph > 0 { glyphs[UInt32(letter)] = glyph }
        }
      }
      return glyphs
    }
    return glyphs
  }

  /// A font with only the outlines of these glyphs and of the glyphs that they are composed of. Glyphs keep
  /// their numbers.
  func subset(_ used: Set<UInt16>) -> [UInt8] {
    let outlines = tables["glyf"] ?? []
    var (needed, open) = (Set<UInt16>([0]), Array(used))
    while let glyph = open.popLast() {
      guard Int(glyph) < advances.count, needed.insert(glyph).inserted else { continue }
      open += parts(of: outlines, from: offsets[Int(glyph)], to: offsets[Int(glyph) + 1])
    }
    var (glyf, loca): ([UInt8], [UInt8]) = ([], [])
    for glyph in 0...advances.count {
      if hasLongOffsets { loca.append(long: glyf.count) } else { loca.append(short: glyf.count / 2) }
      guard glyph < advances.count, needed.contains(UInt16(glyph)) else { continue }
      glyf += outlines[offsets[glyph]..<offsets[glyph + 1]]
      while glyf.count % 4 > 0 { glyf.append(0) }
    }
    var own = tables
    (own["glyf"], own["loca"], own["cmap"]) = (glyf, loca, nil)
    return Self.file(own)
  }

  /// The glyphs that make up a composite glyph; empty for a simple glyph.
  private func parts(of outlines: [UInt8], from start: Int, to end: Int) -> [UInt16] {
    guard end - start > 10, end <= outlines.count, outlines.signed(start) < 0 else { return [] }
    var (parts, place): ([UInt16], Int) = ([], start + 10)
    while place + 4 <= end {
      let flags = outlines.short(place)
      parts.append(UInt16(outlines.short(place + 2)))
      place += 4 + (flags & 0x1 > 0 ? 4 : 2)
      if flags & 0x8 > 0 {
        place += 2
      } else if flags & 0x40 > 0 {
        place += 4
      } else if flags & 0x80 > 0 {
        place += 8
      }
      if flags & 0x20 == 0 { break }
    }
    return parts
  }

  private static func file(_ tables: [String: [UInt8]]) -> [UInt8] {
    let names = tables.keys.sorted()
    var file: [UInt8] = [0, 1, 0, 0]
    let power = Int.bitWidth - 1 - max(1, names.count).leadingZeroBitCount
    file.append(short: names.count)
    file.append(short: 16 << power)
    file.append(short: power)
    file.append(short: names.count * 16 - 16 << power)
    var place = 12 + 16 * names.count
    var body: [UInt8] = []
    for name in names {
      var table = tables[name] ?? []
      let length = table.count
      while table.count % 4 > 0 { table.append(0) }
      file += Array(name.utf8)
      file.append(
        long: stride(from: 0, to: table.count, by: 4).reduce(0) { ($0 + table.long($1)) & 0xFFFF_FFFF })
      file.append(long: place)
      file.append(long: length)
      body += table
      place += table.count
    }
    return file + body
  }
}

extension [UInt8] {
  /// The big-endian number in two bytes at an index; 0 if the index is past the end.
  fileprivate func short(_ place: Int) -> Int {
    place >= 0 && place + 2 <= count ? Int(self[place]) << 8 | Int(self[place + 1]) : 0
  }

  fileprivate func signed(_ place: Int) -> Int { Int(Int16(truncatingIfNeeded: short(place))) }

  fileprivate func long(_ place: Int) -> Int { short(place) << 16 | short(place + 2) }

  fileprivate mutating func append(short number: Int) {
    append(UInt8(truncatingIfNeeded: number >> 8))
    append(UInt8(truncatingIfNeeded: number))
  }

  fileprivate mutating func append(long number: Int) {
    append(short: number >> 16)
    append(short: number)
  }
}

/// A face of the font that the program carries.
package enum PDFFace: Int, CaseIterable, Sendable {
  case regular, bold

  private static let fonts: [TrueTypeFont?] = [
    TrueTypeFont(FontData.bytes(of: FontData.regular, count: FontData.regularCount)),
    TrueTypeFont(FontData.bytes(of: FontData.bold, count: FontData.boldCount)),
  ]

  /// The font; nil if its bytes are damaged. A test shows that they are not.
  var font: TrueTypeFont? { Self.fonts[rawValue] }

  /// The PostScript name of the font, by which the PDF refers to it.
  var name: String { self == .regular ? "DejaVuSansCondensed" : "DejaVuSansCondensed-Bold" }

  /// The width of a text, in the unit of `size`.
  package func width(_ text: String, size: Double) -> Double {
    guard let font else { return 0 }
    return Self.letters(text).reduce(0) { sum, scalar in
      sum + ((font.glyph(scalar) ?? font.glyph(Self.substitute)).map(font.width) ?? 0)
    } * size / 1000
  }

  /// The letters of a text that the font lacks, each once, in the order of the text.
  package static func missing(in text: String) -> [Character] {
    guard let font = regular.font else { return [] }
    var missing: [Character] = []
    for scalar in letters(text) where font.glyph(scalar) == nil && !missing.contains(Character(scalar)) {
      missing.append(Character(scalar))
    }
    return missing
  }

  /// Drawn in place of each letter that the font lacks; a viewer would draw an empty box.
  static let substitute: Unicode.Scalar = "?"

  /// The code points that are drawn for a text. Accents are combined with their letters, blanks and line
  /// breaks are spaces, and invisible characters are left out.
  static func letters(_ text: String) -> [Unicode.Scalar] {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return Array(text.unicodeScalars) }
    return text.precomposedStringWithCanonicalMapping.unicodeScalars.compactMap { scalar in
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0xA0, 0x2009: " "
      case 0x00..<0x20, 0x7F..<0xA0, 0xAD, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F:
        nil
      default: scalar
      }
    }
  }
}
