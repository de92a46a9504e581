// SPDX-License-Identifier: Apache-2.0

import PDF

/// The paper on which a report is printed.
package enum Paper: String, CaseIterable, Sendable {
  case a4 = "A4"
  case letter = "Letter"

  /// The width in points.
  var width: Double { self == .a4 ? 595.28 : 612 }
  /// The height in points.
  var height: Double { self == .a4 ? 841.89 : 792 }
  /// The height in points for the boxes of a sheet, without the margins of 12 mm and the foot.
  var room: Double { height - 2 * Sheet.margin - Sheet.footHeight }
}

/// One printed page. Its boxes are next to each other if there is space, otherwise one below the other.
struct Sheet: Sendable {
  /// A part of a sheet with its own drawing. A phone shows the boxes one below the other.
  struct Box: Sendable {
    let drawing: Drawing
    /// The drawing for a phone; nil if the usual drawing is large enough to read.
    var narrow: Drawing?
    /// Whether the box is a table, which a phone shows as text.
    var isTable = false
    /// Whether the box has the whole width, so that a phone must scroll it.
    var isWide: Bool { drawing.width > Sheet.width * 0.7 }
    /// Whether the box has only lines of text, which an HTML page can break to its own width.
    var isText: Bool {
      isWide
        && drawing.operations.allSatisfy { operation in
          switch operation {
          case .begin(.paragraph), .end, .text: true
          case .begin, .shape, .circle: false
          }
        }
    }
    /// The percentage of the sheet's width that the box takes on a wide screen.
    var percent: Int { Int(drawing.width / Sheet.width * 100) }
  }

  /// The width in points: 186 mm, which fits on A4 and Letter.
  static let width = 527.24
  /// The width of the list of ranges.
  static let rangesWidth = 300.0
  /// The width of a picture that fills the screen of a phone, in points. Letters of 7 points are then 9
  /// pixels high.
  static let phoneWidth = 244.0
  /// The smallest font in a picture of this width.
  static func smallest(_ width: Double) -> Drawing.Font {
    Drawing.Font(size: width > phoneWidth ? 6.5 : 7)
  }
  static let margin = 34.0
  static let gap = 8.0
  static let footHeight = 16.0

  /// The name of the sheet's section in HTML.
  let anchor: String
  let boxes: [Box]

  /// The position of each box.
  var places: [(x: Double, y: Double, drawing: Drawing)] {
    var (x, y, rowHeight): (Double, Double, Double) = (0, 0, 0)
    return boxes.map { box in
      if x > 0, x + box.drawing.width > Self.width + 0.1 {
        (x, y, rowHeight) = (0, y + rowHeight + Self.gap, 0)
      }
      let place = (x, y, box.drawing)
      x += box.drawing.width + Self.gap
      rowHeight = max(rowHeight, box.drawing.height)
      return place
    }
  }
}

extension Drawing {
  /// The height of a box's title.
  static let titleHeight = 15.0

  /// A box with its title and a frame.
  static func box(_ title: String, width: Double, height: Double, note: String = "") -> Drawing {
    var drawing = Drawing(width: width, height: height)
    drawing.rectangle(0, 0, width, titleHeight, fill: .panel)
    drawing.rectangle(0.3, 0.3, width - 0.6, height - 0.6, stroke: Stroke(ink: .line, width: 0.6))
    drawing.part(.heading(2)) { $0.text(title, 6, 10.8, .title) }
    if !note.isEmpty {
      let room = width - 18 - Font.title.width(title)
      drawing.part(.paragraph) {
        $0.text(Font.small.fitted(note, room), width - 6, 10.5, .small, .soft, .end)
      }
    }
    return drawing
  }

  /// Adds the text below the title, and returns the height of its lines in points.
  mutating func noteText(_ text: String) -> Double {
    let lines = Font.small.wrapped(text, width - 12)
    part(.paragraph) { drawing in
      for (index, line) in lines.enumerated() {
        drawing.text(line, 6, Self.titleHeight + 9 * Double(index + 1), .small, .soft)
      }
    }
    return 9 * Double(lines.count) + 4
  }

  /// Writes the reason why the box has no figure into the middle of the box.
  mutating func reason(_ text: String) {
    let lines = Font.plain.wrapped(text, width - 40)
    let (width, height) = (width, height)
    part(.paragraph) { drawing in
      for (index, line) in lines.enumerated() {
        let y =
          Self.titleHeight + (height - Self.titleHeight) / 2 + Double(index) * 11 - Double(lines.count - 1)
          * 5.5
        drawing.text(line, width / 2, y + 3, .plain, .soft, .middle)
      }
    }
  }
}
