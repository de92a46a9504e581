// SPDX-License-Identifier: Apache-2.0

import Logbook

extension ReportPage {
  /// The section with insulin, carbohydrates and ketones; nil if there are none.
  var amounts: PageModel.Section? {
    let (amounts, ketones) = (total.amounts, total.ketones)
    let unit = texts.insulinUnit
    let lines = [
      (texts.insulin, amounts.insulin, unit), (texts.basal, amounts.basal, unit),
      (bolusName, amounts.bolus, unit), (texts.mixed, amounts.mixed, unit),
      (texts.carbohydrates, amounts.carbohydrates, "g"),
    ].filter { $0.1.records > 0 }
    var parts: [PageModel.Part] = []
    if !lines.isEmpty {
      let rows = lines.map { name, amount, unit in
        PageModel.Row(
          name,
          [
            amount.sum.map { "\(glucose.plain($0)) \(unit)" } ?? "—",
            figure(amount.perDay) { "\(glucose.decimal($0)) \(unit)" }, count(amount.daysWithAny),
          ])
      }
      let columns = [texts.record, texts.total, texts.perDayWithAny, texts.daysWithAny]
      parts.append(.table(texts.amounts, columns, rows))
      if amounts.hasOnlyBoluses {
        parts.append(.text("\(texts.insulin)\(texts.colon)\(texts.sheet.noBasal)"))
      }
    }
    parts += contents.result.doubts.filter { $0.kind != .smbg }.flatMap(doubtParts)
    if ketones.readings > 0 {
      func value(_ metric: Metric) -> String { figure(metric) { "\(glucose.decimal($0)) mmol/L" } }
      let row = PageModel.Row(
        texts.ketones, [count(ketones.readings), value(ketones.mean), value(ketones.highest)])
      parts.append(.table(texts.ketones, [texts.figure, texts.readings, texts.mean, texts.highest], [row]))
    }
    guard !parts.isEmpty else { return nil }
    return PageModel.Section(
      anchor: "amounts", heading: Markup(texts.amounts), blocks: parts.map { PageModel.Block(parts: [$0]) })
  }

  /// The name of the insulin that is neither basal nor premixed.
  var bolusName: String { total.amounts.dosesOfUnknownUse > 0 ? texts.bolusOrUnknown : texts.bolus }

  /// The text that states why the amounts of two sources have no sum.
  func text(of doubt: SourceDoubt) -> String {
    let names = [doubt.first, doubt.second].map { contents.sourceName($0.source) }
    let text = PageTexts.fill(texts.sourceDoubt, names[0], names[1], "\(doubt.days)")
    guard let shift = doubt.shiftSeconds.map(abs) else { return text }
    return "\(text) (\(PageTexts.fill(texts.sourceShift, "\(shift / 3600)", "\(shift / 60 % 60)")))"
  }

  /// What two sources describe, why there is no sum, and the amounts of each source, on one line.
  func line(of doubt: SourceDoubt) -> String {
    let (unit, name) = labels(of: doubt)
    let amounts = [doubt.first, doubt.second].map {
      "\(contents.sourceName($0.source)) \(glucose.decimal($0.perDay))\(unit)"
    }
    return "\(name)\(texts.colon)\(text(of: doubt)) "
      + "\(texts.perDayWithAny)\(texts.colon)\(amounts.joined(separator: ", "))"
  }

  /// The unit of the amounts of two sources, and the name of what they describe.
  private func labels(of doubt: SourceDoubt) -> (unit: String, name: String) {
    switch doubt.kind {
    case .insulin where doubt.doseDifference == .use:
      (" \(texts.insulinUnit)", "\(texts.basal), \(texts.bolus)")
    case .insulin where doubt.isAllInsulin: (" \(texts.insulinUnit)", texts.insulin)
    case .insulin: (" \(texts.insulinUnit)", doubt.isBasal ? texts.basal : texts.bolus)
    case .food: (" g", texts.carbohydrates)
    case .smbg, .ketone: ("", texts.sticks)
    }
  }

  /// The amounts of two sources that seem to describe the same doses, meals or readings, one part for each.
  func doubtParts(_ doubt: SourceDoubt) -> [PageModel.Part] {
    let (unit, name) = labels(of: doubt)
    let sources = [doubt.first, doubt.second]
    let names = sources.map { contents.sourceName($0.source) }
    let rows = zip(names, sources).map { name, amount in
      PageModel.Row(name, ["\(glucose.decimal(amount.perDay))\(unit)", count(amount.days)])
    }
    return [
      .text(text(of: doubt)), .table(name, [texts.record, texts.perDayWithAny, texts.daysWithAny], rows),
    ]
  }

