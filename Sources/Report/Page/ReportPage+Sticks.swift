// SPDX-License-Identifier: Apache-2.0

import Logbook

extension ReportPage {
  /// The section with the figures of finger sticks; nil without any. The figures are shares of the readings,
  /// never of the time.
  var sticks: PageModel.Section? {
    let figures = total.fingerSticks
    guard figures.readings > 0 else { return nil }
    let dots = contents.days.flatMap(\.sticks)
    let blocks = [
      [PageModel.Part.text(texts.sticksMeaning), stickRanges(figures)], [stickFigures(figures)],
      contents.result.doubts.filter { $0.kind == .smbg }.flatMap(doubtParts), standardDay(dots),
    ].filter { !$0.isEmpty }
    return PageModel.Section(
      anchor: "sticks", heading: Markup(texts.sticks), blocks: blocks.map(PageModel.Block.init),
      startsPage: true)
  }

  private func stickRanges(_ figures: FingerStickFigures) -> PageModel.Part {
    let percents = PercentTexts(readings: figures.ranges, mark: texts.mark)
    let limits = glucose.ranges(contents.targets)
    let rows = GlucoseBand.allCases.reversed().compactMap { band -> PageModel.Row? in
      let index = band.rawValue
      guard figures.ranges[index].percent.shortage != .notSeparate else { return nil }
      return PageModel.Row(
        texts.name(of: band),
        [
          limits[index], count(figures.ranges[index].readings), "\(percents[band]) %",
        ])
    }
    let columns = [
      texts.range, "\(texts.limits), \(contents.unit.name)", texts.readings, texts.percentOfReadings,
    ]
    return .table(texts.percentOfReadings, columns, rows)
  }

  private func stickFigures(_ figures: FingerStickFigures) -> PageModel.Part {
    func value(_ metric: Metric) -> String {
      figure(metric) { "\(glucose.number($0)) \(contents.unit.name)" }
    }
    let edges = (lows: figures.lows, highs: figures.highs, count: figures.readings)
    func ranked(_ metric: Metric, _ part: Double) -> String {
      "\(self.ranked(metric.number, at: part, edges)) \(contents.unit.name)"
    }
    func decimal(_ metric: Metric) -> String { figure(metric) { glucose.decimal($0) } }
    let rows = [
      (texts.readings, count(figures.readings)), (texts.daysWithReadings, count(figures.daysWithReadings)),
      (texts.readingsPerDay, decimal(figures.perDay)),
      (texts.readingsPerDayWithAny, decimal(figures.perDayWithReadings)),
      (texts.lowest, ranked(figures.lowest, 0)), (texts.median, ranked(figures.median, 0.5)),
      (texts.highest, ranked(figures.highest, 1)),
      (texts.mean, bounded(value(figures.mean), figures.bound)),
      (texts.deviation, value(figures.standardDeviation)),
      (texts.variation, figure(figures.variation, percent)),
      (texts.lowRisk, decimal(figures.lowRisk)), (texts.highRisk, decimal(figures.highRisk)),
    ]
    let counts = [("LO", figures.lows), ("HI", figures.highs)].filter { $0.1 > 0 }.map { ($0, count($1)) }
    return .table(
      texts.sticks, [texts.figure, texts.value], (rows + counts).map { PageModel.Row($0, [$1]) })
  }

  private func standardDay(_ dots: [DayCurve.Dot]) -> [PageModel.Part] {
    let rows = StickBlock.all(dots).enumerated().map { index, block in
      let time = "\(clock(Int64(index) * 10800)) – \(clock(Int64(index + 1) * 10800))"
      guard let block else { return PageModel.Row(time, ["0", "—", "—", "—", "—"]) }
      let edges = (lows: block.lows, highs: block.highs, count: block.count)
      let half = block.quartiles.map {
        "\(ranked($0.low, at: 0.25, edges))–\(ranked($0.high, at: 0.75, edges))"
      }
      return PageModel.Row(
        time,
        [
          count(block.count), ranked(block.median, at: 0.5, edges), half ?? "—",
          ranked(block.lowest, at: 0, edges), ranked(block.highest, at: 1, edges),
        ])
    }
    let columns = [
      texts.time, texts.readings, texts.median, texts.middleHalf, texts.lowest, texts.highest,
    ]
    return (logLimit.map { [PageModel.Part.text($0)] } ?? []) + [
      .text(texts.standardDayMeaning), .table("\(texts.standardDay), \(contents.unit.name)", columns, rows),
    ]
  }
}

/// The finger sticks of a block of three hours, for all days together.
struct StickBlock {
  /// The first hour of the block.
  let hour: Int
  let count: Int
  /// The number of LO readings.
  let lows: Int
  /// The number of HI readings.
  let highs: Int
  let lowest: Double
  let highest: Double
  /// The median in mg/dL; nil for fewer than 3 readings.
  let median: Double?
  /// The 25th and the 75th percentile in mg/dL; nil for fewer than 5 readings.
  let quartiles: (low: Double, high: Double)?

  /// The eight blocks of a day; nil for a block without readings.
  static func all(_ sticks: [DayCurve.Dot]) -> [StickBlock?] {
    stride(from: 0, to: 24, by: 3).map { hour in
      var values = Distribution()
      var (count, lows, highs) = (0, 0, 0)
      for stick in sticks where secondsOfDay(stick.deviceTime) / 10800 == hour / 3 {
        values.add(stick.level.milligrams)
        count += 1
        lows += stick.level.beyond == .low ? 1 : 0
        highs += stick.level.beyond == .high ? 1 : 0
      }
      guard let lowest = values.lowest, let highest = values.highest else { return nil }
      let quartiles = values.percentiles([0.25, 0.75])
      return StickBlock(
        hour: hour, count: count, lows: lows, highs: highs, lowest: lowest, highest: highest,
        median: count >= 3 ? values.percentile(0.5) : nil,
        quartiles: count >= 5 ? (quartiles[0], quartiles[1]) : nil)
    }
  }
}

/// The seconds since midnight of a shown time.
func secondsOfDay(_ time: DeviceTime) -> Int { Int((time.seconds % 86400 + 86400) % 86400) }
