// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import PDF

/// Tests PDF documents, which are parsed as a PDF reader does.
struct PDFDocumentTests {
  private static let ink = PDFColour(0x111111)

  /// Two pages with a heading, a table that spans them, a picture and decoration.
  private func document(_ name: String = "Jürgen", isCompressed: Bool = true) -> PDFDocument {
    var document = PDFDocument(title: "Report · \(name)", language: "de", isCompressed: isCompressed)
    document.addPage(width: 595.28, height: 841.89)
    document.begin(.heading(1))
    document.text("Report <&> \(name)", x: 34, y: 50, size: 15, .bold, Self.ink)
    document.end()
    document.begin(.figure("A curve & more", x: 10, y: 100, width: 200, height: 50))
    document.draw(
      [.move(10, 100), .line(210, 150)], fill: nil, stroke: PDFStroke(Self.ink, width: 1, dashes: [3, 2]))
    document.text("axis", x: 10, y: 160, size: 7, .regular, Self.ink)
    document.end()
    document.begin(.table)
    for (index, role) in [PDFRole.rowHead, .cell].enumerated() {
      document.begin(.row)
      document.begin(role)
      document.text("cell \(index)", x: 10, y: 200, size: 8, .regular, Self.ink, isSlanted: index == 1)
      document.end()
      document.end()
      document.draw([.move(0, 205), .line(300, 205)], fill: nil, stroke: PDFStroke(Self.ink, width: 0.5))
      if index == 0 { document.addPage(width: 612, height: 792) }
    }
    document.end()
    document.text("foot", x: 10, y: 780, size: 7, .regular, Self.ink)
    return document
  }

