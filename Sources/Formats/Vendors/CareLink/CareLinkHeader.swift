// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The columns of CareLink's CSV that are read or that determine the kind of a row.
enum CareLinkColumn: Int, CaseIterable {
  case date, time, newTime, meterSource, meter, meterID, basalRate, bolusType, delivered, bolusMinutes,
    bolusSource
  case carbs, calibration, sensor, marker, rawType, rawValues, device
  case calculatorStatus, alarm, suspend, rewind, prime, tempBasal, estimate, dailyTotal, exception

  /// The names of the column in English and German, without units.
  fileprivate var names: [String] {
    switch self {
    case .date: ["date", "datum"]
    case .time: ["time", "zeit"]
    case .newTime: ["new device time", "neue gerätezeit"]
    case .meterSource: ["bg source"]
    case .meter: ["bg reading", "bz-messwert"]
    case .meterID: ["linked bg meter id", "id des verb. bz-messgeräts"]
    case .basalRate: ["basal rate"]
    case .bolusType: ["bolus type", "bolustyp"]
    case .delivered: ["bolus volume delivered", "abgegebene bolusmenge"]
    case .bolusMinutes: ["bolus duration", "programmed bolus duration"]
    case .bolusSource: ["bolus source"]
    case .carbs: ["bwz carb input", "bolusexpert: kh-eingabe"]
    case .calibration: ["sensor calibration bg", "bz-wert für sensorkalibrierung"]
    case .sensor: ["sensor glucose", "sensorglukose"]
    case .marker: ["event marker"]
    case .rawType: ["raw-type", "roh-typ"]
    case .rawValues: ["raw-values", "roh-werte"]
    case .device: ["raw-device type", "roh-gerätetyp"]
    case .calculatorStatus: ["bwz status"]
    case .alarm: ["alarm", "alert"]
    case .suspend: ["suspend"]
    case .rewind: ["rewind"]
    case .prime: ["prime type"]
    case .tempBasal: ["temp basal type"]
    case .estimate: ["bwz estimate"]
    case .dailyTotal: ["daily insulin total", "tages-gesamtinsulin"]
    case .exception: ["sensor exception"]
    }
  }

  private static let byName = Dictionary(
    allCases.flatMap { column in column.names.map { ($0, column) } }, uniquingKeysWith: { first, _ in first })

  /// The column of a folded cell, and the text in parentheses after its name.
  static func read(_ cell: String) -> (column: CareLinkColumn, unit: String)? {
    guard let open = cell.lastIndex(of: "("), cell.last == ")" else { return byName[cell].map { ($0, "") } }
    let name = cell[..<open].last == " " ? cell[..<open].dropLast() : cell[..<open]
    return byName[String(name)].map { ($0, String(cell[open...].dropFirst().dropLast())) }
  }
}

/// A header line of CareLink's CSV. It is repeated at each section, and also within a section.
struct CareLinkHeader {
  let unit: GlucoseUnit
  let carbs: CarbohydrateUnit
  /// Whether the header is of the layout before 2017, in which each row states its kind.
  let hasRawTypes: Bool
  let count: Int
  private var columns: [Int]

  /// The index of the column, or -1 if it is missing.
  @inline(__always) subscript(column: CareLinkColumn) -> Int { columns[column.rawValue] }

  init?(_ cells: [String]) {
    let cells = cells.map(foldedHeader)
    guard cells.count >= 20, cells[0] == "index", ["date", "datum"].contains(cells[1]),
      ["time", "zeit"].contains(cells[2])
    else { return nil }
    columns = [Int](repeating: -1, count: CareLinkColumn.allCases.count)
    var unit: GlucoseUnit?
    var carbs = CarbohydrateUnit.grams
    for (place, cell) in cells.enumerated() {
      guard let (column, text) = CareLinkColumn.read(cell), columns[column.rawValue] < 0 else { continue }
      columns[column.rawValue] = place
      if column == .sensor || column == .meter || column == .calibration {
        unit = unit ?? GlucoseUnit(name: text)
      }
      if column == .carbs { carbs = ["exchanges", "ber.einheiten"].contains(text) ? .servings : .grams }
    }
    guard let unit else { return nil }
    (self.unit, self.carbs, count) = (unit, carbs, cells.count)
    hasRawTypes = columns[CareLinkColumn.rawType.rawValue] >= 0
  }
}

/// The devices stated in lines between the rows.
struct CareLinkDevices {
  /// The model of the section; empty before the first one and in the layout without sections.
  private(set) var model = ""
  private var serial = ""
  /// Whether the section has daily totals of automatic insulin.
  private(set) var isAggregated = false
  /// Serial numbers of the layout before 2017, by model.
  private var serials: [String: String] = [:]

  /// Whether a line begins the section of a device.
  static func isSection(_ row: Row) -> Bool { row[0].starts(with: "-------") }

  /// Reads `-------,Paradigm Revel - 723,Pump,000001,------- `; false for any other line.
  mutating func readSection(_ row: Row) -> Bool {
    guard Self.isSection(row) else { return false }
    let cells = row.fields.map { $0.trimmed.text }
    let parts = cells.dropFirst().filter { !$0.isEmpty && !$0.allSatisfy { $0 == "-" } }
    model = parts.first ?? ""
    isAggregated = parts.contains("Aggregated Auto Insulin Data")
    // The serial number is the third part, after the model and the word for the kind of device.
    serial = parts.count > 2 ? Array(parts)[2] : ""
    return true
  }

  /// Reads the device of the layout before 2017: `Pump:,Paradigm Veo - 554,#000001,…`.
  mutating func readInfo(_ row: Row) {
    guard row.count >= 3, row[0].bytes.last == UInt8(ascii: ":"), row[2].bytes.first == UInt8(ascii: "#"),
      serials.count < 64
    else { return }
    serials[row[1].text] = row[2].slice(1, row[2].count).text
  }

  /// The device of a row. Its model is in the column of the row, or without such a column in the line that
  /// begins the section.
  func device(_ row: Row, _ column: Int) -> Device {
    guard column >= 0 else {
      return Device(
        vendor: "Medtronic", model: model.isEmpty ? "CareLink" : model, serial: serial,
        format: CareLinkFormat.id)
    }
    let name = row[column].trimmed.text
    return Device(
      vendor: "Medtronic", model: name.isEmpty ? "CareLink" : name, serial: serials[name] ?? "",
      format: CareLinkFormat.id)
  }
}
