// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Contour meters of Ascensia, once Bayer's: records of ASTM E1394 in frames of E1381 in HID reports.
///
/// A single source states that limits may be printed in tenths of mmol/L, and that doses are tenths of a unit. How a
/// Contour Next One ends a session also has one source. No source states the number that accompanies LO and HI.
struct ContourDriver: MeterDriver {
  static let id = "contour"
  static let name = "Ascensia (Bayer) Contour"
  static let canSetClock = true
  static let models: [MeterModel] = [
    model("Contour USB", product: 0x6002), model("Contour Next Link", product: 0x6200),
    model("Contour Next Link 2.4", product: 0x6210),
    model("Contour Next Link", product: 0x6300), model("Contour Next", product: 0x7350),
    model("Contour Next USB", product: 0x7410),
    model("Contour Next One or Plus One", product: 0x7800),
    model("Contour Next", product: 0x7900),
    model("Contour Plus Blue or Care", product: 0x7950),
    MeterModel(
      "Contour with Bayer's serial cable", vendorID: vendor, productID: 0x6001,
      link: .terminal(LineSettings(baud: 9600)),
      obstacle: "no recorded session of such a meter is known; 'glucoport meter record' can make one"),
  ]

  private static let vendor: UInt16 = 0x1A79

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let session = ContourSession(meter)
    defer { session.abandon() }
    return identity(try session.open(), meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let session = ContourSession(meter)
    do {
      let header = try session.open()
      let identity = identity(header, meter)
      try meter.onIdentity(identity)
      var memory = ContourMemory(identity, range: header.range)
      try session.readRecords { record in
        guard record.type == "R" else { return }
        memory.take(record)
        meter.noteProgress(memory.count, of: header.count)
      }
      session.finish()
      return checked(memory, announced: header.count)
    } catch {
      session.abandon()
      throw error
    }
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let parts = time.parts
    guard (2000...2099).contains(parts.year) else {
      throw Failure(.usage, "this meter accepts only the years 2000 to 2099")
    }
    let session = ContourSession(meter)
    defer { session.abandon() }
    _ = try session.open()
    try session.enterCommandMode()
    try set("D|", [parts.year % 100, parts.month, parts.day], session)
    try set("T|", [parts.hour, parts.minute], session)
  }
}

extension ContourDriver {
  private static func model(_ name: String, product: UInt16) -> MeterModel {
    MeterModel(name, vendorID: vendor, productID: product, link: .hid)
  }

  private func identity(_ header: ContourHeader, _ meter: MeterConnection) -> MeterIdentity {
    MeterIdentity(
      device: Device(vendor: "Ascensia", model: header.model, serial: header.serial, format: Self.id),
      firmware: header.firmware, clock: header.clock.map(meter.compareClock), count: header.count)
  }

  private func checked(_ memory: ContourMemory, announced: Int?) -> MeterContents {
    var contents = memory.contents
    if let announced, announced != memory.count {
      contents.warnings.append("the meter announced \(announced) results and sent \(memory.count)")
    }
    return contents
  }

  /// A Contour Next Link that is paired with a pump uses the pump's clock, and refuses to set its own.
  private func set(_ subject: String, _ numbers: [Int], _ session: ContourSession) throws {
    let digits = numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
    for text in ["W|", subject, digits + "|\r"] {
      guard try session.command(text, "setting the clock") else {
        throw Failure(
          .usage,
          "setting the clock: the meter does not let it be set; a paired pump sets it, if there is one")
      }
    }
  }
}

/// Turns a meter's result records into readings and diary records, in the order received: the oldest first.
private struct ContourMemory {
  private(set) var contents: MeterContents
  private let range: ContourRange?
  private var clock = ClockSetBack()
  private var number: Int64 = 0

  /// Texts for a person's marks that have no equivalent among marks of readings. One source reads the letter D as "don't
  /// feel right", another as a logbook mark.
  private static let tags: [Substring: String] = ["D": "don't feel right", "I": "illness", "S": "stress"]

  /// The kinds of insulin. Other programs quote these from the vendor's text.
  private static let insulins: [Substring: String] = ["1": "rapid", "2": "long", "3": "mix"]