  @Test func everyPDFObjectIsAtItsOffsetInTheCrossReferenceTable() throws {
    let file = try #require(PDFFile(document().finish()))
    #expect(file.all("/Type/Page/").count == 2 && file.all("/Type/Catalog").count == 1)
    #expect(
      file.all("/Type/Page/").map { $0.text.contains("/MediaBox[0 0 595.28 841.89]") } == [true, false])
    // Every reference has its object.
    for (number, text) in file.objects {
      for reference in text.matches(of: /(\d+) 0 R/) {
        #expect(Int(reference.1).map { file.objects[$0] != nil } == true, "\(number): \(reference.1)")
      }
    }
  }

  @Test func equalOperationsGiveEqualPDFBytesWithoutADate() throws {
    let bytes = document().finish()
    #expect(bytes == document().finish() && bytes != document("Anna").finish())
    let text = String(decoding: document(isCompressed: false).finish(), as: UTF8.self)
    for word in ["Date", "2026", "xmp:", "/Producer", "/Creator"] { #expect(!text.contains(word), "\(word)") }
    // Compression depends on the version of zlib; all else is the same everywhere.
    var digest = Digest()
    let plain = document(isCompressed: false).finish()
    plain.withUnsafeBytes { digest.update($0) }
    #expect(digest.hexadecimal() == Self.digest)
  }

  private static let digest = "4588c6df987a6bea11449d271583e688ee5c5e94e0a1d853ddf3a175823c640c"

  @Test func textOfAPDFIsFoundInReadingOrder() throws {
    let file = try #require(PDFFile(document("Ágnes Őry Żółć Ωμέγα Юлия ▲▼ ≤ €").finish()))
    #expect(
      file.texts == [
        ["Report <&> Ágnes Őry Żółć Ωμέγα Юлия ▲▼ ≤ €", "axis", "cell 0"], ["cell 1", "foot"],
      ])
  }

  @Test func aPDFHasTheStructureThatAScreenReaderNeeds() throws {
    let file = try #require(PDFFile(document().finish()))
    let catalogue = try #require(file.all("/Type/Catalog").first).text
    for word in [
      "/MarkInfo<</Marked true>>", "/Lang<FEFF00640065>", "/DisplayDocTitle true", "/StructTreeRoot",
    ] {
      #expect(catalogue.contains(word), "\(word)")
    }
    let types = file.all("/Type/StructElem").map {
      $0.text.firstMatch(of: /\/S\/([A-Za-z0-9]+)/).map { String($0.1) }
    }
    #expect(types == ["Document", "H1", "Figure", "Table", "TR", "TH", "TR", "TD"])
    let figure = try #require(file.all("/S/Figure").first).text
    #expect(
      figure.contains("/Alt\(PDFObjects.text("A curve & more"))")
        && figure.contains("/BBox[10 691.89 210 741.89]"))
    #expect(file.all("/S/TH").first?.text.contains("/Scope/Row") == true)
    #expect(file.all("/Tabs/S").count == 2)
  }

  @Test func allMarkedPDFContentHasItsStructureElement() throws {
    let file = try #require(PDFFile(document().finish()))
    let tree = try #require(file.all("<</Nums[").first).text
    for (page, content) in file.contents.enumerated() {
      let numbers = content.matches(of: /\/MCID (\d+)>>BDC/).compactMap { Int($0.1) }
      #expect(numbers == Array(0..<numbers.count))
      let list = try #require(tree.firstMatch(of: try Regex("\(page)\\[([^\\]]*)\\]")))
      #expect(String(list.output[1].substring ?? "").ranges(of: "0 R").count == numbers.count)
      // Nothing is drawn outside of marked content, and marked content is never nested.
      var isOpen = false
      for line in content.split(separator: "\n") {
        if line.hasSuffix("BDC") || line.hasSuffix("BMC") {
          #expect(!isOpen)
          isOpen = true
        } else if line == "EMC" {
          #expect(isOpen)
          isOpen = false
        } else {
          #expect(isOpen, "\(line)")
        }
      }
      #expect(!isOpen)
    }
    #expect(file.contents[1].contains("/Artifact BMC"))
  }

  @Test func theTitleInThePDFMetadataIsEscaped() throws {
    let document = PDFDocument(title: "A <b> & \"c\"", language: "en")
    let file = try #require(PDFFile(document.finish()))
    let metadata = try #require(file.all("/Type/Metadata").first)
    let text = String(decoding: try #require(file.streams[metadata.number]), as: UTF8.self)
    #expect(text.contains("<rdf:li xml:lang=\"x-default\">A &lt;b&gt; &amp; &quot;c&quot;</rdf:li>"))
    #expect(text.contains("<dc:language><rdf:Bag><rdf:li>en</rdf:li>"))
  }

  @Test func lettersThatTheFontLacksAreListedAndDrawnAsQuestionMarks() throws {
    var document = PDFDocument(title: "", language: "en")
    document.addPage(width: 100, height: 100)
    document.text("Li 李 🎉 李 ع", x: 0, y: 10, size: 8, .regular, Self.ink)
    #expect(document.missing == ["李", "🎉", "ع"])
    let file = try #require(PDFFile(document.finish()))
    #expect(file.texts == [["Li ? ? ? ?"]])
    #expect(PDFFace.missing(in: "Zoë") == [] && PDFFace.missing(in: "Zoe\u{308} 李") == ["李"])
  }

  @Test(arguments: UInt64(1)...20) func randomTextNeverDamagesAPDFDocument(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let scalars = (0..<200).compactMap { _ in
      Unicode.Scalar(
        UInt32.random(in: 0...(Bool.random(using: &generator) ? 0x24F : 0x1FFFF), using: &generator))
    }
    let text = String(String.UnicodeScalarView(scalars))
    var document = PDFDocument(title: text, language: text)
    document.addPage(width: 100, height: 100)
    document.begin(.figure(text, x: 0, y: 0, width: 1, height: 1))
    document.text(text, x: 0, y: 10, size: 8, .bold, Self.ink)
    document.end()
    let file = try #require(PDFFile(document.finish()))
    #expect(!file.contents.joined().contains("<0000"))
    #expect(file.texts.joined().joined().unicodeScalars.allSatisfy { $0 != "\u{FFFD}" })
  }

  @Test(arguments: [
    (0.0, "0"), (1, "1"), (-1.5, "-1.5"), (0.25, ".25"), (-0.05, "-.05"), (12.345, "12.35"), (3.10, "3.1"),
    (-0.001, "0"),
  ])
  func numbersInAPDFHaveAtMostTwoDecimals(_ number: Double, _ text: String) {
    #expect(PDFObjects.number(number) == text)
  }
}
