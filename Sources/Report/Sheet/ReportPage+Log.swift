// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

/// A row of the logbook, with its cells broken into lines.
private struct LogRow {
  let head: String
  /// The finger sticks of each column, line by line.
  let cells: [[[StickLog.LogValue]]]
  /// The texts of the three columns for bolus insulin, basal insulin and carbohydrates, line by line.
  /// Premixed insulin has its own line in the first of these columns.
  let amounts: [[String]]
  var isShaded = false
  var lines: Int { max(1, (cells.map(\.count) + amounts.map(\.count)).max() ?? 1) }

  /// The row, divided into rows of at most this number of lines.
  func split(_ maxLines: Int) -> [LogRow] {
    guard lines > maxLines, maxLines > 0 else { return [self] }
    return stride(from: 0, to: lines, by: maxLines).map { start in
      func part<Line>(_ lines: [Line]) -> [Line] { Array(lines.dropFirst(start).prefix(maxLines)) }
      return LogRow(
        head: start == 0 ? head : "… " + head, cells: cells.map(part), amounts: amounts.map(part),
        isShaded: isShaded)
    }
  }
}

extension ReportPage {
  private static let headWidth = 58.0
  private static let cellWidth = 45.7
  private static let amountWidth = 34.5
  private static let rowHeight = 16.6
  private static let lineHeight = 10.0
  private static let tableHead = 27.0
  /// The sign after an amount of premixed insulin.
  static let mixedSign = "*"
  /// The meaning of the sign for premixed insulin.
  var mixedLegend: String { "\(Self.mixedSign) \(texts.mixed)" }

  /// The sheets of the logbook of finger sticks.
  func logSheets(_ paper: Paper) -> [Sheet] {
    let days = contents.days
    let log = StickLog(days) { day in
      let amounts = groups[day.day]?.amounts
      return day.sticks.isEmpty && (amounts.map(\.isEmpty) ?? true)
    }
    let limit = glucose.limit(contents.targets.lowest)
    let legend = PageTexts.fill(
      texts.sheet.logLegend, limit, StickLog.hours.map(String.init).joined(separator: ", "))
    let part = logLimit.map { $0 + " " } ?? ""
    let mixed = total.amounts.mixed.records > 0 ? " · \(mixedLegend)" : ""
    let notes = Drawing.Font.small.wrapped(
      "\(part)\(texts.readings)\(texts.colon)\(count(log.readings)) · \(contents.unit.name) · \(legend)\(mixed)",
      Sheet.width)
    let room = paper.room - Drawing.titleHeight - Self.tableHead - 9 * Double(notes.count) - 8
    let maxLines = 1 + Int((room - Self.rowHeight) / Self.lineHeight)
    var (pages, left): ([[LogRow]], Double) = ([], 0)
    for row in log.rows.map(logRow).flatMap({ $0.split(maxLines) }) {
      let height = height(of: row)
      if pages.isEmpty || height > left { (pages, left) = (pages + [[]], room) }
      pages[pages.count - 1].append(row)
      left -= height
    }
    return pages.map { Sheet(anchor: "log", boxes: [Sheet.Box(drawing: logPage($0, notes), isTable: true)]) }
  }

  /// States that finger sticks and amounts are only those of the last days; nil for a shorter period.
  var logLimit: String? {
    total.days > ReportContents.maxLogDays
      ? PageTexts.fill(texts.sheet.logLimit, "\(ReportContents.maxLogDays)") : nil
  }

  private func height(of row: LogRow) -> Double { Self.rowHeight + Double(row.lines - 1) * Self.lineHeight }

  private func logRow(_ row: StickLog.Row) -> LogRow {
    switch row {
    case .empty(let first, let last):
      let text = PageTexts.fill(texts.sheet.emptyDays, name(ofDay: first), name(ofDay: last))
      return LogRow(head: text, cells: [], amounts: [])
    case .day(let day, let cells):
      let weekday = weekday(day.day)
      let amounts = groups[day.day]?.amounts
      func text(_ amount: DailyAmount?) -> String {
        guard let amount, amount.records > 0 else { return "" }
        return amount.sum.map { glucose.decimal($0, $0 == $0.rounded() ? 0 : 1) } ?? "—"
      }
      let mixed = text(amounts?.mixed)
      let rapid = [text(amounts?.bolus), mixed.isEmpty ? "" : mixed + Self.mixedSign]
      return LogRow(
        head: "\(texts.weekdays[weekday].prefix(2)) \(shortName(ofDay: day.day))", cells: cells.map(lines),
        amounts: [rapid, [text(amounts?.basal)], [text(amounts?.carbohydrates)]].map {
          $0.filter { !$0.isEmpty }
        }, isShaded: weekday > 4)
    }
  }