  init(_ identity: MeterIdentity, range: ContourRange?) {
    contents = MeterContents(identity)
    self.range = range
  }

  /// The number of results received.
  var count: Int { Int(number) }

  /// Adds one result record.
  mutating func take(_ record: ASTMRecord) {
    number += 1
    guard let time = record.time(8) else {
      return reject(record, "invalid time; expected YYYYMMDDhhmm")
    }
    switch record.components(2).last {
    case "Glucose": takeGlucose(record, at: time)
    case "Carb": takeFood(record, at: time)
    case "Insulin": takeInsulin(record, at: time)
    default: contents.skipped["result of unknown type", default: 0] += 1
    }
  }
}

extension ContourMemory {
  private mutating func reject(_ record: ASTMRecord, _ reason: String) {
    contents.rejections.append(
      Rejection(line: number, reason: reason, source: String(record.text.prefix(1024))))
  }

  private mutating func takeGlucose(_ record: ASTMRecord, at time: DeviceTime) {
    guard let unit = record.components(4).first.flatMap({ GlucoseUnit(name: $0) }) else {
      return reject(record, "the unit is neither mg/dL nor mmol/L")
    }
    let markers = record[6].split(separator: "/")
    let setBack = clock.mark(time)
    guard let measurement = measurement(record, unit, markers) else {
      return reject(record, "the value is not a number")
    }
    contents.readings.append(
      MeterReading(.smbg, at: time, measurement, marks: marks(markers).union(setBack)))
    takeTags(markers, at: time)
  }

  /// The measurement of a result. The number with LO and HI is one step outside the range, and is not a measurement.
  private func measurement(
    _ record: ASTMRecord, _ unit: GlucoseUnit, _ markers: [Substring]
  ) -> Measurement? {
    if markers.contains("<") { return .low(below: range?.low, range?.unit ?? unit) }
    if markers.contains(">") { return .high(above: range?.high, range?.unit ?? unit) }
    return record.number(3).map { .value(Quantity($0, unit)) }
  }

  private func marks(_ markers: [Substring]) -> ReadingMarks {
    var marks: ReadingMarks = []
    for marker in markers {
      switch marker {
      case "C": marks.insert(.controlSolution)
      case "B": marks.insert(.beforeMeal)
      case "A": marks.insert(.afterMeal)
      case "F": marks.insert(.fasting)
      default: continue
      }
    }
    return marks
  }

  private mutating func takeTags(_ markers: [Substring], at time: DeviceTime) {
    let tags = markers.compactMap { Self.tags[$0] }
    if !tags.isEmpty {
      contents.records.append(MeterRecord(.note, at: time, RecordFields(["tags": .words(tags)])))
    }
    if markers.contains("X") { contents.records.append(MeterRecord(.exercise, at: time, RecordFields())) }
    if markers.contains(where: { $0.count == 2 && $0.hasPrefix("Z") }) {
      contents.skipped["time since a meal", default: 0] += 1
    }
  }

  /// Points and choices are exchanges; a person sets their size in grams elsewhere.
  private mutating func takeFood(_ record: ASTMRecord, at time: DeviceTime) {
    guard let number = record.number(3) else { return reject(record, "the carbohydrates are not a number") }
    let fields: [String: FieldValue] =
      switch record.components(4).first {
      case "1": ["carbs": .number(number)]
      case "2": ["servings": .number(number), "text": .text("points")]
      case "3": ["servings": .number(number), "text": .text("choices")]
      default: ["text": .text("\(plainNumber(number)), in a unit that the meter does not state")]
      }
    contents.records.append(MeterRecord(.food, at: time, RecordFields(fields)))
  }

  /// Doses are tenths of a unit. A single source observed it on one meter.
  private mutating func takeInsulin(_ record: ASTMRecord, at time: DeviceTime) {
    guard let tenths = record.number(3) else { return reject(record, "the dose is not a number") }
    var fields: [String: FieldValue] = ["units": .number(tenths / 10)]
    if let kind = record.components(4).first.flatMap({ Self.insulins[$0] }) {
      fields["subtype"] = .text(kind)
    }
    contents.records.append(MeterRecord(.insulin, at: time, RecordFields(fields)))
  }
}
