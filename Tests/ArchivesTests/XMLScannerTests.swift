// SPDX-License-Identifier: Apache-2.0

import Archives
import Testing

@Suite struct XMLScannerTests {
  private static let shape = ElementShape(
    path: ["Root", "Row"], attributes: ["a", "b"],
    pairs: ElementShape.Pairs(element: "Entry", key: "key", value: "value", names: ["k"]))

  /// The rows of a text that arrives in pieces, with cells joined by bars, and why it ended.
  private func scan(
    _ text: String, piece: Int = 5, as shape: ElementShape = shape
  ) -> (rows: [String], stop: String?) {
    let scanner = XMLScanner(shape)
    var rows: [String] = []
    let bytes = Array(text.utf8)
    var place = 0
    while true {
      let next = min(bytes.count, place + piece)
      let stop = bytes[place..<next].withUnsafeBufferPointer { scanner.feed($0, isLast: next == bytes.count) }
      for row in scanner.rows { rows.append(cells(of: row, scanner, shape)) }
      if let stop { return (rows, "\(stop.line): \(stop.reason)") }
      if next == bytes.count { return (rows, nil) }
      place = next
    }
  }

  private func cells(
    of row: XMLScanner.FoundRow, _ scanner: XMLScanner, _ shape: ElementShape
  ) -> String {
    scanner.withValues { values in
      (0..<shape.columnCount).map { column in
        scanner.value(row, column).map { String(decoding: values[$0..<($0 + $1)], as: UTF8.self) } ?? "-"
      }.joined(separator: "|")
    }
  }

  @Test(arguments: [1, 3, 1000]) func xmlRowsAreFoundInPiecesOfAnySize(_ piece: Int) {
    let text = """
      <?xml version="1.0"?><Root><Row b="2" a="1"/><Other a="9"/>
      <Row a="x &amp; y"><Entry key="k" value="ä"/><Entry key="j" value="no"/></Row>
      <Group><Row a="nested"/></Group><Row/></Root>
      """
    #expect(scan(text, piece: piece).rows == ["1|2|-", "x & y|-|ä", "-|-|-"])
    #expect(scan(text, piece: piece).stop == nil)
  }

  @Test(arguments: [1, 4, 16, 1000]) func xmlAttributesAreReadInAnyOrderAndAcrossPieces(_ piece: Int) {
    let text = """
      <Root><Row a="1" b="2" c="3"/><Row c="3" b="4"/><Row b="5" a="6"><Entry value="7" key="k"/> <Entry key="k"/></Row><Row
      d="8" e="9" a="10"><Entry key="kk" value="no"/><Entry other="0" key="k" value=""/></Row><Row a="11" b="12"/></Root>
      """
    #expect(scan(text, piece: piece).rows == ["1|2|-", "-|4|-", "6|5|7", "10|-|", "11|12|-"])
  }

  @Test func xmlRowsWithHundredsOfAttributesAreRead() {
    let many = (0..<200).map { "x\($0)='0'" }.joined(separator: " ")
    let (rows, stop) = scan("<Root><Row \(many) a='1'/><Row b='2' a='3'/><Row a='4' \(many) b='5'/></Root>")
    #expect(rows == ["1|-|-", "3|2|-", "4|5|-"] && stop == nil)
  }

  @Test func xmlRowsAreReportedWithLineAndByteOffset() throws {
    let text = "<Root>\n<Row a='1'\n/>\n <Row a='2'>\n</Row></Root>"
    let scanner = XMLScanner(Self.shape)
    _ = Array(text.utf8).withUnsafeBufferPointer { scanner.feed($0, isLast: true) }
    #expect(scanner.rows.map(\.line) == [2, 4])
    let bytes = Array(text.utf8)
    let sources = scanner.rows.map {
      String(decoding: bytes[Int($0.source.lowerBound)..<Int($0.source.upperBound)], as: UTF8.self)
    }
    #expect(sources == ["<Row a='1'\n/>", "<Row a='2'>\n</Row>"])
  }

