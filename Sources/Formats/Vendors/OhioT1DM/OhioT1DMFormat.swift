// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// A file of the OhioT1DM data set: sections of events of one person. The events of many sections have a
/// `value`, but it is glucose in only two of the sections.
struct OhioT1DMFormat: ExportFormat {
  static let id = "ohiot1dm"
  static let title = "OhioT1DM XML"
  static let summary = "sensor readings, finger sticks, boluses, basal rates, carbohydrates"

  private enum Name {
    static let time = 0, value = 1, begin = 2, end = 3, dose = 4, carbs = 5, type = 6, section = 7
  }

  private static let shape = ElementShape(
    path: ["patient", ElementShape.anyName, "event"],
    attributes: ["ts", "value", "ts_begin", "ts_end", "dose", "carbs", "type"])

  private let device: Device
  private var kinds = OtherKinds()

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    guard head.rootElement == "patient", head.attribute("insulin_type", of: "patient") != nil,
      head.attribute("id", of: "patient") != nil
    else { return nil }
    return Recognition(.elements(shape))
  }

  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    let person = head.attribute("id", of: "patient").flatMap { StatedPerson(id: $0, of: id) }
    return person.map { [$0] } ?? []
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    // Each file is of one person. The person's number distinguishes the readings of several files.
    let person = head.attribute("id", of: "patient") ?? ""
    device = Device(
      vendor: "OhioT1DM", model: options.device ?? "OhioT1DM \(person.prefix(40))", format: Self.id)
  }

  var decisions: [Decision] {
    [
      .unit(.milligramsPerDecilitre),
      .dateOrder(.dayFirst, .fixed),
    ]
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let section = row[Name.section]
    if section.equals("glucose_level") {
      readGlucose(.cbg, row, into: &out)
    } else if section.equals("finger_stick") {
      readGlucose(.smbg, row, into: &out)
    } else if section.equals("basal") || section.equals("temp_basal") {
      readBasal(row, into: &out)
    } else if section.equals("bolus") {
      readAmount(.insulin, Name.dose, "units", PlausibleAmounts.units, row, into: &out)
    } else if section.equals("meal") {
      readAmount(.food, Name.carbs, "carbs", PlausibleAmounts.grams, row, into: &out)
    } else {
      out.skip(kinds.name(section))
    }
    return .data
  }

  private static func time(_ row: Row, _ name: Int) -> ShownTime? {
    row[name].trimmed.ambiguousTime?.time(.dayFirst).map { ShownTime($0) }
  }

  private func start(_ row: Row, _ out: inout BatchBuilder) -> ShownTime? {
    let time = Self.time(row, row[Name.time].isEmpty ? Name.begin : Name.time)
    if time == nil { out.reject(row, "invalid or missing time; expected DD-MM-YYYY hh:mm:ss") }
    return time
  }

  private func readGlucose(_ kind: ReadingKind, _ row: Row, into out: inout BatchBuilder) {
    guard let time = start(row, &out) else { return }
    let cell = row[Name.value].trimmed
    if cell.isEmpty { return out.skip("event without a value") }
    out.add(
      kind, GlucoseReader(unit: .milligramsPerDecilitre).read(cell), device: out.device(device), at: time,
      row: row)
  }

  /// Adds a basal rate. It may be 0 if the pump gave nothing, and a temporary rate has an end.
  private func readBasal(_ row: Row, into out: inout BatchBuilder) {
    guard let time = start(row, &out) else { return }
    guard let rate = row[Name.value].number(), PlausibleAmounts.unitsPerHour.contains(rate) else {
      return out.reject(row, "the basal rate is not a number from 0 to 100")
    }
    var fields: [String: FieldValue] = ["subtype": .text("basal"), "rate": .number(rate)]
    if let end = Self.time(row, Name.end), end.deviceTime.seconds > time.deviceTime.seconds {
      let minutes = Double(end.deviceTime.seconds - time.deviceTime.seconds) / 60
      if PlausibleAmounts.minutes.contains(minutes) { fields["minutes"] = .number(minutes) }
    }
    out.add(.insulin, at: time, owner: device.model, line: row.line, fields)
  }

  private func readAmount(
    _ kind: RecordKind, _ column: Int, _ field: String, _ range: ClosedRange<Double>, _ row: Row,
    into out: inout BatchBuilder
  ) {
    guard let time = start(row, &out), var fields = out.amounts(row, [AmountColumn(column, field, range)])
    else { return }
    if fields.isEmpty { return out.skip("\(kind.rawValue) without an amount") }
    if kind == .insulin {
      fields["subtype"] = .text("rapid")
      splitSquare(&fields, row, from: time)
    }
    if kind == .food, !row[Name.type].trimmed.isEmpty { fields["text"] = .text(row[Name.type].trimmed.text) }
    out.add(kind, at: time, owner: device.model, line: row.line, fields)
  }
}

extension OhioT1DMFormat {
  /// Marks a bolus that the pump gave over time: a square wave, or the square part of a dual wave. The other
  /// part of the dual wave is an event with the same time, and often with the same dose.
  private func splitSquare(_ fields: inout [String: FieldValue], _ row: Row, from start: ShownTime) {
    guard row[Name.type].trimmed.text.lowercased().hasPrefix("square"),
      let end = Self.time(row, Name.end), end.deviceTime.seconds > start.deviceTime.seconds
    else { return }
    fields["extended"] = fields.removeValue(forKey: "units")
    let minutes = Double(end.deviceTime.seconds - start.deviceTime.seconds) / 60
    if PlausibleAmounts.minutes.contains(minutes) { fields["minutes"] = .number(minutes.rounded()) }
  }
}

extension OhioT1DMFormat {
  static let page = FormatPage(
    origin: [
      "the OhioT1DM data set: the XML file of one person; give each person a separate store"
    ],
    variants: [
      "2018 and 2020; all values are in mg/dL"
    ],
    languages: "English only; the elements have fixed names",
    reads: [
      "sensor readings and finger sticks",
      "boluses, basal rates and temporary ones, carbohydrates with the name of the meal",
    ],
    notRead: [
      "carbohydrates that were typed into the bolus calculator",
      "heart rate, temperatures, steps, sleep and other sections, which are counted",
    ])
}
