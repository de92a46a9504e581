// SPDX-License-Identifier: Apache-2.0

import PDF

extension ReportPage {
  /// The letters of a text that the font of the PDF lacks; the PDF shows question marks instead.
  package static func lettersMissing(in text: String) -> [Character] { PDFFace.missing(in: text) }

  /// The PDF of some parts. The same contents give the same bytes.
  ///
  /// - Returns: the bytes, and the letters that the font lacks, for which the PDF has question marks.
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

  /// The title that a window shows for the document: title, name and period.
  package var documentTitle: String {
    [shownName, periodTitle].filter { !$0.isEmpty }.joined(separator: " · ")
  }

  /// The name of the person; empty without one.
  private var shownName: String {
    contents.isAnonymised ? "" : contents.person.map { ForeignText.shown($0.name) } ?? ""
  }

  private var periodTitle: String {
    contents.isAnonymised ? texts.title : "\(texts.title) · \(periodText)"
  }

  /// The line at the bottom of each sheet: the person, the period, and the number of the page.
  func foot(_ number: Int, of count: Int) -> Drawing {
    var drawing = Drawing(width: Sheet.width, height: Sheet.footHeight)
    let page = PageTexts.fill(texts.sheet.pageOf, "\(number)", "\(count)")
    let room = Sheet.width - Drawing.Font.small.width(page) - 12
    drawing.line(0, 5, Sheet.width, 5, Drawing.Stroke(ink: .grid))
    // A long name is shortened, but the text with the period is not.
    let rest = "\(periodTitle) · glucoport \(contents.version)"
    let name = Drawing.Font.small.fitted(shownName, room - Drawing.Font.small.width(" · " + rest) - 0.5)
    let text = [name, rest].filter { !$0.isEmpty }.joined(separator: " · ")
    drawing.text(Drawing.Font.small.fitted(text, room), 0, 14, .small, .soft)
    drawing.text(page, Sheet.width, 14, .small, .soft, .end)
    return drawing
  }
}

extension Drawing {
  /// Draws the operations on the last page of a document, moved by `x` and `y`.
  func draw(on document: inout PDFDocument, x: Double, y: Double) {
    var moved = Drawing(width: width, height: height)
    moved.add(self, x: x, y: y)
    for operation in moved.operations { Self.draw(operation, on: &document) }
  }

  private static func draw(_ operation: Operation, on document: inout PDFDocument) {
    switch operation {
    case .begin(let role): document.begin(role)
    case .end: document.end()
    case .text(let text):
      document.text(
        text.text, x: text.x, y: text.y, size: text.font.size, text.font.isBold ? .bold : .regular,
        text.ink.colour, isSlanted: text.font.isSlanted)
    case .shape(let outline, let fill, let stroke):
      document.draw(outline, fill: fill?.colour, stroke: stroke?.pdf)
    case .circle(let x, let y, let radius, let fill, let stroke):
      document.draw(round(x, y, radius), fill: fill?.colour, stroke: stroke?.pdf)
    }
  }

  /// A circle of four curves. With the factor 0.5523 the curves differ least from a true circle.
  private static func round(_ x: Double, _ y: Double, _ r: Double) -> [PDFSegment] {
    let k = 0.5523 * r
    return [
      .move(x + r, y), .curve(x + r, y + k, x + k, y + r, x, y + r),
      .curve(x - k, y + r, x - r, y + k, x - r, y),
      .curve(x - r, y - k, x - k, y - r, x, y - r), .curve(x + k, y - r, x + r, y - k, x + r, y), .close,
    ]
  }
}

extension Drawing.Stroke {
  fileprivate var pdf: PDFStroke { PDFStroke(ink.colour, width: width, dashes: dashes) }
}
