// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A colour by its amounts of red, green and blue, 0 to 255.
package struct PDFColour: Hashable, Sendable {
  let parts: [UInt8]

  /// A colour as a number, such as `0x1B7044`.
  package init(_ number: UInt32) {
    parts = [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
  }

  var operands: String { parts.map { PDFObjects.number(Double($0) / 255) }.joined(separator: " ") }
}

/// A part of the outline of a shape, such as a line. Coordinates are in points, from the left and from the
/// top of the page.
package enum PDFSegment: Hashable, Sendable {
  case move(Double, Double)
  case line(Double, Double)
  case curve(Double, Double, Double, Double, Double, Double)
  case close
}

/// The colour, width and dashes of a line.
package struct PDFStroke: Hashable, Sendable {
  let colour: PDFColour
  let width: Double
  let dashes: [Double]

  /// A line of this width, in points; solid without dashes.
  package init(_ colour: PDFColour, width: Double, dashes: [Double] = []) {
    (self.colour, self.width, self.dashes) = (colour, width, dashes)
  }
}

/// A PDF with tags for screen readers and with its fonts inside. The same operations give the same bytes.
///
/// Coordinates are in points, from the left and from the top of the page.
package struct PDFDocument: Sendable {
  private struct Page: Sendable {
    let width: Double
    let height: Double
    var content = ""
  }

  /// The meaning of the content that was written last: a structure element, or decoration without a meaning.
  private enum Marked: Hashable, Sendable { case nothing, decoration, element(Int) }

  private let title: String
  private let language: String
  private let isCompressed: Bool
  private var pages: [Page] = []
  private var structure = PDFStructure()
  private var marked = Marked.nothing
  private var letters: [[UInt16: Unicode.Scalar]] = PDFFace.allCases.map { _ in [:] }
  /// The letters of drawn texts that the font lacks, each once. Question marks are drawn instead.
  package private(set) var missing: [Character] = []
  /// The last written operator of each kind (colour, width, dashes) on the current page, so that only changes
  /// are written.
  private var state: [String: String] = [:]

  /// A document without pages.
  ///
  /// - Parameters:
  ///   - language: the language as in HTML, such as `de`.
  ///   - isCompressed: whether streams are compressed; the bytes then depend on the version of zlib.
  package init(title: String, language: String, isCompressed: Bool = true) {
    (self.title, self.language, self.isCompressed) = (title, language, isCompressed)
  }

  /// Begins a page of this size in points.
  package mutating func addPage(width: Double, height: Double) {
    mark(.nothing)
    pages.append(Page(width: width, height: height))
    structure.addPage()
    state = [:]
  }

  /// Begins a structure element inside the innermost open element.
  package mutating func begin(_ role: PDFRole) {
    mark(.nothing)
    structure.begin(role)
  }

  /// Ends the innermost open element.
  package mutating func end() {
    mark(.nothing)
    structure.end()
  }

  /// Draws a text from its left end on its base line. Letters that the font lacks are question marks.
  package mutating func text(
    _ text: String, x: Double, y: Double, size: Double, _ face: PDFFace, _ colour: PDFColour,
    isSlanted: Bool = false
  ) {
    guard let font = face.font, let height = pages.last?.height else { return }
    var codes = ""
    for scalar in PDFFace.letters(text) {
      if font.glyph(scalar) == nil, !missing.contains(Character(scalar)) { missing.append(Character(scalar)) }
      let letter = font.glyph(scalar) == nil ? PDFFace.substitute : scalar
      guard let glyph = font.glyph(letter) else { continue }
      if letters[face.rawValue][glyph] == nil { letters[face.rawValue][glyph] = letter }
      codes += PDFObjects.hexadecimal(Int(glyph))
    }
    if codes.isEmpty { return }
    markCurrent()
    set("rg", "\(colour.operands) rg\n")
    let place = "\(PDFObjects.number(x)) \(PDFObjects.number(height - y))"
    let matrix = isSlanted ? "1 0 .2 1 \(place) Tm" : "\(place) Td"
    write("BT/F\(face.rawValue) \(PDFObjects.number(size)) Tf \(matrix)<\(codes)>Tj ET\n")
  }

  /// Draws an outline: filled, as a line, or both.
  package mutating func draw(_ outline: [PDFSegment], fill: PDFColour?, stroke: PDFStroke?) {
    guard !outline.isEmpty, fill != nil || stroke != nil, let height = pages.last?.height else { return }
    markCurrent()
    if let fill { set("rg", "\(fill.operands) rg\n") }
    if let stroke {
      set("RG", "\(stroke.colour.operands) RG\n")
      set("w", "\(PDFObjects.number(stroke.width)) w\n")
      set("d", "[\(stroke.dashes.map(PDFObjects.number).joined(separator: " "))]0 d\n")
      set("j", "1 j\n")
    }
    func point(_ x: Double, _ y: Double) -> String {
      "\(PDFObjects.number(x)) \(PDFObjects.number(height - y))"
    }
    let path = outline.map { segment in
      switch segment {
      case .move(let x, let y): "\(point(x, y)) m"
      case .line(let x, let y): "\(point(x, y)) l"
      case .curve(let x1, let y1, let x2, let y2, let x, let y):
        "\(point(x1, y1)) \(point(x2, y2)) \(point(x, y)) c"
      case .close: "h"
      }
    }
    let paint = fill == nil ? "S" : stroke == nil ? "f" : "B"
    write(path.joined(separator: " ") + " \(paint)\n")
  }

  /// The bytes of the complete file.
  package consuming func finish() -> [UInt8] {
    mark(.nothing)
    var objects = PDFObjects()
    let (root, tree, metadata, information) = (
      objects.reserve(), objects.reserve(), objects.reserve(), objects.reserve()
    )
    let fonts = PDFFace.allCases.map { face in
      letters[face.rawValue].isEmpty
        ? nil : PDFFontObjects.write(face, letters[face.rawValue], isCompressed: isCompressed, to: &objects)
    }
    let resources = fonts.enumerated().compactMap { index, font in font.map { "/F\(index) \($0) 0 R" } }
      .joined()
    let numbers = pages.map { _ in objects.reserve() }
    for (index, page) in pages.enumerated() {
      let content = objects.reserve()
      objects.write(content, stream: Array(page.content.utf8), isCompressed: isCompressed)
      let size = [page.width, page.height].map(PDFObjects.number).joined(separator: " ")
      objects.write(
        numbers[index],
        "<</Type/Page/Parent \(tree) 0 R/MediaBox[0 0 \(size)]/Resources<</Font<<\(resources)>>>>/Contents \(content) 0 R/StructParents \(index)/Tabs/S>>"
      )
    }
    let kids = numbers.map { "\($0) 0 R" }.joined(separator: " ")
    objects.write(tree, "<</Type/Pages/Count \(pages.count)/Kids[\(kids)]>>")
    let parts = structure.write(to: &objects, pages: numbers)
    objects.write(
      metadata, stream: Array(description.utf8), entries: "/Type/Metadata/Subtype/XML", isCompressed: false)
    objects.write(information, "<</Title\(PDFObjects.text(title))>>")
    objects.write(
      root,
      "<</Type/Catalog/Pages \(tree) 0 R/Metadata \(metadata) 0 R/StructTreeRoot \(parts) 0 R/MarkInfo<</Marked true>>/Lang\(PDFObjects.text(language))/ViewerPreferences<</DisplayDocTitle true>>>>"
    )
    return objects.finish(root: root, information: information)
  }
}

extension PDFDocument {
  private mutating func write(_ text: String) { pages[pages.count - 1].content += text }

  /// Writes an operator. If the last operator of its kind on this page is the same, nothing is written.
  private mutating func set(_ kind: String, _ text: String) {
    if state[kind] == text { return }
    state[kind] = text
    write(text)
  }

  private mutating func markCurrent() { mark(structure.current.map(Marked.element) ?? .decoration) }

  /// Ends the current marked content, and begins one that belongs to `next`.
  private mutating func mark(_ next: Marked) {
    guard next != marked, let page = pages.last else { return }
    if marked != .nothing { write("EMC\n") }
    switch next {
    case .nothing: break
    case .decoration: write("/Artifact BMC\n")
    case .element(let element):
      let number = structure.addContent(to: element, pageHeight: page.height)
      write("/\(structure.elements[element].role?.name ?? "P")<</MCID \(number)>>BDC\n")
    }
    marked = next
  }

  /// The title, language and type of the document as XMP metadata.
  private var description: String {
    func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        .replacing("\"", with: "&quot;")
    }
    return """
      <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
      <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">\
      <dc:format>application/pdf</dc:format>\
      <dc:title><rdf:Alt><rdf:li xml:lang="x-default">\(escaped(title))</rdf:li></rdf:Alt></dc:title>\
      <dc:language><rdf:Bag><rdf:li>\(escaped(language))</rdf:li></rdf:Bag></dc:language>\
      </rdf:Description></rdf:RDF></x:xmpmeta>
      <?xpacket end="r"?>
      """
  }
}

/// The PDF objects of a font. They hold the outlines and widths of its glyphs, and the letter of each glyph,
/// so that text can be copied and searched.
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
