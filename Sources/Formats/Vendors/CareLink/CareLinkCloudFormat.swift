// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The JSON bodies that CareLink's apps for care partners fetch: each has the last day of a sensor and a
/// pump.
///
/// The times end in `Z`, but are the patient's wall clock. The offset is the difference between the two times
/// of the phone's last transfer: one as shown, one in milliseconds of UTC. Names and serial numbers are
/// neither stored nor printed.
struct CareLinkCloudFormat: ExportFormat {
  static let id = "carelink-cloud"
  static let title = "Medtronic CareLink cloud JSON"
  static let summary = "sensor readings and doses of the last day"
  static var emptyList: Void? { () }
  static let picksRows = true

  private static let members = [
    "sgs", "markers", "lastConduitDateTime", "lastConduitUpdateServerDateTime", "patientId", "firstName",
    "lastName",
  ]
  private static let names = members + members.map { "patientData.\($0)" }
  private static let itemNames =
    [
      "sg", "timestamp", "datetime", "sensorState", "type", "dateTime",
    ]
    + doseNames.map { "data.dataValues.\($0)" } + doseNames
  /// The members of a dose. In a body of an older app, they are members of the marker itself, and not of its
  /// `data.dataValues`.
  private static let doseNames = [
    "deliveredFastAmount", "deliveredExtendedAmount", "effectiveDuration", "programmedDuration",
  ]
  private enum Name {
    static let value = 0, time = 1, older = 2, state = 3, type = 4, oldestTime = 5
    static let fast = 6, extended = 7, minutes = 8, programmedMinutes = 9
  }

  private let glucose = GlucoseReader(unit: .milligramsPerDecilitre)
  private let model: String
  private let options: ExportOptions
  private var offset: Int32?
  private var people = InputPeople(column: "person")
  /// The known people, as user name, first name and last name. A body of an older app lacks some of them.
  private var known: [[String]] = []

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    guard head.isJSON, head.names("sgs"), head.names("sg") else { return nil }
    return Recognition(.objects(columns: names))
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) throws {
    model = options.device ?? "CareLink"
    self.options = options
    try people.pickOnly(options.rows, in: Self.title)
  }

  /// True, since any body may be of a second person; only a survey of the whole input finds this.
  var benefitsFromSurvey: Bool { true }

  mutating func survey(_ row: Row) { people.observe(person(of: row)) }

  mutating func decide() throws { try people.decide(ImportHint(options: options)) }

  var failureAtEnd: Failure? { people.missing }

  var decisions: [Decision] {
    var decisions: [Decision] = [.unit(.milligramsPerDecilitre)]
    if let offset { decisions.append(Decision("offset", DeviceTime.offsetText(offset), .read)) }
    return decisions
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let shift = row[0].isEmpty ? Self.members.count : 0
    guard !row[shift].isEmpty else { return .unknown("not a body of CareLink") }
    guard people.reads(person(of: row), row, into: &out) else { return .data }
    offset = Self.offset(shown: row[shift + 2], sent: row[shift + 3])
    do {
      try NestedObjects.forEach(in: row[shift], columns: Self.itemNames, line: row.line) {
        readValue($0, into: &out)
      }
      try NestedObjects.forEach(in: row[shift + 1], columns: Self.itemNames, line: row.line) {
        readMarker($0, into: &out)
      }
    } catch {
      out.reject(row, "the readings of the body cannot be read")
    }
    return .data
  }

  /// The person of a body, as the first body of that person states it; empty if the body names no person.
  private mutating func person(of row: Row) -> String {
    let shift = row[0].isEmpty ? Self.members.count : 0
    let parts = (4...6).map { row[shift + $0].trimmed.text }
    guard parts.contains(where: { !$0.isEmpty }) else { return "" }
    let same = known.first { other in
      let stated = zip(parts, other).filter { !$0.isEmpty && !$1.isEmpty }
      return !stated.isEmpty && stated.allSatisfy { $0 == $1 }
    }
    if same == nil { known.append(parts) }
    let person = same ?? parts
    return person[0].isEmpty ? "\(person[1]) \(person[2])" : person[0]
  }

  /// The offset in seconds between the two times of the phone's last transfer, rounded to a quarter of an
  /// hour as every zone is. Nil if one of them is missing or in 1970, or if they are a day or more apart.
  private static func offset(shown: Field, sent: Field) -> Int32? {
    guard let local = shown.yearFirstTime?.deviceTime.seconds, let instant = sent.instant?.seconds,
      local > 86400 * 366, instant > 86400 * 366, abs(local - instant) < 86400
    else { return nil }
    return Int32((Double(local - instant) / 900).rounded()) * 900
  }

  private func time(_ row: Row) -> ShownTime? {
    let cells = [row[Name.time], row[Name.older], row[Name.oldestTime]]
    let cell = cells.first { !$0.isEmpty } ?? cells[0]
    return cell.yearFirstTime.map { ShownTime($0.deviceTime, utcOffset: offset) }
  }

  private func readValue(_ row: Row, into out: inout BatchBuilder) {
    var cell = glucose.read(row[Name.value])
    if row[Name.value].jsonNumber == 0 {
      guard row[Name.state].equals("SG_BELOW_40_MGDL") else {
        return out.skip("sensor reading without a value")
      }
      cell = .measurement(.low(below: 40, .milligramsPerDecilitre))
    }
    guard let time = time(row) else { return out.reject(row, "invalid or missing time") }
    out.add(
      .cbg, cell, device: out.device(Device(vendor: "Medtronic", model: model, format: Self.id)), at: time,
      row: row)
  }

  private func readMarker(_ row: Row, into out: inout BatchBuilder) {
    let type = row[Name.type].text
    let amounts = [dose(Name.fast, row), dose(Name.extended, row)]
    guard type == "INSULIN", amounts.contains(where: { !$0.isEmpty }) else {
      return out.skip(type.isEmpty ? "marker" : String(type.prefix(40)))
    }
    let units = amounts.map { $0.isEmpty ? 0 : $0.jsonNumber ?? -1 }
    guard units.allSatisfy(PlausibleAmounts.units.contains) else {
      return out.reject(row, "the insulin dose is not a number of units")
    }
    guard let time = time(row) else { return out.reject(row, "invalid or missing time") }
    if units == [0, 0] { return out.skip("bolus without insulin") }
    var fields: [String: FieldValue] = ["subtype": .text("rapid")]
    if units[0] > 0 { fields["units"] = .number(units[0]) }
    if units[1] > 0 {
      fields["extended"] = .number(units[1])
      let minutes = [Name.minutes, Name.programmedMinutes].compactMap { dose($0, row).jsonNumber }
      // A number above 1440 is in another unit than minutes, so it is left out.
      fields["minutes"] = minutes.first { (1...1440).contains($0) }.map(FieldValue.number)
    }
    out.add(.insulin, at: time, owner: model, line: row.line, fields)
  }

  /// The cell of a member of a dose. A body of an older app has this member in the marker itself, so in
  /// another column.
  private func dose(_ item: Int, _ row: Row) -> Field {
    row[item].isEmpty ? row[item + Self.doseNames.count] : row[item]
  }
}

extension CareLinkCloudFormat {
  static let page = FormatPage(
    origin: [
      "a program that asks CareLink as the apps for care partners do: PROGRAM | glucoport import -"
    ],
    variants: [
      "answers with and without the member patientData"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings of the last day",
      "doses of rapid insulin, with their extended part",
    ],
    notRead: [
      "other markers, which are counted",
      "names and serial numbers, which are never stored or printed",
    ])
}
