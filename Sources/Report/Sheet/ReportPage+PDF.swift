// SPDX-License-Identifier: Apache-2.0

import PDF

extension ReportPage {
  /// The PDF of some parts: the same bytes for the same contents.
  ///
  /// - Returns: with it the letters that its font lacks, for which it has question marks.
  package func pdf(_ parts: [ReportPart], _ paper: Paper) -> (bytes: [UInt8], missing: [Character]) {
    let sheets = parts.flatMap { self.sheets($0, paper) }
    var document = PDFDocument(title: documentTitle, language: texts.code)
    let left = (paper.width - Sheet.width) / 2
    for (index, sheet) in sheets.enumerated() {
      document.addPage(width: paper.width, height: paper.height)
      for place in sheet.places {
        place.drawing.draw(on: &document, x: left + place.x, y: Sheet.margin + place.y)
      }
      foot(index + 1, of: sheets.count).draw(
        on: &document, x: left, y: paper.height - Sheet.margin - Sheet.footHeight)
    }
    let missing = document.missing
    return (document.finish(), missing)
  }

  /// The title with the name and the period, as a window shows it.
  package var documentTitle: String {
    let name = contents.isAnonymised ? nil : contents.person.map { ForeignText.shown($0.name) }
    return [name, texts.title, contents.isAnonymised ? nil : periodText].compactMap(\.self).filter {
      !$0.isEmpty
    }
    .joined(separator: " · ")
  }

  /// What is at the bottom of each sheet: whose it is, and which of how many.
  private func foot(_ number: Int, of count: Int) -> Drawing {
    var drawing = Drawing(width: Sheet.width, height: Sheet.footHeight)
    let page = PageTexts.fill(texts.sheet.pageOf, "\(number)", "\(count)")
    let room = Sheet.width - Drawing.Font.small.width(page) - 12
    drawing.line(0, 5, Sheet.width, 5, Drawing.Stroke(ink: .grid))
    drawing.text(
      Drawing.Font.small.fitted("\(documentTitle) · glucoport \(contents.version)", room), 0, 14, .small,
      .soft)
    drawing.text(page, Sheet.width, 14, .small, .soft, .end)
    return drawing
  }
}
