// SPDX-License-Identifier: Apache-2.0

import PDF

extension Drawing {
  /// Draws everything on the last page of a document, at a place.
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

  /// A circle of four curves; the number is that with which they differ least from one.
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