  @Test(arguments: [1, 2, 3, 7]) func theBytesOfAnUnfinishedXMLTagAreKeptForTheNextPiece(_ piece: Int) {
    let bytes = Array("<Root><Row a='1'/>  <Row a='2'></Row><Other/><Row/></Root>".utf8)
    let scanner = XMLScanner(Self.shape)
    var rows = 0
    for place in stride(from: 0, to: bytes.count, by: piece) {
      let needed = scanner.neededFrom
      let next = min(place + piece, bytes.count)
      _ = bytes[place..<next].withUnsafeBufferPointer { scanner.feed($0, isLast: next == bytes.count) }
      for row in scanner.rows { #expect(row.source.lowerBound >= needed) }
      #expect(scanner.neededFrom >= needed)
      rows += scanner.rows.count
    }
    #expect(rows == 3)
    // Bytes that were parsed are no longer needed.
    #expect(scanner.neededFrom > Int64(bytes.count / 2))
  }

  @Test func truncatedXMLEndsAfterItsCompleteRows() {
    let (rows, stop) = scan("<Root><Row a='1'/><Row a='2'")
    #expect(rows == ["1|-|-"])
    #expect(stop?.hasPrefix("1: the XML is truncated or damaged") == true)
  }

  @Test func xmlElementsNestedTooDeepAreRefused() {
    let deep = "<Root>" + String(repeating: "<a>", count: 100_000)
    #expect(scan(deep, piece: 4096).stop == "1: XML elements are nested deeper than 64")
  }

  @Test func anEndlessXMLTagIsRefused() {
    let (rows, stop) = scan("<Root a='" + String(repeating: "x", count: 9 << 20), piece: 1 << 20)
    #expect(rows.isEmpty && stop == "1: a tag of the XML is longer than 8 MiB")
  }

  @Test func anUndefinedXMLEntityIsRefused() {
    let (rows, stop) = scan("<Root><Row a='&lol;'/></Root>", piece: 1000)
    #expect(rows.isEmpty && stop?.contains("undefined entity") == true)
  }

  @Test func xmlThatDeclaresEntitiesIsRefused() {
    let text = "<!DOCTYPE Root [<!ENTITY lol 'x'>]><Root><Row a='&lol;'/></Root>"
    for piece in [1, 1000] {
      #expect(scan(text, piece: piece).rows.isEmpty)
      #expect(scan(text, piece: piece).stop == "1: the XML declares entities, which no export does")
    }
  }

  // MARK: The prolog

  @Test func theXMLRootElementIsFoundAfterADocumentType() {
    let text =
      "<?xml version='1.0'?>\n<!-- <a> --><!DOCTYPE HealthData [\n<!-- ]> --> <!ATTLIST a b [x] ]\n>\n<HealthData l='en'>"
    let prolog = XMLProlog(Array(text.utf8))
    #expect(prolog.rootElement == "HealthData" && prolog.isComplete && !prolog.declaresEntities)
    #expect(prolog.documentType.map { Array(text.utf8)[$0].count } ?? 0 > 40)
  }

  @Test func anIncompleteDocumentTypeStillNamesTheXMLRoot() {
    let prolog = XMLProlog(Array("<!DOCTYPE HealthData [ <!ELEMENT a (b)>".utf8))
    #expect(prolog.rootElement == "HealthData" && !prolog.isComplete)
  }

  @Test func declaredEntitiesAreFoundAtTheStartOfAnXMLFile() {
    #expect(XMLProlog(Array("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>".utf8)).declaresEntities)
  }

  @Test(arguments: ["", "<", "<!", "<!DOCTYPE", "<!DOCTYPE a", "<?xml", "<!--", "a<b/>"])
  func anXMLPrologWithoutItsEndIsIncomplete(_ text: String) {
    #expect(!XMLProlog(Array(text.utf8)).isComplete)
  }

  @Test(arguments: [1, 3, 16, 1000]) func theNameOfAWildcardXMLElementIsTheLastColumnOfItsRows(_ piece: Int) {
    let shape = ElementShape(path: ["Root", ElementShape.anyName, "Row"], attributes: ["a"])
    let text = """
      <Root><First><Row a="1"/><Row a='2'/></First><Empty/><Row a="no"/><Second><Other><Row a="no"/></Other>
      <Row a="3"><Third/></Row><Row/></Second></Root>
      """
    #expect(scan(text, piece: piece, as: shape).rows == ["1|First", "2|First", "3|Second", "-|Second"])
  }
}
