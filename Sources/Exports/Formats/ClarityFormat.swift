// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Dexcom Clarity CSV, G4 to G7 and Stelo, in every language: columns are found by place.
///
/// A sensor reading's place is the transmitter's own tick, since Clarity renumbers rows, revises values and was seen
/// to move shown times by an hour between exports. Files that were saved again without ticks fall back on the time.
struct ClarityFormat: ExportFormat {
  static let id = "clarity"
  static let title = "Dexcom Clarity CSV"
  static let summary = "sensor readings, calibrations, insulin, carbohydrates, exercise, health notes"

  private enum Column {
    static let time = 1, type = 2, subtype = 3, deviceInfo = 5, sourceDevice = 6, glucose = 7, insulin = 8
    static let carbs = 9, duration = 10, tick = 12, transmitter = 13
  }

  /// The range of every Dexcom sensor, in mg/dL; Clarity writes the words Low and High beyond it.
  private static let limits = (low: 40.0, high: 400.0)

  private let layout: Layout
  private let options: ExportOptions
  private var glucose: GlucoseReader
  private var columnCount = 0
  /// Per transmitter: UTC seconds less ticks, from its last reading outside a repeated hour.
  private var anchors: [DeviceIndex: Int64] = [:]
  private var lastTransmitter: [UInt8] = []

  private static func isHeader(_ cells: [String]) -> Bool {
    guard cells.count >= 8 else { return false }
    if cells.contains("transmitter time (long integer)") || cells.contains("transmitterzeit (lange ganzzahl)") {
      return true
    }
    return cells[0] == "index" && cells[1].contains("hh:mm:ss)")
  }

  static func recognise(_ head: InputHead) -> Layout? {
    head.firstRow(where: isHeader).map { .table(delimiter: $0.delimiter) }
  }

  init(layout: Layout, head: InputHead, options: ExportOptions) {
    self.layout = layout
    self.options = options
    let mark: DecimalMark =
      if case .table(UInt8(ascii: ";")) = layout { .comma } else { .point }
    glucose = GlucoseReader(unit: .milligramsPerDecilitre, mark: mark)
  }

  var decisions: [Decision] {
    [
      Decision("unit", glucose.unit.name, .read),
      Decision("date-order", "year first", .fixed),
    ]
  }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict {
    let time = row[Column.time]
    if time.isEmpty {
      if !row[Column.type].isEmpty {
        out.skip("settings")
        return .data
      }
      return .unknown("a row without a time")
    }
    guard columnCount > 0, let first = time.bytes.first, first &- 0x30 <= 9 else {
      return takeHeader(row) ? .header : .unknown("before the header, or no row of Clarity")
    }
    if row.isUnterminated, isCut(row) { return .cut }
    guard let shown = time.yearFirstTime else {
      out.reject(row, "a time that no calendar has, or of another form than YYYY-MM-DDThh:mm:ss")
      return .data
    }
    let type = row[Column.type]
    if type.equals("EGV") || isEstimate(row) {
      readEstimate(row, at: shown, into: &out)
    } else {
      readOther(row, type: type.folded, at: shown, into: &out)
    }
    return .data
  }

  /// In languages that translate the event type, ticks with a transmitter tell a sensor reading.
  private func isEstimate(_ row: Row) -> Bool {
    !row[Column.tick].isEmpty && !row[Column.transmitter].isEmpty && !row[Column.glucose].isEmpty
  }

  private func isCut(_ row: Row) -> Bool {
    if row.count < columnCount - 1 { return true }
    guard row[Column.type].equals("EGV"), columnCount > Column.transmitter else { return false }
    let transmitter = row[Column.transmitter]
    return transmitter.shape != .quoted && !transmitter.hasSameBytes(as: lastTransmitter)
  }

  private mutating func takeHeader(_ row: Row) -> Bool {
    let cells = row.fields.map(\.folded)
    guard Self.isHeader(cells) else { return false }
    columnCount = cells.count
    let unit: GlucoseUnit = cells[Column.glucose].contains("mmol") ? .millimolesPerLitre : .milligramsPerDecilitre
    let factor = unit == .millimolesPerLitre ? Quantity.milligramsPerDecilitreInMillimole : 1
    glucose = GlucoseReader(
      unit: unit, mark: glucose.mark,
      lowLimit: (Self.limits.low / factor * 10).rounded() / 10,
      highLimit: (Self.limits.high / factor * 10).rounded() / 10)
    return true
  }

