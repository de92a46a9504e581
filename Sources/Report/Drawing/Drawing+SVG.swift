// SPDX-License-Identifier: Apache-2.0

import PDF

extension Drawing {
  /// The picture as SVG for a page in HTML. Screen readers get `reading` instead.
  ///
  /// Each text has the width that it has in the PDF, whatever font the browser uses.
  var svg: String {
    var svg =
      "<svg aria-hidden=\"true\" viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" preserveAspectRatio=\"xMidYMin meet\">"
    for operation in operations { svg += Self.element(operation) }
    return svg + "</svg>"
  }

  private static func element(_ operation: Operation) -> String {
    switch operation {
    case .begin, .end: ""
    case .text(let text):
      "<text class=\"f-\(text.ink.rawValue)\(text.font.isBold ? " w" : "")\(text.font.isSlanted ? " o" : "")\" x=\"\(number(text.x))\" y=\"\(number(text.y))\" font-size=\"\(number(text.font.size))\" textLength=\"\(number(text.width))\" lengthAdjust=\"spacingAndGlyphs\">\(Markup(text.text))</text>"
    case .circle(let x, let y, let radius, let fill, let stroke):
      "<circle\(look(fill, stroke)) cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(radius))\"/>"
    case .shape(let outline, let fill, let stroke):
      "<path\(look(fill, stroke)) d=\"\(outline.map(data).joined())\"/>"
    }
  }

  private static func look(_ fill: Ink?, _ stroke: Stroke?) -> String {
    let names = [fill.map { "f-\($0.rawValue)" } ?? "n", stroke.map { "s-\($0.ink.rawValue)" }].compactMap(
      \.self)
    var text = " class=\"\(names.joined(separator: " "))\""
    guard let stroke else { return text }
    text += " stroke-width=\"\(number(stroke.width))\""
    if !stroke.dashes.isEmpty {
      text += " stroke-dasharray=\"\(stroke.dashes.map(number).joined(separator: " "))\""
    }
    return text
  }

  private static func data(_ segment: PDFSegment) -> String {
    switch segment {
    case .move(let x, let y): "M\(number(x)) \(number(y))"
    case .line(let x, let y): "L\(number(x)) \(number(y))"
    case .curve(let x1, let y1, let x2, let y2, let x, let y):
      "C\([x1, y1, x2, y2, x, y].map(number).joined(separator: " "))"
    case .close: "Z"
    }
  }

  /// A number with at most one decimal.
  static func number(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    let text = abs(tenths) % 10 == 0 ? "\(abs(tenths) / 10)" : "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    return tenths < 0 ? "-\(text)" : text
  }

  /// The texts of the drawing as HTML with their structure, for screen readers.
  var reading: String {
    var reading = DrawingReading()
    for operation in operations { reading.add(operation) }
    return reading.html
  }
}

/// Builds the texts of a drawing as HTML. A table gets the name of the heading before it.
private struct DrawingReading {
  private(set) var html = ""
  /// The open elements of HTML: the end tag of each, and whether texts can be directly in the element.
  private var open: [(end: String, takesText: Bool)] = []
  private var isFirst = true
  private var heading = ""
  private var isHeading = false

  mutating func add(_ operation: Drawing.Operation) {
    switch operation {
    case .begin(.figure(let text, _, _, _, _)):
      html += "<p>\(Markup(text))</p>"
      open.append(("", false))
    case .begin(let role): begin(role)
    case .end:
      html += open.popLast()?.end ?? ""
      isHeading = false
    case .text(let text) where open.last?.takesText == true:
      let words = Markup(text.text).description
      html += (isFirst ? "" : " ") + (text.font.isSlanted ? "<i>\(words)</i>" : words)
      if isHeading { heading = words }
      isFirst = false
    case .text, .shape, .circle: break
    }
  }

  private mutating func begin(_ role: PDFRole) {
    isFirst = true
    switch role {
    case .heading(let level):
      isHeading = true
      start("<h\(level)>", "</h\(level)>", role)
    case .paragraph, .figure: start("<p>", "</p>", role)
    case .table: start("<table><caption>\(heading)</caption>", "</table>", role)
    case .row: start("<tr>", "</tr>", role)
    case .cell: start("<td>", "</td>", role)
    case .columnHead: start("<th scope=\"col\">", "</th>", role)
    case .rowHead: start("<th scope=\"row\">", "</th>", role)
    }
  }

  private mutating func start(_ start: String, _ end: String, _ role: PDFRole) {
    html += start
    open.append((end, role.takesText))
  }
}

extension PDFRole {
  fileprivate var takesText: Bool {
    switch self {
    case .table, .row, .figure: false
    case .heading, .paragraph, .cell, .columnHead, .rowHead: true
    }
  }
}
