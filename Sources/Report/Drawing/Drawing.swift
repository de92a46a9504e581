// SPDX-License-Identifier: Apache-2.0

import PDF

/// A picture or a page as a list of operations. The SVG of a page in HTML and the PDF are both made from it,
/// so that both show the same.
///
/// Positions and sizes are in points, from the left and from the top.
struct Drawing: Sendable {
  enum Alignment: Sendable { case start, middle, end }

  /// The size and the style of letters.
  struct Font: Hashable, Sendable {
    var size = 8.0
    var isBold = false
    var isSlanted = false

    static let plain = Font()
    static let bold = Font(isBold: true)
    static let small = Font(size: 7)
    static let title = Font(size: 9.5, isBold: true)

    private var face: PDFFace { isBold ? .bold : .regular }

    func width(_ text: String) -> Double { face.width(text, size: size) }
  }

  /// A text with its position.
  struct Text: Sendable {
    let text: String
    /// The left end, whatever the alignment.
    let x: Double
    /// The position of the base line.
    let y: Double
    let width: Double
    let font: Font
    let ink: Ink
  }

  /// The colour, width and dashes of a line.
  struct Stroke: Sendable {
    let ink: Ink
    var width = 0.6
    var dashes: [Double] = []
  }

  enum Operation: Sendable {
    case text(Text)
    case shape([PDFSegment], fill: Ink?, stroke: Stroke?)
    case circle(x: Double, y: Double, radius: Double, fill: Ink?, stroke: Stroke?)
    case begin(PDFRole)
    case end
  }

  let width: Double
  var height: Double
  private(set) var operations: [Operation] = []

  init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

  /// Adds content as a structure element, which screen readers announce.
  mutating func part(_ role: PDFRole, _ content: (inout Drawing) -> Void) {
    operations.append(.begin(role))
    content(&self)
    operations.append(.end)
  }

  /// Begins a structure element that may end on another sheet.
  mutating func begin(_ role: PDFRole) { operations.append(.begin(role)) }

  /// Ends the innermost open structure element.
  mutating func end() { operations.append(.end) }

  /// Adds a text; an empty one is ignored. The alignment determines whether the text begins, has its middle
  /// or ends at `x`.
  mutating func text(
    _ text: String, _ x: Double, _ y: Double, _ font: Font = .plain, _ ink: Ink = .text,
    _ alignment: Alignment = .start
  ) {
    if text.isEmpty { return }
    let width = font.width(text)
    let left = alignment == .start ? x : alignment == .end ? x - width : x - width / 2
    operations.append(.text(Text(text: text, x: left, y: y, width: width, font: font, ink: ink)))
  }

  mutating func line(_ x: Double, _ y: Double, _ x2: Double, _ y2: Double, _ stroke: Stroke) {
    operations.append(.shape([.move(x, y), .line(x2, y2)], fill: nil, stroke: stroke))
  }

  mutating func rectangle(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, fill: Ink? = nil, stroke: Stroke? = nil
  ) {
    guard width > 0, height > 0 else { return }
    let outline = [
      PDFSegment.move(x, y), .line(x + width, y), .line(x + width, y + height), .line(x, y + height),
    ]
    operations.append(.shape(outline + [.close], fill: fill, stroke: stroke))
  }

  mutating func circle(_ x: Double, _ y: Double, _ radius: Double, fill: Ink? = nil, stroke: Stroke? = nil) {
    operations.append(.circle(x: x, y: y, radius: radius, fill: fill, stroke: stroke))
  }

  /// Adds the line through points. With a fill, the line is closed and its area is filled.
  mutating func path(_ points: [(x: Double, y: Double)], fill: Ink? = nil, stroke: Stroke? = nil) {
    guard let first = points.first, points.count > 1 else { return }
    let lines = points.dropFirst().map { PDFSegment.line($0.x, $0.y) }
    operations.append(
      .shape([.move(first.x, first.y)] + lines + (fill == nil ? [] : [.close]), fill: fill, stroke: stroke))
  }

  /// Adds all operations of another drawing, moved to a position.
  mutating func add(_ other: Drawing, x: Double = 0, y: Double = 0) {
    operations += other.operations.map { $0.moved(x, y) }
  }
}

