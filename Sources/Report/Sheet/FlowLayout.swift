// SPDX-License-Identifier: Apache-2.0

import PDF

/// Lays out the sections of a page on sheets, one below the other, with page breaks between lines of text or
/// rows of tables.
struct FlowLayout {
  private static let lineHeight = 10.5

  private let room: Double
  private let anchor: String
  private var pages: [Drawing] = []
  private var y = 0.0

  init(_ paper: Paper, anchor: String) {
    (room, self.anchor) = (paper.room, anchor)
    addPage()
  }

  var sheets: [Sheet] { pages.map { Sheet(anchor: anchor, boxes: [Sheet.Box(drawing: $0)]) } }

  mutating func add(_ section: PageModel.Section) {
    // Space for more than the heading is reserved, so that a heading is never the last line of a sheet.
    reserve(60)
    let y = y
    page.rectangle(0, y, Sheet.width, Drawing.titleHeight, fill: .panel)
    page.part(.heading(2)) { $0.text(section.heading.source, 6, y + 10.8, .title) }
    self.y += Drawing.titleHeight + 5
    for block in section.blocks {
      for part in block.parts { add(part, heading: section.heading.source) }
      self.y += 5
    }
  }

  private var page: Drawing {
    get { pages[pages.count - 1] }
    set { pages[pages.count - 1] = newValue }
  }

  private mutating func addPage() {
    pages.append(Drawing(width: Sheet.width, height: room))
    y = 0
  }

  private mutating func reserve(_ height: Double) { if y > 0, y + height > room { addPage() } }

  private mutating func add(_ part: PageModel.Part, heading: String) {
    if let subtitle = part.subtitle {
      let picture = part.picture.map { $0.drawing.height } ?? 0
      reserve(14 + picture)
      let y = y
      page.part(.heading(3)) { $0.text(subtitle.source, 0, y + 9, Drawing.Font(size: 8.5, isBold: true)) }
      self.y += 14
    }
    if let text = part.paragraph { add(Drawing.Font.plain.wrapped(text.source, Sheet.width)) }
    if let picture = part.picture {
      reserve(picture.drawing.height)
      page.add(picture.drawing, y: y)
      y += picture.drawing.height + 4
    }
    if let table = part.table { add(table, hasCaption: table.caption.source != heading) }
  }

  private mutating func add(_ lines: [String]) {
    reserve(Self.lineHeight * Double(min(2, lines.count)))
    page.begin(.paragraph)
    for line in lines {
      reserve(Self.lineHeight)
      page.text(line, 0, y + 8.5)
      y += Self.lineHeight
    }
    page.end()
    y += 2
  }

  private mutating func add(_ table: PageModel.Table, hasCaption: Bool) {
    let head = table.columns.map(\.source)
    let rows = table.rows.map { row in
      let cells = [row.head.source] + row.cells.map(\.source)
      return cells + [String](repeating: "", count: max(0, head.count - cells.count))
    }
    let widths = Self.widths([head] + rows)
    reserve(3 * Self.lineHeight)
    if hasCaption { add([table.caption.source]) }
    page.begin(.table)
    add(head, widths, isHead: true, table.kind)
    for row in rows { add(row, widths, isHead: false, table.kind) }
    page.end()
    y += 4
  }

  private mutating func add(_ cells: [String], _ widths: [Double], isHead: Bool, _ kind: PageModel.Cells) {
    let font = isHead ? Drawing.Font.small : .plain
    let lines = zip(cells, widths).map { font.wrapped($0, $1 - 8) }
    let most = Int((room - 1.5) / Self.lineHeight)
    let count = max(1, lines.map(\.count).max() ?? 1)
    // A row that is taller than a sheet is divided.
    for start in stride(from: 0, to: count, by: most) {
      add(lines.map { Array($0.dropFirst(start).prefix(most)) }, widths, font, isHead: isHead, kind)
    }
  }

  private mutating func add(
    _ lines: [[String]], _ widths: [Double], _ font: Drawing.Font, isHead: Bool, _ kind: PageModel.Cells
  ) {
    let height = Self.lineHeight * Double(max(1, lines.map(\.count).max() ?? 1)) + 1.5
    reserve(height)
    let top = y
    page.part(.row) { drawing in
      var x = 0.0
      for (index, (lines, width)) in zip(lines, widths).enumerated() {
        drawing.part(isHead ? .columnHead : index == 0 ? .rowHead : .cell) { drawing in
          for (line, text) in lines.enumerated() {
            let y = top + 8.5 + Double(line) * Self.lineHeight
            let isStart = index == 0 || kind == .text
            let ink: Ink = isHead ? .soft : .text
            drawing.text(text, isStart ? x + 2 : x + width - 4, y, font, ink, isStart ? .start : .end)
          }
        }
        x += width
      }
    }
    y += height
    page.line(0, y, widths.reduce(0, +), y, Drawing.Stroke(ink: .grid, width: 0.4))
  }

  /// The widths of the columns of a table. Each is as wide as its longest cell; if the columns do not fit,
  /// the widest ones are made narrower first.
  private static func widths(_ rows: [[String]]) -> [Double] {
    let count = rows.map(\.count).max() ?? 0
    var widths = (0..<count).map { column in
      rows.map { column < $0.count ? Drawing.Font.plain.width($0[column]) + 9 : 0 }.max() ?? 0
    }
    while widths.reduce(0, +) > Sheet.width, let widest = widths.max() {
      for index in widths.indices where widths[index] == widest { widths[index] = max(20, widest * 0.94) }
      if widest <= 20 { break }
    }
    return widths
  }
}

extension ReportPage {
  /// The sections, laid out on sheets as the PDF shows them.
  func flow(_ sections: [PageModel.Section], _ paper: Paper, anchor: String) -> [Sheet] {
    if sections.isEmpty { return [] }
    var layout = FlowLayout(paper, anchor: anchor)
    for section in sections { layout.add(section) }
    return layout.sheets
  }
}
