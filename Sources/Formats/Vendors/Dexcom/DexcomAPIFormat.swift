// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Responses of Dexcom's API, versions 2 and 3: `egvs`, `calibrations` and `events`. `systemTime` is UTC,
/// even without an offset; `displayTime` is the shown time.
struct DexcomAPIFormat: ExportFormat {
  static let id = "dexcom-api"
  static let title = "Dexcom API JSON"
  static let summary = "sensor readings, calibrations, finger sticks, insulin, carbohydrates, exercise, notes"
  static var emptyList: Bool? { false }

  private static let names = [
    "recordId", "systemTime", "displayTime", "value", "unit", "status", "transmitterId", "transmitterTicks",
    "displayDevice", "eventType", "eventSubType", "eventStatus",
  ]
  private enum Name {
    static let id = 0, system = 1, display = 2, value = 3, unit = 4, status = 5, transmitter = 6, ticks = 7
    static let device = 8, event = 9, subtype = 10, eventStatus = 11
  }

  private let options: ExportOptions
  private let isCalibration: Bool
  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre, lowLimit: 40, highLimit: 400)
  private let millimoles = GlucoseReader(unit: .millimolesPerLitre)
  private var zoneOffsets: ZoneOffsets

  /// Recognises a response. The header is true if the items are calibrations. Only the name of their list
  /// shows this.
  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Bool>? {
    let isOwn = head.objects.contains { object in
      object["systemTime"] != nil && object["displayTime"] != nil
        && (object["value"] != nil || object["status"] != nil || object["eventType"] != nil)
    }
    guard isOwn else { return nil }
    let isCalibration =
      head.value(of: "recordType")?.hasPrefix("calibration") == true || head.names("calibrations")
    return Recognition(layout: .objects(columns: names), header: isCalibration)
  }

  init(_ found: Recognition<Bool>, head: InputHead, options: ExportOptions) {
    self.options = options
    isCalibration = found.header
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var decisions: [Decision] {
    [Decision("unit", "as each item says, else \(GlucoseUnit.milligramsPerDecilitre.name)", .read)]
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard !row[Name.system].isEmpty else { return .unknown("not an item of Dexcom's API") }
    guard let time = time(row) else {
      out.reject(row, "invalid time; expected YYYY-MM-DDThh:mm:ss")
      return .data
    }
    if !row[Name.event].isEmpty {
      readEvent(row, at: time, into: &out)
    } else if isCalibration {
      add(.smbg, row, at: time, marks: .calibration, into: &out)
    } else {
      add(.cbg, row, at: time, into: &out)
    }
    return .data
  }

  private mutating func time(_ row: Row) -> ShownTime? {
    guard let instant = row[Name.system].instant else { return nil }
    guard let shown = row[Name.display].yearFirstTime else {
      return ShownTime(utc: instant.seconds, offset: zoneOffsets.offset(atUTC: instant.seconds))
    }
    let offset = shown.deviceTime.seconds - instant.seconds
    if abs(offset) >= 86400 { return ShownTime(utc: instant.seconds, offset: 0) }
    return ShownTime(shown.deviceTime, utcOffset: Int32(offset))
  }

  private func add(
    _ kind: ReadingKind, _ row: Row, at time: ShownTime, marks: ReadingMarks = [],
    into out: inout BatchBuilder
  ) {
    let unit = row[Name.unit]
    let reader = GlucoseUnit(name: unit.text) == .millimolesPerLitre ? millimoles : milligrams
    var cell = reader.read(row[Name.value])
    // For a value outside the range, the API writes 39 or 401. These numbers were not measured.
    if row[Name.status].equals("low") { cell = .measurement(.low(below: 40, .milligramsPerDecilitre)) }
    if row[Name.status].equals("high") { cell = .measurement(.high(above: 400, .milligramsPerDecilitre)) }
    switch cell {
    case .measurement(let measurement):
      let transmitter = row[Name.transmitter]
      let model = row[Name.device]
      let device = out.device(
        vendor: "Dexcom", model: model.isEmpty ? .fixed("Dexcom API") : model, serial: transmitter)
      let placement = out.placement(of: time)
      if kind == .cbg, !transmitter.isEmpty, let tick = row[Name.ticks].integer {
        out.add(
          Reading(
            device: device, kind: kind, tick: tick, at: time.deviceTime, placement: placement, measurement,
            marks: marks, line: row.line))
      } else {
        out.add(
          Reading(
            device: device, kind: kind, at: time.deviceTime, placement: placement, measurement, marks: marks,
            line: row.line))
      }
    case .empty: out.skip("reading without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  private func readEvent(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let isDeleted = Self.isDeleted(row)
    let type = row[Name.event].text
    let (value, subtype) = (row[Name.value], row[Name.subtype].text)
    func number(_ range: ClosedRange<Double>) -> FieldValue? {
      value.jsonNumber.flatMap { range.contains($0) ? .number($0) : nil }
    }
    switch type {
    case _ where isDeleted && (row[Name.id].isEmpty || !Self.recordEvents.contains(type)):
      out.skip("deleted event")
    case "bloodGlucose": add(.smbg, row, at: time, marks: .manual, into: &out)
    case "carbs":
      add(.food, number(PlausibleAmounts.grams).map { ["carbs": $0] }, row, at: time, into: &out)
    case "insulin":
      let words = ["fastActing": "rapid", "longActing": "long"]
      var fields = number(PlausibleAmounts.units).map { ["units": $0] }
      if let word = words[subtype] { fields?["subtype"] = .text(word) }
      add(.insulin, fields, row, at: time, into: &out)
    case "exercise":
      var fields = number(PlausibleAmounts.minutes).map { ["minutes": $0] }
      if !subtype.isEmpty { fields?["intensity"] = .text(subtype) }
      add(.exercise, fields, row, at: time, into: &out)
    case "health":
      add(.note, ["subtype": .text("health"), "text": .text(subtype)], row, at: time, into: &out)
    case "notes" where !value.isEmpty || isDeleted:
      add(.note, value.isEmpty ? nil : ["text": .text(value.text)], row, at: time, into: &out)
    default: out.skip(String(type.prefix(40)))
    }
  }

  private func add(
    _ kind: RecordKind, _ fields: [String: FieldValue]?, _ row: Row, at time: ShownTime,
    into out: inout BatchBuilder
  ) {
    let isDeleted = Self.isDeleted(row)
    if fields == nil, !isDeleted { return out.reject(row, "the amount is not a number that it can be") }
    if fields == nil { out.skip("deleted event") }
    out.add(
      kind, at: time, owner: "", sourceID: row[Name.id].text, isDeletedAtSource: isDeleted, line: row.line,
      fields ?? [:])
  }

  /// The types of events that become records.
  private static let recordEvents: Set<String> = ["carbs", "insulin", "exercise", "health", "notes"]

  /// Whether the account deleted the event. The record of such an event is hidden.
  private static func isDeleted(_ row: Row) -> Bool { row[Name.eventStatus].equals("deleted") }
}

extension DexcomAPIFormat {
  static let page = FormatPage(
    origin: [
      "https://developer.dexcom.com: an app of your own, and its answer in a pipe: curl … | glucoport"
        + " import -"
    ],
    variants: [
      "versions 2 and 3: egvs, calibrations, events"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings, by the transmitter's counter where there is one",
      "calibrations, finger sticks",
      "insulin, carbohydrates, exercise, health events, notes",
    ],
    notRead: [
      "deleted finger sticks, which are counted; the records of other deleted events are hidden",
      "alerts, data ranges, devices",
      "the trend",
    ])
}
