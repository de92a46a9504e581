// SPDX-License-Identifier: Apache-2.0

import PDF

@testable import Report

/// Finds faults of a drawing that a person would see at once.
enum DrawingCheck {
  private struct Box {
    let text: String
    let left: Double
    let top: Double
    let right: Double
    let bottom: Double

    init(_ text: Drawing.Text) {
      self.text = text.text
      (left, right) = (text.x, text.x + text.width)
      // The height of capitals and digits is 0.73 of the font size.
      (top, bottom) = (text.y - 0.73 * text.font.size, text.y + 0.02 * text.font.size)
    }

    func covers(_ other: Box) -> Bool {
      min(right, other.right) - max(left, other.left) > 0.3
        && min(bottom, other.bottom) - max(top, other.top) > 0.3
    }
  }

  /// The texts that cover each other, and the parts that are outside of the drawing.
  static func faults(_ drawing: Drawing) -> [String] {
    let boxes = texts(drawing).map(Box.init)
    var faults: [String] = []
    for (index, box) in boxes.enumerated() {
      let isInside =
        box.left >= -0.1 && box.top >= -0.1 && box.right <= drawing.width + 0.1
        && box.bottom <= drawing.height + 0.1
      if !isInside { faults.append("outside: \(box.text)") }
      faults += boxes[(index + 1)...].filter(box.covers).map { "'\(box.text)' covers '\($0.text)'" }
    }
    for (x, y) in points(drawing) {
      let isInside = x >= -0.5 && y >= -0.5 && x <= drawing.width + 0.5 && y <= drawing.height + 0.5
      if !isInside { faults.append("outside: \(x) \(y)") }
    }
    return faults
  }

  /// The number of parts of a drawing that begin, minus the number of those that end.
  static func openParts(_ drawing: Drawing) -> Int {
    drawing.operations.reduce(0) { count, operation in
      switch operation {
      case .begin: count + 1
      case .end: count - 1
      case .text, .shape, .circle: count
      }
    }
  }

  /// The texts of each row of a table.
  static func rows(_ drawing: Drawing) -> [[String]] {
    drawing.reading.matches(of: /<tr>(.*?)<\/tr>/).map { row in
      row.1.matches(of: /<t[hd][^>]*>([^<]*)<\/t[hd]>/).map {
        String($0.1).replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      }
    }
  }

  static func texts(_ drawing: Drawing) -> [Drawing.Text] {
    drawing.operations.compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  static func words(_ drawing: Drawing) -> [String] { texts(drawing).map(\.text) }

  private static func points(_ drawing: Drawing) -> [(Double, Double)] {
    drawing.operations.flatMap { operation -> [(Double, Double)] in
      switch operation {
      case .shape(let outline, _, _):
        outline.flatMap { segment -> [(Double, Double)] in
          switch segment {
          case .move(let x, let y), .line(let x, let y): [(x, y)]
          case .curve(let x1, let y1, let x2, let y2, let x, let y): [(x1, y1), (x2, y2), (x, y)]
          case .close: []
          }
        }
      case .circle(let x, let y, let radius, _, _): [(x - radius, y - radius), (x + radius, y + radius)]
      case .text, .begin, .end: []
      }
    }
  }
}
