// SPDX-License-Identifier: Apache-2.0

import Logbook

extension ReportPage {
  /// The section with the share of the time in each range, and with the goals.
  var ranges: PageModel.Section {
    let sensor = total.sensor
    return PageModel.Section(
      anchor: "ranges", heading: Markup(texts.ranges), blocks: [PageModel.Block(parts: rangeParts(sensor))])
  }

  private func rangeParts(_ sensor: SensorFigures) -> [PageModel.Part] {
    if let shortage = sensor.ranges[GlucoseBand.target.rawValue].percent.shortage {
      return [.text("— (\(texts.text(of: shortage)))")]
    }
    let percents = PercentTexts(minutes: sensor.ranges, mark: texts.mark)
    let columns = [
      texts.range, "\(texts.limits), \(contents.unit.name)", texts.percentOfTime, texts.timePerDay,
      texts.goal,
    ]
    return [.table(texts.ranges, columns, rangeRows(sensor, percents))] + goalNotes(sensor)
  }

  /// The rows from very high to very low. Two ranges together have a separate row, since some goals are for
  /// both together.
  private func rangeRows(_ sensor: SensorFigures, _ percents: PercentTexts) -> [PageModel.Row] {
    let (targets, limits) = (contents.targets, glucose.ranges(contents.targets))
    let goals = StatsGoal.all(of: sensor, targets)
    func row(_ band: GlucoseBand, _ goal: StatsGoal.Range?) -> PageModel.Row? {
      guard let percent = sensor.ranges[band.rawValue].percent.number else { return nil }
      let goal = goals.first { $0.range == goal }
      return rangeRow(texts.name(of: band), limits[band.rawValue], percent, percents[band], goal)
    }
    func sum(
      _ first: GlucoseBand, _ second: GlucoseBand, _ limits: String, _ goal: StatsGoal.Range
    ) -> PageModel.Row {
      let minutes = sensor.ranges[first.rawValue].minutes + sensor.ranges[second.rawValue].minutes
      return rangeRow(
        "\(texts.name(of: first)) + \(texts.name(of: second))", limits,
        100 * Double(minutes) / Double(max(1, sensor.minutes)), percents.sum(first, second),
        goals.first { $0.range == goal })
    }
    let isSplit = targets.highest != nil
    var rows = [
      row(.veryHigh, .veryHigh), row(.high, isSplit ? nil : .above),
      isSplit ? sum(.high, .veryHigh, ">\(glucose.limit(targets.high))", .above) : nil,
      row(.target, .target), sum(.low, .veryLow, "<\(glucose.limit(targets.low))", .below),
      row(.low, nil), row(.veryLow, .veryLow),
    ]
    if let tight = sensor.tight.percent.number {
      let limits = "\(glucose.limit(Targets.tight.low))–\(glucose.limit(Targets.tight.high))"
      rows.append(rangeRow(texts.tight, limits, tight, PercentTexts.text(tight, mark: texts.mark), nil))
    }
    return rows.compactMap(\.self)
  }

  private func rangeRow(
    _ name: String, _ limits: String, _ percent: Double, _ text: String, _ goal: StatsGoal?
  ) -> PageModel.Row {
    let minutes = Int((percent * 14.4).rounded())
    let time = minutes < 60 ? "\(minutes)\u{A0}min" : "\(minutes / 60)\u{A0}h \(minutes % 60)\u{A0}min"
    let wanted = goal.map { goal in
      "\(goal.isAbove ? ">" : "<") \(glucose.plain(goal.limit)) % (\(goal.isMet ? texts.goalMet : texts.goalNotMet))"
    }
    return PageModel.Row(name, [limits, "\(text) %", time, wanted ?? ""])
  }

  private func goalNotes(_ sensor: SensorFigures) -> [PageModel.Part] {
    guard contents.targets.goals != nil, let shortage = sensor.goalShortage else { return [] }
    return [.text("\(texts.goals)\(texts.colon)— (\(texts.text(of: shortage)))")]
  }

