// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

/// One line in the list of ranges.
private struct RangeLine {
  let name: String
  let percent: String
  /// The time per day, or the number of readings.
  let amount: String
  var goal = ""
  /// The range; nil for a line about two ranges together.
  var band: GlucoseBand?
}

/// The positions of the columns in the list of ranges: name, percentage, amount and goal.
private struct RangeColumns {
  let shown: [Int]
  let starts: [Double]
  let ends: [Double]

  static func of(_ width: Double, hasGoals: Bool) -> RangeColumns {
    if width >= Sheet.rangesWidth {
      return RangeColumns(
        shown: hasGoals ? [0, 1, 2, 3] : [0, 1, 2], starts: [69, 158, 204, 258], ends: [0, 198, 256, 294])
    }
    // If there is little space, the goal is more important than the time per day.
    return RangeColumns(
      shown: hasGoals ? [0, 1, 3] : [0, 1, 2], starts: [69, 158, 198, 206],
      ends: [0, hasGoals ? 202 : 196, width - 4, width - 4])
  }
}

extension ReportPage {
  /// The box with the share of the time in each range, and with the goals.
  func rangesBox(_ width: Double = Sheet.rangesWidth, height: Double) -> Drawing {
    let sensor = total.sensor
    var drawing = Drawing.box(texts.ranges, width: width, height: height)
    if let shortage = sensor.ranges[GlucoseBand.target.rawValue].percent.shortage {
      drawing.reason(reason(shortage))
      return drawing
    }
    let percents = PercentTexts(minutes: sensor.ranges, mark: texts.mark)
    let goals = StatsGoal.all(of: sensor, contents.targets)
    func goal(_ range: StatsGoal.Range) -> String {
      goals.first { $0.range == range }.map {
        "\($0.isAbove ? ">" : "<")\u{A0}\(glucose.plain($0.limit))\u{A0}%"
      } ?? ""
    }
    func time(_ minutes: Int) -> String {
      let day = Int((Double(minutes) / Double(max(1, sensor.minutes)) * 1440).rounded())
      return "\(day / 60)\u{A0}h \(day % 60 < 10 ? "0" : "")\(day % 60)\u{A0}min"
    }
    let ranges = sensor.ranges.map(\.minutes)
    func line(_ band: GlucoseBand, _ range: StatsGoal.Range?) -> RangeLine {
      RangeLine(
        name: texts.name(of: band), percent: percents[band], amount: time(ranges[band.rawValue]),
        goal: range.map(goal) ?? "", band: band)
    }
    func sum(_ first: GlucoseBand, _ second: GlucoseBand, _ range: StatsGoal.Range) -> RangeLine {
      RangeLine(
        name: "\(texts.name(of: first)) + \(texts.name(of: second))", percent: percents.sum(first, second),
        amount: time(ranges[first.rawValue] + ranges[second.rawValue]), goal: goal(range))
    }
    let isSplit = contents.targets.highest != nil
    let lines =
      (isSplit
        ? [line(.veryHigh, .veryHigh), line(.high, nil), sum(.high, .veryHigh, .above)]
        : [line(.high, .above)])
      + [line(.target, .target), sum(.low, .veryLow, .below), line(.low, nil), line(.veryLow, .veryLow)]
    let tight = sensor.tight.percent.number.map { percent in
      RangeLine(
        name: "\(texts.tight) \(glucose.limit(Targets.tight.low))–\(glucose.limit(Targets.tight.high))",
        percent: PercentTexts.text(percent, mark: texts.mark), amount: time(sensor.tight.minutes))
    }
    draw(texts.ranges, lines, tight, texts.timePerDay, shares: ranges, on: &drawing)
    return drawing
  }

  /// The box with the share of the finger sticks in each range. It has no goals, since goals are for shares
  /// of the time.
  func stickRangesBox(_ width: Double = Sheet.rangesWidth, height: Double) -> Drawing {
    let ranges = total.fingerSticks.ranges
    var drawing = Drawing.box(texts.percentOfReadings, width: width, height: height)
    guard total.fingerSticks.readings > 0 else {
      drawing.reason(reason(.noReadings))
      return drawing
    }
    let percents = PercentTexts(readings: ranges, mark: texts.mark)
    let lines = GlucoseBand.allCases.reversed().filter {
      ranges[$0.rawValue].percent.shortage != .notSeparate
    }.map {
      RangeLine(
        name: texts.name(of: $0), percent: percents[$0], amount: count(ranges[$0.rawValue].readings), band: $0
      )
    }
    draw(
      texts.percentOfReadings, lines, nil, texts.readings, shares: ranges.map(\.readings), on: &drawing)
    return drawing
  }

