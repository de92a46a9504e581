// SPDX-License-Identifier: Apache-2.0

import Archives
import FormatConformance
import Foundation
import Logbook
import TestArchives
import Testing

/// Spreadsheets, each named after the one part that is long.
extension ParsedContent {
  static let sheets: [ParsedContent] = [
    sheet("rows", 4000, repeated(#"<row><c><v>1</v></c><c t="b"><v>1</v></c></row>"#)),
    sheet("cells of one row", 8000, repeated("<c><v>1.5</v></c>", between: "<row>", "</row>")),
    sheet("rows without cells", 20_000, repeated("<row/>")),
    sheet("elements that are none of a sheet", 20_000, repeated("<x><y/></x>", between: "<row>", "</row>")),
    sheet(
      "a text of escapes", 15_000,
      repeated("_x000D_", between: #"<row><c t="str"><v>"#, "</v></c></row>")),
    sheet("a text of quotes", 100_000, repeated("\"", between: #"<row><c t="str"><v>"#, "</v></c></row>")),
    sheet("a long attribute", 400_000, repeated("x", between: "<row a=\"", "\"/>")),
    sheet("a long comment", 400_000, repeated("x", between: "<!--", "-->")),
    part(
      "shared texts", 6000, "xl/sharedStrings.xml", repeated("<si><t>x</t></si>", between: "<sst>", "</sst>")),
    part(
      "a shared text of runs", 6000, "xl/sharedStrings.xml",
      repeated("<r><t>x</t></r>", between: "<sst><si>", "</si></sst>")),
    part(
      "cell formats", 6000, "xl/styles.xml",
      repeated("<xf numFmtId=\"14\"/>", between: "<styleSheet><cellXfs>", "</cellXfs></styleSheet>")),
    table("rows of ODS", 3000, repeated(row)),
    table("cells of ODS", 3000, repeated(cell, between: "<table:table-row>", "</table:table-row>")),
    table(
      "paragraphs of ODS", 6000,
      repeated(
        "<text:p>x<text:s/></text:p>", between: "<table:table-row><table:table-cell>",
        "</table:table-cell></table:table-row>")),
  ]

  private static let cell =
    #"<table:table-cell office:value-type="float" office:value="1.5"><text:p>1,5</text:p></table:table-cell>"#
  private static let row = "<table:table-row>\(cell)</table:table-row>"

  /// XLSX whose sheet has this content.
  private static func sheet(_ name: String, _ size: Int, _ make: @escaping @Sendable (Int) -> [UInt8])
    -> ParsedContent
  {
    part(name, size, "xl/worksheets/sheet0.xml") { count in
      Array("<worksheet><sheetData>".utf8) + make(count) + Array("</sheetData></worksheet>".utf8)
    }
  }

  /// An XLSX file in which one file has this content.
  private static func part(
    _ name: String, _ size: Int, _ path: String, _ make: @escaping @Sendable (Int) -> [UInt8]
  ) -> ParsedContent {
    ParsedContent("Spreadsheet: \(name)", size) { count in
      var writer = SpreadsheetWriter([.init("A", [[.text("a"), .serial("1", .date)]])])
      writer.parts = [(path, String(decoding: make(count), as: UTF8.self))]
      return stored(writer.xlsxParts().filter { $0.0 != path } + writer.parts.map { ($0.path, $0.text) })
    } _: { bytes in
      try readSheet(bytes)
    }
  }

  /// ODS whose table has this content.
  private static func table(_ name: String, _ size: Int, _ make: @escaping @Sendable (Int) -> [UInt8])
    -> ParsedContent
  {
    ParsedContent("Spreadsheet: \(name)", size) { count in
      let rows = String(decoding: make(count), as: UTF8.self)
      let content = SpreadsheetWriter.content(#"<table:table table:name="A">\#(rows)</table:table>"#)
      return stored([
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content),
      ])
    } _: { bytes in
      try readSheet(bytes)
    }
  }

  /// An archive as long as its members, so that twice the content is twice the archive.
  private static func stored(_ members: [(String, String)]) -> [UInt8] {
    let entries = members.map { ZipWriter.Entry(name: $0.0, bytes: Array($0.1.utf8), isDeflated: false) }
    do {
      return try ZipWriter(entries: entries).bytes()
    } catch {
      Issue.record(error)
      return []
    }
  }

  private static func readSheet(_ bytes: [UInt8]) throws {
    let scratch = try ScratchFile(bytes)
    let file = try FileHandle(forReadingFrom: scratch.url)
    defer { withExtendedLifetime((scratch, file)) {} }
    do {
      let archive = try ZipArchive(descriptor: file.fileDescriptor, name: "test")
      let kind = try Spreadsheet.kind(of: archive, isInterrupted: { false })
      guard case .spreadsheet(let spreadsheet) = kind else { throw Failure(.badInput, "not a spreadsheet") }
      _ = try spreadsheet.write(0) { _ in true }
    } catch let failure as Failure {
      #expect(failure.category == .badInput, "\(failure.message)")
    }
  }
}