  /// The section with the devices of the readings.
  var devices: PageModel.Section {
    let rows = deviceNames.map { PageModel.Row($0.isEmpty ? "—" : $0, []) }
    let part =
      rows.isEmpty
      ? PageModel.Part.text(texts.noReadings) : .table(texts.devices, [texts.device], rows, of: .text)
    return PageModel.Section(
      anchor: "devices", heading: Markup(texts.devices), blocks: [PageModel.Block(parts: [part])])
  }

  /// The models of the devices. Several devices of one model are one line: a serial number identifies a
  /// person, and no clinic needs it.
  var deviceNames: [String] {
    Set(contents.devices.map { $0.name == Device.typed.model ? texts.sheet.typed : $0.name }).sorted()
  }

  /// The section with the numbers of readings that do not count, and the reasons.
  var leftOut: PageModel.Section {
    let rows = LeftOut.allCases.filter { total.leftOut[$0] > 0 }.map { reason in
      PageModel.Row(texts.text(of: reason), [count(total.leftOut[reason])])
    }
    let part =
      rows.isEmpty
      ? PageModel.Part.text(texts.nothingLeftOut)
      : .table(texts.leftOut, [texts.reason, texts.readingsAndRecords], rows)
    return PageModel.Section(
      anchor: "left-out", heading: Markup(texts.leftOut),
      blocks: [PageModel.Block(parts: [part] + doubledParts)])
  }

  /// A table of the items that were left out because another source has them, too. Each row names both
  /// sources and the kind of the items. Empty without such items.
  private var doubledParts: [PageModel.Part] {
    let names: [CountableItem.Kind: String] = [
      .insulin: texts.insulin, .food: texts.carbohydrates, .smbg: texts.sticks, .ketone: texts.ketones,
    ]
    let rows = contents.result.doubled.filter { !$0.isSensorValue && !$0.isComputed }.map { line in
      let sources = [line.source, line.counted].map { contents.sourceName($0) }
      return PageModel.Row("\(sources[0]) = \(sources[1])", [names[line.kind] ?? "", count(line.items)])
    }
    let columns = [texts.reason, texts.record, texts.readingsAndRecords]
    return rows.isEmpty ? [] : [.table(texts.doubled, columns, rows)]
  }

  /// The section with the rules of the figures, and the version of the program.
  var about: PageModel.Section {
    var notes = [texts.shortageRule, texts.extremesRule, texts.sensorsRule, texts.clockRule]
    if !contents.missing.isEmpty { notes.append(missingText(contents.missing.count)) }
    if let device = contents.device {
      notes.append(contents.isAnonymised ? texts.oneDevice : PageTexts.fill(texts.onlyDevice, device))
    }
    if contents.isAnonymised { notes.append(texts.anonymised) }
    notes.append(PageTexts.fill(texts.program, contents.version))
    return PageModel.Section(
      anchor: "about", heading: Markup(texts.about),
      blocks: [PageModel.Block(parts: notes.map { PageModel.Part.text($0) })])
  }
}

extension ReportPage {
  /// The sentence about missing sensor values; empty if none are missing.
  ///
  /// - Parameter limit: the maximum number of periods that the sentence names.
  func missingText(_ limit: Int) -> String {
    guard !contents.missing.isEmpty else { return "" }
    let names = contents.missing.prefix(limit).map(name(of:)).joined(separator: ", ")
    let rest = contents.missing.count - limit
    return PageTexts.fill(texts.missing, rest > 0 ? "\(names) (+\(rest))" : names)
  }

  /// The name of a period without values, such as `2026-05-06 02:10–06:40`.
  private func name(of time: MissingTime) -> String {
    let (from, until) = (name(of: time.from), name(of: time.until))
    return from.day == until.day
      ? "\(from.day) \(from.time)–\(until.time)" : "\(from.day) \(from.time) – \(until.day) \(until.time)"
  }

  private func name(of time: DeviceTime) -> (day: String, time: Substring) {
    let second = (time.seconds % 86400 + 86400) % 86400
    return (name(ofDay: Int((time.seconds - second) / 86400)), time.text.dropFirst(11).prefix(5))
  }
}
