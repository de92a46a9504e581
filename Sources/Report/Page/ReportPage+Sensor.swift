// SPDX-License-Identifier: Apache-2.0

import Logbook

extension ReportPage {
  /// The share of the time in each range, with the goals.
  var ranges: PageModel.Section {
    let sensor = total.sensor
    return PageModel.Section(
      anchor: "ranges", heading: Markup(texts.ranges), blocks: [PageModel.Block(parts: rangeParts(sensor))])
  }

  /// The goals of a low and a high range are for that and what lies beyond it, which a note says.
  private static let goalRanges: [GlucoseBand: StatsGoal.Range] = [
    .veryLow: .veryLow, .low: .below, .target: .target, .high: .above, .veryHigh: .veryHigh,
  ]

  private func rangeParts(_ sensor: SensorFigures) -> [PageModel.Part] {
    if let shortage = sensor.ranges[GlucoseBand.target.rawValue].percent.shortage {
      return [.text("— (\(texts.text(of: shortage)))")]
    }
    let exact = sensor.ranges.map { $0.percent.number ?? 0 }
    let whole = WholePercents.of(exact.map { $0 / 100 })
    let shown = GlucoseBand.allCases.map { band in
      sensor.ranges[band.rawValue].percent.shortage == .notSeparate
        ? nil
        : (
          name: texts.name(of: band), percent: exact[band.rawValue],
          text: part(whole[band.rawValue], exactly: exact[band.rawValue])
        )
    }
    let description = shown.reversed().compactMap { $0.map { "\($0.name) \($0.text) %" } }
    let goals = StatsGoal.all(of: sensor, contents.targets)
    var rows = GlucoseBand.allCases.reversed().compactMap { band -> PageModel.Row? in
      shown[band.rawValue].map {
        rangeRow(
          part: $0, glucose.ranges(contents.targets)[band.rawValue],
          goals.first { $0.range == Self.goalRanges[band] })
      }
    }
    if let tight = sensor.tight.percent.number {
      let limits = "\(glucose.limit(Targets.tight.low))–\(glucose.limit(Targets.tight.high))"
      let text = part(Int(tight.rounded()), exactly: tight)
      rows.append(rangeRow(part: (texts.tight, tight, text), limits, nil))
    }
    let columns = [
      texts.range, "\(texts.limits), \(contents.unit.name)", texts.percentOfTime, texts.timePerDay,
      texts.goal,
    ]
    let picture = RangeChart(parts: shown).picture(
      "ranges-chart", title: texts.ranges, description: description.joined(separator: ", "))
    return [PageModel.Part(picture: picture), .table(texts.ranges, columns, rows)] + goalNotes(sensor, goals)
  }

  private func rangeRow(
    part: (name: String, percent: Double, text: String), _ limits: String, _ goal: StatsGoal?
  ) -> PageModel.Row {
    let minutes = Int((part.percent * 14.4).rounded())
    let time = minutes < 60 ? "\(minutes)\u{A0}min" : "\(minutes / 60)\u{A0}h \(minutes % 60)\u{A0}min"
    let wanted = goal.map { goal in
      "\(goal.isAbove ? ">" : "<") \(glucose.plain(goal.limit)) % (\(goal.isMet ? texts.goalMet : texts.goalNotMet))"
    }
    return PageModel.Row(part.name, [limits, "\(part.text) %", time, wanted ?? ""])
  }

  private func goalNotes(_ sensor: SensorFigures, _ goals: [StatsGoal]) -> [PageModel.Part] {
    guard contents.targets.goals != nil else { return [] }
    if let shortage = sensor.goalShortage {
      return [.text("\(texts.goals): — (\(texts.text(of: shortage)))")]
    }
    return goals.isEmpty ? [] : [.text(texts.goalsWithBelow)]
  }

  /// The figures of the sensor, and its episodes.
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
      (texts.activeTime, figure(sensor.active, percent)), (texts.mean, bounded(value(sensor.mean))),
      (texts.deviation, value(sensor.standardDeviation)),
      (texts.variation, figure(sensor.variation, percent)),
      (texts.indicator, indicator), (texts.lowRisk, figure(sensor.lowRisk) { glucose.decimal($0) }),
      (texts.highRisk, figure(sensor.highRisk) { glucose.decimal($0) }), (texts.glycemiaRisk, risk),
    ]
    let edges = [("LO", sensor.lows), ("HI", sensor.highs), (texts.atLimit, sensor.atLimits)]
    return always + edges.filter { $0.1 > 0 }.map { ($0, count($1)) }
  }

  /// With many LO or HI, the mean is only a bound.
  private func bounded(_ mean: String) -> String {
    switch total.sensor.bound {
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

  /// The profile by the time of day; nil without a sensor.
  var profile: PageModel.Section? {
    guard total.sensor.readings > 0, let profile = contents.result.profile else { return nil }
    let heading = Markup(texts.profile)
    if let shortage = profile.shortage {
      let part = PageModel.Part.text("— (\(texts.text(of: shortage)))")
      return PageModel.Section(anchor: "profile", heading: heading, blocks: [PageModel.Block(parts: [part])])
    }
    let picture = ProfileChart(profile: profile, targets: contents.targets, glucose: glucose).picture(
      "profile-chart", title: "\(texts.profile), \(contents.unit.name)", description: texts.profileMeaning)
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
        PageModel.Block(parts: [.text(texts.profileMeaning), PageModel.Part(picture: picture)]),
        PageModel.Block(parts: [table]),
      ])
  }
}