  private mutating func readEstimate(_ row: Row, at shown: ShownTime, into out: inout Collector) {
    let cell = glucose.read(row[Column.glucose])
    let transmitter = row[Column.transmitter]
    let device = device(transmitter: transmitter, row, in: &out)
    guard !transmitter.isEmpty, let tick = row[Column.tick].integer else {
      out.add(.cbg, cell, device: device, at: shown, row: row)
      return
    }
    if row.isUnterminated == false, !transmitter.hasSameBytes(as: lastTransmitter) {
      lastTransmitter = Array(transmitter.bytes)
    }
    switch cell {
    case .measurement(let measurement):
      out.add(
        Reading(
          device: device, kind: .cbg, tick: tick, at: shown.deviceTime,
          placement: place(shown, tick: tick, of: device, in: &out), measurement, line: row.line))
    case .empty: out.skip("sensor reading without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// In the repeated hour the ticks since the last reading outside it tell which occurrence this is.
  private mutating func place(
    _ shown: ShownTime, tick: Int64, of device: DeviceIndex, in out: inout Collector
  ) -> Placement {
    let placement = out.place(shown)
    let utc = shown.deviceTime.seconds - Int64(placement.utcOffset)
    guard placement.source == .zoneOverlap else {
      if placement.source != .zoneGap { anchors[device] = utc - tick }
      return placement
    }
    guard let anchor = anchors[device] else { return placement }
    let later = options.zone.offset(atUTC: utc + 3 * 3600)
    let laterUTC = shown.deviceTime.seconds - Int64(later)
    let expected = anchor + tick
    let isLater = abs(laterUTC - expected) < abs(utc - expected)
    return Placement(utcOffset: isLater ? later : placement.utcOffset, source: .ticks)
  }

  private func device(transmitter: Field, _ row: Row, in out: inout Collector) -> DeviceIndex {
    if transmitter.isEmpty {
      return out.device(vendor: "Dexcom", model: row[Column.sourceDevice], serial: .absent)
    }
    return out.device(vendor: "Dexcom", model: row[Column.sourceDevice], serial: transmitter)
  }

  private mutating func readOther(
    _ row: Row, type: String, at shown: ShownTime, into out: inout Collector
  ) {
    let subtype = row[Column.subtype].text
    let owner = row[Column.sourceDevice].text
    func add(_ kind: RecordKind, _ fields: [String: FieldValue]) {
      out.add(kind, at: shown, owner: owner, line: row.line, fields)
    }
    let mark = glucose.mark
    let number = { (column: Int) in row[column].number(mark) }
    switch type {
    case "insulin", "insulina", "insuline":
      guard let units = number(Column.insulin), units >= 0, units <= 500 else {
        return out.reject(row, "an insulin dose that is no number of units")
      }
      add(.insulin, ["subtype": .text(Self.insulinSubtype(subtype)), "units": .number(units)])
    case "carbs", "kohlenhydrate", "kohlenh.", "carbohidratos", "carboidrati", "glucides", "koolhydraten":
      guard let grams = number(Column.carbs), grams >= 0, grams <= 2000 else {
        return out.reject(row, "carbohydrates that are no number of grams")
      }
      add(.food, ["carbs": .number(grams)])
    case "exercise", "training", "bewegung", "ejercicio", "esercizio", "exercice", "lichaamsbeweging":
      var fields: [String: FieldValue] = ["intensity": .text(subtype.lowercased())]
      if let minutes = Self.minutes(row[Column.duration]) { fields["minutes"] = .number(minutes) }
      add(.exercise, fields)
    case "health", "gesundheit", "salud", "salute", "santé", "gezondheid":
      add(.note, ["subtype": .text("health"), "text": .text(subtype)])
    case "note", "notes", "notizen", "hinweis", "notas", "remarques", "nota", "note utilisateur":
      add(.note, ["text": .text(Self.noteText(row))])
    default:
      readUnknown(row, type: type, at: shown, into: &out)
    }
  }

  /// A transmitter without ticks tells a calibration in any language; other unknown events are counted.
  private func readUnknown(_ row: Row, type: String, at shown: ShownTime, into out: inout Collector) {
    let isCalibration =
      ["calibration", "kalibrierung", "calibración", "calibrazione", "étalonnage", "kalibratie"].contains(type)
      || (!row[Column.transmitter].isEmpty && row[Column.tick].isEmpty && !row[Column.glucose].isEmpty)
    guard isCalibration else { return out.skip(type) }
    out.add(
      .smbg, glucose.read(row[Column.glucose]), device: device(transmitter: row[Column.transmitter], row, in: &out),
      at: shown, marks: .calibration, row: row)
  }

  private static func insulinSubtype(_ subtype: String) -> String {
    let word = subtype.lowercased()
    return ["long", "lang", "lent", "larg"].contains(where: word.contains) ? "long" : "rapid"
  }

  /// Clarity's notes have no column of their own; the text stands in the first free one.
  private static func noteText(_ row: Row) -> String {
    for column in [Column.subtype, 4, Column.deviceInfo] where !row[column].isEmpty { return row[column].text }
    return ""
  }

  /// `hh:mm:ss` as minutes.
  private static func minutes(_ field: Field) -> Double? {
    let parts = field.text.split(separator: ":").compactMap { Double($0) }
    return parts.count == 3 ? parts[0] * 60 + parts[1] + parts[2] / 60 : nil
  }
}