extension Drawing.Operation {
  fileprivate func moved(_ dx: Double, _ dy: Double) -> Drawing.Operation {
    switch self {
    case .text(let text):
      .text(
        Drawing.Text(
          text: text.text, x: text.x + dx, y: text.y + dy, width: text.width, font: text.font, ink: text.ink))
    case .shape(let outline, let fill, let stroke):
      .shape(outline.map { $0.moved(dx, dy) }, fill: fill, stroke: stroke)
    case .circle(let x, let y, let radius, let fill, let stroke):
      .circle(x: x + dx, y: y + dy, radius: radius, fill: fill, stroke: stroke)
    case .begin(.figure(let text, let x, let y, let width, let height)):
      .begin(.figure(text, x: x + dx, y: y + dy, width: width, height: height))
    case .begin, .end: self
    }
  }
}

extension PDFSegment {
  fileprivate func moved(_ dx: Double, _ dy: Double) -> PDFSegment {
    switch self {
    case .move(let x, let y): .move(x + dx, y + dy)
    case .line(let x, let y): .line(x + dx, y + dy)
    case .curve(let x1, let y1, let x2, let y2, let x, let y):
      .curve(x1 + dx, y1 + dy, x2 + dx, y2 + dy, x + dx, y + dy)
    case .close: .close
    }
  }
}

// MARK: - Text that fits

extension Drawing.Font {
  /// The text if it fits into the width; otherwise its beginning with an ellipsis.
  func fitted(_ text: String, _ width: Double) -> String {
    let head = head(of: text[...], width)
    if head.endIndex == text.endIndex { return text }
    let shown = self.head(of: head, width - self.width("…"))
    return shown.isEmpty ? "" : String(shown).trimmedAtEnd + "…"
  }

  /// The text in lines of at most this width. A longer word is broken.
  func wrapped(_ text: String, _ width: Double) -> [String] {
    var lines: [String] = []
    var (line, lineWidth) = ("", 0.0)
    let blank = self.width(" ")
    for word in text.split(separator: " ") {
      var word = word
      var head = self.head(of: word, width)
      var wordWidth = self.width(String(head))
      if !line.isEmpty, head.endIndex < word.endIndex || lineWidth + blank + wordWidth > width {
        lines.append(line)
        (line, lineWidth) = ("", 0)
      }
      while head.endIndex < word.endIndex {
        lines.append(String(head))
        word = word[head.endIndex...]
        head = self.head(of: word, width)
        wordWidth = self.width(String(head))
      }
      lineWidth += (line.isEmpty ? 0 : blank) + wordWidth
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [line]
  }

  /// The longest beginning of a text that fits into a width, at least one letter. Each letter is measured
  /// only once, since a name or a note may have thousands.
  private func head(of text: Substring, _ width: Double) -> Substring {
    var (place, left) = (text.startIndex, width)
    while place < text.endIndex {
      left -= self.width(String(text[place]))
      if left < 0, place > text.startIndex { break }
      place = text.index(after: place)
    }
    return text[..<place]
  }
}

extension String {
  /// The text without blanks at its end.
  package var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}

// MARK: - Shapes

extension Drawing {
  /// A pattern by which a reader recognises a range without its colour.
  enum Hatch { case strokes, cross, dots }

  /// Draws a pattern over a rectangle. Its lines end at the edges of the rectangle, so that no clipping is
  /// needed.
  mutating func hatch(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ hatch: Hatch, _ ink: Ink)
  {
    let step = 4.0
    if hatch == .dots {
      for row in 0..<max(0, Int(height / step)) {
        for column in 0..<max(0, Int(width / step)) {
          circle(x + (Double(column) + 0.5) * step, y + (Double(row) + 0.5) * step, 0.7, fill: ink)
        }
      }
      return
    }
    let stroke = Stroke(ink: ink, width: 0.7)
    var offset = -height + step / 2
    while offset < width {
      let (from, to) = (max(0, offset), min(width, offset + height))
      if to > from {
        line(x + from, y + height - (from - offset), x + to, y + height - (to - offset), stroke)
        if hatch == .cross { line(x + from, y + from - offset, x + to, y + to - offset, stroke) }
      }
      offset += step
    }
  }
}

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
