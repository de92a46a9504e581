// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The PDF objects of a font: the outlines and widths of its glyphs, and the letter of each glyph, so that
/// text can be copied and searched.
enum PDFFontObjects {
  /// Writes the font with only the glyphs of these letters.
  ///
  /// - Returns: the number of the font's object.
  static func write(
    _ face: PDFFace, _ letters: [UInt16: Unicode.Scalar], isCompressed: Bool, to objects: inout PDFObjects
  ) -> Int {
    let numbers = (0..<5).map { _ in objects.reserve() }
    guard let font = face.font else { return numbers[0] }
    let glyphs = letters.keys.sorted()
    let name = "\(tag(glyphs))+\(face.name)"
    objects.write(
      numbers[0],
      "<</Type/Font/Subtype/Type0/BaseFont/\(name)/Encoding/Identity-H/DescendantFonts[\(numbers[1]) 0 R]/ToUnicode \(numbers[4]) 0 R>>"
    )
    let widths = glyphs.map { "\($0)[\(PDFObjects.number(font.width($0)))]" }.joined()
    objects.write(
      numbers[1],
      "<</Type/Font/Subtype/CIDFontType2/BaseFont/\(name)/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor \(numbers[2]) 0 R/CIDToGIDMap/Identity/DW 600/W[\(widths)]>>"
    )
    func scaled(_ number: Int) -> String {
      PDFObjects.number((Double(number) * 1000 / font.unitsPerEm).rounded())
    }
    let box = font.box.map(scaled).joined(separator: " ")
    let (ascent, descent) = (scaled(font.rise.ascent), scaled(font.rise.descent))
    objects.write(
      numbers[2],
      "<</Type/FontDescriptor/FontName/\(name)/Flags 32/FontBBox[\(box)]/ItalicAngle 0/Ascent \(ascent)/Descent \(descent)/CapHeight 729/StemV \(face == .bold ? 140 : 80)/FontFile2 \(numbers[3]) 0 R>>"
    )
    let outlines = font.subset(Set(glyphs))
    objects.write(
      numbers[3], stream: outlines, entries: "/Length1 \(outlines.count)", isCompressed: isCompressed)
    objects.write(numbers[4], stream: Array(characters(glyphs, letters).utf8), isCompressed: isCompressed)
    return numbers[0]
  }

  /// The six letters before the name of a subset font. They are a digest of its glyphs, so that different
  /// subsets have different names.
  private static func tag(_ glyphs: [UInt16]) -> String {
    var digest = Digest()
    digest.update(glyphs.map(String.init).joined(separator: " "))
    return String(digest.bytes().prefix(6).map { Character(Unicode.Scalar(UInt8(ascii: "A") + $0 % 26)) })
  }

  private static func characters(_ glyphs: [UInt16], _ letters: [UInt16: Unicode.Scalar]) -> String {
    // PDF permits at most 100 lines in a group of a character map.
    let groups = stride(from: 0, to: glyphs.count, by: 100).map { start in
      let group = glyphs[start..<min(start + 100, glyphs.count)]
      let lines = group.map { glyph in
        let code =
          letters[glyph].map { String($0).utf16.map { PDFObjects.hexadecimal(Int($0)) }.joined() } ?? "FFFD"
        return "<\(PDFObjects.hexadecimal(Int(glyph)))> <\(code)>"
      }
      return "\(group.count) beginbfchar\n\(lines.joined(separator: "\n"))\nendbfchar\n"
    }
    return """
      /CIDInit /ProcSet findresource begin
      12 dict begin
      begincmap
      /CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def
      /CMapName /Adobe-Identity-UCS def
      /CMapType 2 def
      1 begincodespacerange
      <0000> <FFFF>
      endcodespacerange
      \(groups.joined())endcmap
      CMapName currentdict /CMap defineresource pop
      end
      end
      """
  }
}
