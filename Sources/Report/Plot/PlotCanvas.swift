// SPDX-License-Identifier: Apache-2.0

/// A rectangle of a terminal's cells. Each cell has two by four dots (the braille signs from U+2800 on). In
/// ASCII, a cell with dots is a star.
///
/// Signs cover dots, and dots cover the ground.
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

  /// Puts a sign below the dots of a cell.
  mutating func ground(_ sign: Character, column: Int, row: Int, _ role: PlotRole?) {
    guard let cell = cell(column, row) else { return }
    grounds[cell] = PlotLine.Piece(text: String(sign), role: role)
  }

  /// Puts a sign above the dots of a cell.
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