  private func draw(
    _ title: String, _ lines: [RangeLine], _ tight: RangeLine?, _ amount: String, shares: [Int],
    on drawing: inout Drawing
  ) {
    let (top, bottom) = (34.0, drawing.height - (tight == nil ? 8 : 22))
    let step = (bottom - top) / Double(lines.count)
    let middles = lines.indices.map { top + (Double($0) + 0.5) * step }
    let words = lines.map { "\($0.name) \($0.percent) %" }.joined(separator: ", ")
    drawing.part(
      .figure("\(title)\(texts.colon)\(words).", x: 4, y: top - 8, width: 62, height: bottom - top + 10)
    ) { drawing in
      bar(lines, middles, shares, from: top, to: bottom, on: &drawing)
    }
    let columns = RangeColumns.of(drawing.width, hasGoals: lines.contains { !$0.goal.isEmpty })
    func row(_ line: RangeLine) -> [String] {
      [line.name, "\(line.percent)\u{A0}%", line.amount, line.goal]
    }
    let right = drawing.width - 4
    drawing.part(.table) { drawing in
      drawing.part(.row) { drawing in
        let heads = [texts.range, "%", amount, texts.goal]
        cells(heads, columns, 28, Drawing.Font(size: 7.5), .soft, isHead: true, on: &drawing)
      }
      for (line, middle) in zip(lines, middles) {
        if line.band == nil {
          drawing.rectangle(66, middle - step / 2 + 1, right - 66, step - 2, fill: .shade)
        }
        let font = line.band == nil || line.band == .target ? Drawing.Font.bold : .plain
        drawing.part(.row) { cells(row(line), columns, middle + 3, font, .text, on: &$0) }
      }
      guard let tight else { return }
      drawing.line(66, drawing.height - 19, right, drawing.height - 19, Drawing.Stroke(ink: .grid))
      drawing.part(.row) {
        cells(row(tight), columns, $0.height - 8, Drawing.Font(size: 7.5), .soft, on: &$0)
      }
    }
  }

  private func cells(
    _ cells: [String], _ columns: RangeColumns, _ y: Double, _ font: Drawing.Font, _ ink: Ink,
    isHead: Bool = false, on drawing: inout Drawing
  ) {
    let (starts, ends) = (columns.starts, columns.ends)
    let room = ends[1] - font.width(cells[1]) - 5 - starts[0]
    for index in columns.shown {
      let cell = cells[index]
      let role: PDFRole = isHead ? .columnHead : index == 0 ? .rowHead : .cell
      drawing.part(role) { drawing in
        if index == 0 {
          drawing.text(font.fitted(cell, room), starts[0], y, font, ink)
        } else {
          drawing.text(font.fitted(cell, ends[index] - starts[index]), ends[index], y, font, ink, .end)
        }
      }
    }
  }

  /// Draws the ranges as one bar, in which each part is as high as its share. A line connects each part with
  /// its row.
  private func bar(
    _ lines: [RangeLine], _ middles: [Double], _ shares: [Int], from top: Double, to bottom: Double,
    on drawing: inout Drawing
  ) {
    let (left, right, height) = (26.0, 48.0, bottom - top)
    let sum = Double(max(1, shares.reduce(0, +)))
    // A share that is not 0 gets about 3 points or more, so that it can be seen.
    let parts = shares.map { $0 > 0 ? max(3, Double($0) / sum * height) : 0 }
    let scale = height / max(1, parts.reduce(0, +))
    var y = top
    var limits: [(y: Double, text: String)] = []
    let targets = contents.targets
    let borders: [GlucoseBand: Targets.Limit?] = [
      .veryHigh: targets.highest, .high: targets.high, .target: targets.low, .low: targets.lowest,
    ]
    for band in GlucoseBand.allCases.reversed() {
      let size = parts[band.rawValue] * scale
      let middle = y + size / 2
      if size > 0 {
        drawing.rectangle(
          left, y + 0.5, right - left, size - 1, fill: Ink(band),
          stroke: Drawing.Stroke(ink: .text, width: 0.5))
        hatch(band, left, y + 0.5, right - left, size - 1, on: &drawing)
      }
      if let index = lines.firstIndex(where: { $0.band == band }) {
        drawing.path(
          [(right, middle), (right + 10, middles[index]), (66, middles[index])],
          stroke: Drawing.Stroke(ink: size > 0 ? .line : .grid, width: 0.5))
      }
      y += size
      if let limit = borders[band] ?? nil { limits.append((y, glucose.limit(limit))) }
    }
    for (limit, place) in zip(limits, Self.spreadApart(limits.map(\.y), by: 8, from: top, to: bottom)) {
      drawing.text(limit.text, left - 4, place + 2.5, .small, .text, .end)
    }
  }

  private func hatch(
    _ band: GlucoseBand, _ x: Double, _ y: Double, _ width: Double, _ height: Double,
    on drawing: inout Drawing
  ) {
    switch band {
    case .veryLow: drawing.hatch(x, y, width, height, .cross, .paper)
    case .low: drawing.hatch(x, y, width, height, .strokes, .text)
    case .veryHigh: drawing.hatch(x, y, width, height, .dots, .paper)
    case .target, .high: break
    }
  }

  /// The positions from top to bottom, moved apart so that no text covers another.
  static func spreadApart(_ wanted: [Double], by distance: Double, from top: Double, to bottom: Double)
    -> [Double]
  {
    var places = wanted
    for index in places.indices {
      places[index] = max(places[index], index == 0 ? top : places[index - 1] + distance)
    }
    var limit = bottom
    for index in places.indices.reversed() {
      places[index] = min(places[index], limit)
      limit = places[index] - distance
    }
    return places
  }
}
