// SPDX-License-Identifier: Apache-2.0

/// A rectangle of a terminal's cells. Each cell has two by four dots (the braille signs from U+2800 on). In
/// ASCII, a cell with dots is a star.
///
/// In each cell, a sign on top hides the dots. Dots hide a sign of the ground.
struct PlotCanvas: Sendable {
  private static let bits: [UInt8] = [1, 8, 2, 16, 4, 32, 64, 128]

  let columns: Int
  let rows: Int
  private let signs: PlotSigns
  private var dots: [UInt8]
  private var dotRoles: [PlotRole?]
  private var grounds: [PlotLine.Piece?]
  private var tops: [PlotLine.Piece?]

  /// The number of dots in a row.
  var width: Int { columns * 2 }
  /// The number of dots in a column.
  var height: Int { rows * 4 }

  init(columns: Int, rows: Int, _ signs: PlotSigns) {
    (self.columns, self.rows, self.signs) = (max(1, columns), max(1, rows), signs)
    let count = max(1, columns) * max(1, rows)
    dots = [UInt8](repeating: 0, count: count)
    dotRoles = [PlotRole?](repeating: nil, count: count)
    grounds = [PlotLine.Piece?](repeating: nil, count: count)
    tops = grounds
  }

  /// Sets a dot, counted from the left and from the top. Dots outside of the canvas are ignored.
  mutating func dot(_ x: Int, _ y: Int, _ role: PlotRole?) {
    guard x >= 0, x < width, y >= 0, y < height else { return }
    let cell = y / 4 * columns + x / 2
    dots[cell] |= Self.bits[y % 4 * 2 + x % 2]
    dotRoles[cell] = role
  }

  /// Sets the dots of a line, with Bresenham's algorithm.
  mutating func line(from start: (x: Int, y: Int), to end: (x: Int, y: Int), _ role: PlotRole?) {
    let (width, height) = (abs(end.x - start.x), abs(end.y - start.y))
    let (right, down) = (end.x >= start.x ? 1 : -1, end.y >= start.y ? 1 : -1)
    var (x, y, error) = (start.x, start.y, width - height)
    for _ in 0...(width + height) {
      dot(x, y, role)
      if x == end.x, y == end.y { return }
      let doubled = 2 * error
      if doubled > -height {
        error -= height
        x += right
      }
      if doubled < width {
        error += width
        y += down
      }
    }
  }

  /// Puts a sign into a cell, below its dots.
  mutating func ground(_ sign: Character, column: Int, row: Int, _ role: PlotRole?) {
    guard let cell = cell(column, row) else { return }
    grounds[cell] = PlotLine.Piece(text: String(sign), role: role)
  }

  /// Puts a sign into a cell, on top of its dots.
  mutating func top(_ sign: Character, column: Int, row: Int, _ role: PlotRole?) {
    guard let cell = cell(column, row) else { return }
    tops[cell] = PlotLine.Piece(text: String(sign), role: role)
  }

  /// One line of cells.
  func line(_ row: Int) -> PlotLine {
    var line = PlotLine()
    for cell in row * columns..<(row + 1) * columns {
      if let top = tops[cell] {
        line.append(top.text, top.role)
      } else if dots[cell] > 0 {
        let sign = Unicode.Scalar(0x2800 + UInt32(dots[cell])).map(Character.init) ?? signs.curve
        line.append(String(signs.isASCII ? signs.curve : sign), dotRoles[cell])
      } else {
        line.append(grounds[cell]?.text ?? " ", grounds[cell]?.role)
      }
    }
    return line
  }

  private func cell(_ column: Int, _ row: Int) -> Int? {
    guard column >= 0, column < columns, row >= 0, row < rows else { return nil }
    return row * columns + column
  }
}

/// The meaning of a part of a picture. A terminal with colours shows each meaning in its colour. No meaning
/// is shown only by its colour.
package enum PlotRole: Hashable, Sendable {
  case band(GlucoseBand)
  case insulin, food, axis, median, spread
  /// Items that are not in the figures. The text next to them states this, too.
  case leftOut
}

/// One line of a picture, as pieces with one meaning each.
package struct PlotLine: Hashable, Sendable {
  /// Adjacent characters with the same meaning.
  package struct Piece: Hashable, Sendable {
    /// The characters.
    package var text: String
    /// The meaning of the characters; nil for plain text.
    package let role: PlotRole?
  }

  /// The pieces from left to right.
  package private(set) var pieces: [Piece] = []
  /// The number of columns.
  package var columns: Int { pieces.reduce(0) { $0 + $1.text.count } }
  /// The text of the line, without blanks at its end.
  package var text: String {
    var text = pieces.map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  /// A line of text with one meaning; plain text without one.
  package init(_ text: String = "", _ role: PlotRole? = nil) { append(text, role) }

  /// Adds characters at the end.
  package mutating func append(_ text: String, _ role: PlotRole? = nil) {
    guard !text.isEmpty else { return }
    if let last = pieces.indices.last, pieces[last].role == role {
      pieces[last].text += text
    } else {
      pieces.append(Piece(text: text, role: role))
    }
  }

  /// Adds the pieces of another line at the end.
  mutating func append(_ other: PlotLine) { for piece in other.pieces { append(piece.text, piece.role) } }
}

/// The signs for pictures.
package struct PlotSigns: Sendable {
  /// Whether only ASCII is used.
  package let isASCII: Bool

  /// Signs from ASCII only if `isASCII` is true, otherwise Unicode signs.
  package init(isASCII: Bool) { self.isASCII = isASCII }

  var stick: Character { isASCII ? "o" : "●" }
  var scan: Character { isASCII ? "x" : "○" }
  var curve: Character { isASCII ? "*" : "⠒" }
  var wall: Character { isASCII ? "|" : "│" }
  var mark: Character { isASCII ? "+" : "┤" }
  var corner: Character { isASCII ? "+" : "└" }
  var floor: Character { isASCII ? "-" : "─" }
  var tick: Character { isASCII ? "+" : "┴" }
  var limit: Character { isASCII ? "-" : "┈" }
  var quartiles: Character { isASCII ? ":" : "▒" }
  var tails: Character { isASCII ? "." : "░" }
  /// The sign between the parts of a line.
  var dot: String { isASCII ? " - " : " · " }

  /// The filling of a range. Each range has a different filling, so that a bar is readable without colours.
  func filling(_ band: GlucoseBand) -> Character {
    switch band {
    case .veryLow: isASCII ? "!" : "▓"
    case .low: isASCII ? "-" : "▒"
    case .target: isASCII ? "=" : "█"
    case .high: isASCII ? "+" : "░"
    case .veryHigh: isASCII ? "#" : "▞"
    }
  }

  /// The text with ASCII characters instead of the program's own signs.
  package func plain(_ text: String) -> String {
    guard isASCII else { return text }
    return text.replacing("–", with: "-").replacing(" · ", with: dot).replacing("—", with: "-")
      .replacing("…", with: "...")
  }
}