  /// The values of a cell, divided into lines. Values are next to each other if there is space, and none is
  /// left out.
  private func lines(_ entries: [StickLog.LogValue]) -> [[StickLog.LogValue]] {
    var (lines, left): ([[StickLog.LogValue]], Double) = ([], 0)
    for entry in entries {
      let width = width(of: entry, Self.font(entries.count)) + 3
      if lines.isEmpty || width > left { (lines, left) = (lines + [[]], Self.cellWidth - 3) }
      lines[lines.count - 1].append(entry)
      left -= width
    }
    return lines
  }

  private static func font(_ count: Int) -> Drawing.Font { Drawing.Font(size: count > 1 ? 7.5 : 8.5) }

  private func levelSign(_ level: GlucoseLevel) -> String {
    switch contents.targets.band(of: level) {
    case .veryLow: "▼▼"
    case .low: "▼"
    case .target: ""
    case .high, .veryHigh: "▲"
    }
  }

  private func text(_ level: GlucoseLevel) -> String { levelSign(level) + glucose.level(level) }

  private func width(of entry: StickLog.LogValue, _ font: Drawing.Font) -> Double {
    font.width(text(entry.level))
  }

  private func logPage(_ rows: [LogRow], _ notes: [String]) -> Drawing {
    let table = Self.tableHead + rows.reduce(0) { $0 + height(of: $1) }
    let title = Drawing.titleHeight
    var drawing = Drawing(width: Sheet.width, height: title + table + 9 * Double(notes.count) + 6)
    drawing.rectangle(0, 0, Sheet.width, title, fill: .panel)
    drawing.part(.heading(2)) {
      $0.text(contents.isAnonymised ? texts.sheet.log : "\(texts.sheet.log) · \(logPeriod)", 6, 10.8, .title)
    }
    drawing.part(.table) { drawing in
      logHead(title, on: &drawing)
      var y = title + Self.tableHead
      for row in rows {
        draw(row, at: y, on: &drawing)
        if !row.cells.isEmpty { edges(from: y, to: y + height(of: row), on: &drawing) }
        y += height(of: row)
        drawing.line(0, y, Sheet.width, y, Drawing.Stroke(ink: .grid, width: 0.5))
      }
    }
    drawing.rectangle(0.3, 0.3, Sheet.width - 0.6, title + table - 0.6, stroke: Drawing.Stroke(ink: .line))
    drawing.part(.paragraph) { drawing in
      for (index, note) in notes.enumerated() {
        drawing.text(note, 0, title + table + 10 + 9 * Double(index), .small, .text)
      }
    }
    return drawing
  }

  /// The first and the last date of the logbook.
  private var logPeriod: String {
    guard logLimit != nil, let first = contents.days.first else { return periodText }
    return "\(first.date) – \(contents.dates.last)"
  }

  /// Draws the lines between the columns.
  private func edges(from top: Double, to bottom: Double, on drawing: inout Drawing) {
    for column in 1...11 {
      let left = extent(ofColumn: column).left
      // The lines around a meal are darker than the line between its two columns.
      let ink: Ink = [3, 5, 7].contains(column) ? .grid : .line
      drawing.line(left, top, left, bottom, Drawing.Stroke(ink: ink, width: 0.4))
    }
  }

  private func logHead(_ top: Double, on drawing: inout Drawing) {
    let words = texts.sheet
    let columns = [
      ("", texts.date), (words.night, "0–\(StickLog.hours[0])"), (words.breakfast, words.before),
      (words.breakfast, words.after),
      (words.lunch, words.before), (words.lunch, words.after), (words.dinner, words.before),
      (words.dinner, words.after),
      (words.bedtimeShort, ""), (bolusShort, texts.insulinUnit),
      (texts.sheet.basalShort, texts.insulinUnit),
      (texts.sheet.carbohydratesShort, "g"),
    ]
    drawing.part(.row) { drawing in
      for (index, column) in columns.enumerated() {
        drawing.part(.columnHead) { drawing in
          let (left, width) = extent(ofColumn: index)
          let middle = index == 0 ? left + 4 : left + width / 2
          let alignment = index == 0 ? Drawing.Alignment.start : .middle
          let bold = Drawing.Font(size: 7.5, isBold: true)
          drawing.text(bold.fitted(column.0, width - 2), middle, top + 10, bold, .text, alignment)
          drawing.text(
            Drawing.Font.small.fitted(column.1, width - 2), middle, top + 20, .small, .soft, alignment)
        }
      }
    }
    edges(from: top, to: top + Self.tableHead, on: &drawing)
    drawing.line(0, top + Self.tableHead, Sheet.width, top + Self.tableHead, Drawing.Stroke(ink: .line))
  }

  private func extent(ofColumn index: Int) -> (left: Double, width: Double) {
    if index == 0 { return (0, Self.headWidth) }
    if index <= 8 { return (Self.headWidth + Double(index - 1) * Self.cellWidth, Self.cellWidth) }
    return (Self.headWidth + 8 * Self.cellWidth + Double(index - 9) * Self.amountWidth, Self.amountWidth)
  }