  /// The section with the figures of the sensor and its episodes; nil without a sensor.
  var sensor: PageModel.Section? {
    let sensor = total.sensor
    guard sensor.readings > 0 else { return nil }
    let table = PageModel.Part.table(
      texts.sensorFigures, [texts.figure, texts.value], sensorRows(sensor).map { PageModel.Row($0, [$1]) })
    return PageModel.Section(
      anchor: "sensor", heading: Markup(texts.sensorFigures),
      blocks: [PageModel.Block(parts: [table]), PageModel.Block(parts: [episodes(sensor)])])
  }

  private func sensorRows(_ sensor: SensorFigures) -> [(String, String)] {
    func value(_ metric: Metric) -> String {
      figure(metric) { "\(glucose.number($0)) \(contents.unit.name)" }
    }
    let indicator = figure(sensor.managementIndicator) { percent in
      let millimoles = sensor.managementIndicatorInMillimoles.number.map {
        " (\(glucose.decimal($0, 0)) mmol/mol)"
      }
      return "\(glucose.decimal(percent)) %" + (millimoles ?? "")
    }
    let risk = figure(sensor.glycemiaRisk) {
      "\(glucose.decimal($0)) (\(PageTexts.fill(texts.riskZone, GlucoseIndices.zone(ofGlycemiaRisk: $0))))"
    }
    let always = [
      (texts.readings, count(sensor.readings)), (texts.daysWithReadings, count(sensor.daysWithReadings)),
      (texts.activeTime, figure(sensor.active, percent)),
      (texts.mean, bounded(value(sensor.mean), sensor.bound)),
      (texts.deviation, value(sensor.standardDeviation)),
      (texts.variation, figure(sensor.variation, percent)),
      (texts.indicator, indicator), (texts.lowRisk, figure(sensor.lowRisk) { glucose.decimal($0) }),
      (texts.highRisk, figure(sensor.highRisk) { glucose.decimal($0) }), (texts.glycemiaRisk, risk),
    ]
    let edges = [("LO", sensor.lows), ("HI", sensor.highs), (texts.atLimit, sensor.atLimits)]
    return always + edges.filter { $0.1 > 0 }.map { ($0, count($1)) }
  }

  /// The text of a mean. With many LO or HI readings it states that the mean is only a bound.
  func bounded(_ mean: String, _ bound: SensorFigures.Bound?) -> String {
    switch bound {
    case .orLower: PageTexts.fill(texts.orLower, mean)
    case .orHigher: PageTexts.fill(texts.orHigher, mean)
    case .either: PageTexts.fill(texts.bounded, mean)
    case nil: mean
    }
  }

  private func episodes(_ sensor: SensorFigures) -> PageModel.Part {
    let rows = EpisodeKind.allCases.map { kind in
      let line = sensor.episodes[kind]
      return PageModel.Row(
        texts.name(of: kind),
        [
          count(line.count), figure(sensor.episodesPerDay(kind)) { glucose.decimal($0, 2) },
          line.meanMinutes.map { glucose.decimal($0, 0) } ?? "—",
        ])
    }
    return .table(texts.episodes, [texts.range, texts.number, texts.timePerDay, texts.meanDuration], rows)
  }

  /// The section with the profile by the time of day; nil without a sensor.
  var profile: PageModel.Section? {
    guard total.sensor.readings > 0, let profile = contents.result.profile else { return nil }
    let heading = Markup(texts.profile)
    if let shortage = profile.shortage {
      let part = PageModel.Part.text("— (\(texts.text(of: shortage)))")
      return PageModel.Section(anchor: "profile", heading: heading, blocks: [PageModel.Block(parts: [part])])
    }
    let rows = stride(from: 0, to: profile.points.count, by: profile.points.count / 12).map { index in
      let point = profile.points[index]
      let numbers = point.percentiles?.map(glucose.number) ?? [String](repeating: "—", count: 5)
      return PageModel.Row(clock(Int64(point.minute) * 60), numbers)
    }
    let columns = [texts.time, "5 %", "25 %", "50 %", "75 %", "95 %"]
    let table = PageModel.Part.table("\(texts.percentiles), \(contents.unit.name)", columns, rows)
    return PageModel.Section(
      anchor: "profile", heading: heading,
      blocks: [
        PageModel.Block(parts: [.text(texts.profileMeaning)]),
        PageModel.Block(parts: [table]),
      ])
  }
}
