// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// The XML that an Accu-Chek Smart Pix writes for a meter. The meter and its unit are stated once, before the
/// entries.
struct SmartPixFormat: ExportFormat {
  static let id = "smart-pix"
  static let title = "Accu-Chek Smart Pix XML"
  static let summary = "finger sticks, control solution, insulin, carbohydrates of one meter"

  private enum Name {
    static let value = 0, date = 1, time = 2, flag = 3, carbs = 4, event = 8, control = 9
    static let insulin = 5...7
  }

  private static let shape = ElementShape(
    path: ["IMPORT", "BGDATA", "BG"],
    attributes: ["Val", "Dt", "Tm", "Flg", "Carb", "Ins1", "Ins2", "Ins3", "Evt", "Ctrl"])

  /// The meter and its unit. The unit is nil if the file states an unknown unit.
  struct Found {
    fileprivate let device: Device
    fileprivate let unit: GlucoseUnit?
    /// Whether the entries are of several meters, which may have different units.
    fileprivate let isOfSeveral: Bool
  }

  private let device: Device
  private let glucose: GlucoseReader
  private let unitIsGiven: Bool

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Found>? {
    guard head.rootElement == "IMPORT", head.attribute("Type", of: "ACSPIX") != nil,
      let name = head.attribute("BGUnit", of: "DEVICE")
    else { return nil }
    let model = options.device ?? head.attribute("Name", of: "DEVICE") ?? ""
    let device = Device(
      vendor: "Roche", model: model.isEmpty ? "Accu-Chek" : model,
      serial: head.attribute("SN", of: "DEVICE") ?? "", format: id)
    return Recognition(
      layout: .elements(shape),
      header: Found(device: device, unit: GlucoseUnit(name: name), isOfSeveral: head.repeats("DEVICE")))
  }

  /// - Throws: `Failure` of category `badInput` for an unknown unit, and for several meters.
  init(_ found: Recognition<Found>, head: InputHead, options: ExportOptions) throws {
    guard !found.header.isOfSeveral else {
      throw Failure(.badInput, "the entries are of several meters; export each meter to its own file")
    }
    guard let unit = found.header.unit ?? options.unit else {
      throw Failure(.badInput, "the unit of the meter is neither mg/dL nor mmol/L; use --unit")
    }
    device = found.header.device
    unitIsGiven = found.header.unit == nil
    glucose = GlucoseReader(unit: unit)
  }

  var decisions: [Decision] {
    [
      Decision("unit", glucose.unit.name, unitIsGiven ? .given : .read),
      .yearFirst,
    ]
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard let time = Field.yearFirstTime(row[Name.date].trimmed, row[Name.time].trimmed) else {
      out.reject(row, "invalid date or time; expected YYYY-MM-DD and hh:mm")
      return .data
    }
    var hasItem = readGlucose(row, at: time, into: &out)
    hasItem = readRecords(row, at: time, into: &out) || hasItem
    for (place, name) in [(Name.flag, "flag"), (Name.event, "event of the meter")]
    where !row[place].trimmed.isEmpty {
      out.skip(name)
      hasItem = true
    }
    if !hasItem { out.skip("row without a value") }
    return .data
  }

  /// Adds the glucose of an entry. If the entry has `---`, there is no value, nothing is added, and the
  /// result is false.
  private func readGlucose(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let cell = glucose.read(row[Name.value].trimmed)
    if case .empty = cell { return false }
    let control = row[Name.control].trimmed
    let isControl = !control.isEmpty && !control.equals("0")
    out.add(
      .smbg, cell, device: out.device(device), at: time, marks: isControl ? .controlSolution : [], row: row)
    return true
  }

  /// Adds the carbohydrates and insulin doses of a row. The doses get no subtype, since the file does not
  /// state which insulins are the first, second and third.
  ///
  /// - Returns: whether an item was added, or the row was rejected.
  private func readRecords(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let wanted =
      [AmountColumn(Name.carbs, "carbs", PlausibleAmounts.grams)]
      + Name.insulin.map { AmountColumn($0, "\($0)", PlausibleAmounts.units) }
    guard let amounts = out.amounts(row, wanted) else { return true }
    let owner = device.serial.isEmpty ? device.model : device.serial
    if let carbs = amounts["carbs"] {
      out.add(.food, at: time, owner: owner, line: row.line, ["carbs": carbs])
    }
    for (number, place) in Name.insulin.enumerated() {
      guard let units = amounts["\(place)"] else { continue }
      out.add(
        .insulin, at: time, owner: owner, line: row.line,
        ["units": units, "text": .text("insulin \(number + 1)")])
    }
    return !amounts.isEmpty
  }
}

extension SmartPixFormat {
  static let page = FormatPage(
    origin: [
      "from the disk of an Accu-Chek Smart Pix that has read a meter: the XML file"
    ],
    variants: [
      "one meter for each file",
      "mg/dL and mmol/L, as the file says for the meter; --unit where it names another one",
    ],
    languages: "every language; the elements have fixed names",
    reads: [
      "finger sticks with the serial number of the meter, LO and HI, tests of control solution "
        + "marked as such",
      "insulin 1, 2 and 3 by their number, carbohydrates",
    ],
    notRead: [
      "flags and events of the meter, which are counted",
      "statistics",
    ])
}