  private func draw(_ row: LogRow, at y: Double, on drawing: inout Drawing) {
    let height = height(of: row)
    if row.isShaded { drawing.rectangle(0.5, y, Sheet.width - 1, height, fill: .shade) }
    drawing.part(.row) { drawing in
      if row.cells.isEmpty {
        drawing.part(.rowHead) { $0.text(row.head, Self.headWidth + 6, y + 11, .plain, .soft) }
        // In a PDF, a row of a table needs all of its cells, so empty cells are added.
        for _ in 1...11 { drawing.part(.cell) { _ in } }
        return
      }
      drawing.part(.rowHead) { $0.text(row.head, 4, y + 11, .bold) }
      for (index, lines) in row.cells.enumerated() {
        let (left, width) = extent(ofColumn: index + 1)
        drawing.part(.cell) { drawing in
          let font = Self.font(lines.joined().count)
          for (line, entries) in lines.enumerated() {
            let whole = entries.reduce(0) { $0 + self.width(of: $1, font) + 3 } - 3
            var x = left + (width - whole) / 2
            for entry in entries {
              let look = Drawing.Font(
                size: font.size, isBold: contents.targets.band(of: entry.level) <= .low,
                isSlanted: !entry.isMarked)
              drawing.text(text(entry.level), x, y + 11 + Double(line) * Self.lineHeight, look)
              x += self.width(of: entry, font) + 3
            }
          }
        }
      }
      for (index, lines) in row.amounts.enumerated() {
        let (left, width) = extent(ofColumn: index + 9)
        drawing.part(.cell) { drawing in
          for (line, amount) in lines.enumerated() {
            drawing.text(
              amount, left + width - 5, y + 11 + Double(line) * Self.lineHeight, .plain, .text, .end)
          }
        }
      }
    }
  }
}

/// Finger sticks as a logbook: one row a day, with columns by the mark of each reading or by the time of day.
struct StickLog {
  /// A column of the table.
  enum LogColumn: Int, CaseIterable {
    case night, beforeBreakfast, afterBreakfast, beforeLunch, afterLunch, beforeDinner, afterDinner, bedtime
  }

  /// One value in a cell.
  struct LogValue {
    let level: GlucoseLevel
    /// Whether a mark of the reading, and not only the time of day, determined the column.
    let isMarked: Bool
  }

  /// A day, or several consecutive days without readings or amounts.
  enum Row {
    case day(DayCurve, [[LogValue]])
    case empty(first: Int, last: Int)
  }

  /// The hours at which the columns for breakfast, lunch, dinner and bedtime begin.
  static let hours = [5, 11, 16, 22]
  /// If there are more consecutive empty days than this number, they become one row.
  private static let maxEmptyDays = 3

  let rows: [Row]
  let readings: Int

  /// - Parameter isEmpty: whether a day has nothing to show.
  init(_ days: [DayCurve], isEmpty: (DayCurve) -> Bool) {
    var (rows, run): ([Row], [DayCurve]) = ([], [])
    func end() {
      if let first = run.first, let last = run.last, run.count > Self.maxEmptyDays {
        rows.append(.empty(first: first.day, last: last.day))
      } else {
        rows += run.map { .day($0, Self.cells($0)) }
      }
      run = []
    }
    for day in days {
      if isEmpty(day) {
        run.append(day)
      } else {
        end()
        rows.append(.day(day, Self.cells(day)))
      }
    }
    end()
    self.rows = rows
    readings = days.reduce(0) { $0 + $1.sticks.count }
  }

  private static func cells(_ day: DayCurve) -> [[LogValue]] {
    var cells = [[LogValue]](repeating: [], count: LogColumn.allCases.count)
    for stick in day.sticks {
      let (column, isMarked) = column(stick.marks, hour: secondsOfDay(stick.deviceTime) / 3600)
      cells[column.rawValue].append(LogValue(level: stick.level, isMarked: isMarked))
    }
    return cells
  }

  /// The column of a reading. The reading's mark determines whether it is before or after a meal, and the
  /// time of day determines the meal.
  static func column(_ marks: ReadingMarks, hour: Int) -> (LogColumn, isMarked: Bool) {
    if marks.contains(.bedtime) { return (.bedtime, true) }
    if marks.contains(.fasting) { return (.beforeBreakfast, true) }
    let isAfter = marks.contains(.afterMeal)
    let isMarked = isAfter || marks.contains(.beforeMeal)
    switch hour {
    case ..<hours[0]: return (.night, isMarked)
    case ..<hours[1]: return (isAfter ? .afterBreakfast : .beforeBreakfast, isMarked)
    case ..<hours[2]: return (isAfter ? .afterLunch : .beforeLunch, isMarked)
    case ..<hours[3]: return (isAfter ? .afterDinner : .beforeDinner, isMarked)
    // A reading late in the evening that is marked with a meal belongs to dinner.
    default: return (isAfter ? .afterDinner : isMarked ? .beforeDinner : .bedtime, isMarked)
    }
  }
}
