// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Contour meters of Ascensia, once Bayer's: records of ASTM E1394 in frames of E1381 in HID reports.
///
/// A single source states that limits may be printed in tenths of mmol/L, and that doses are tenths of a
/// unit. How a Contour Next One ends a session is known from one source, too. No source states the number
/// that accompanies LO and HI.
struct ContourDriver: MeterDriver {
  static let id = "contour"
  static let name = "Ascensia (Bayer) Contour USB, Next, Next USB, Next Link, Next One, Plus"
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
        memory.add(record)
        meter.reportProgress(memory.count, of: header.count)
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

  /// Sets the time or the date. A Contour Next Link that is paired with a pump uses the pump's clock, and
  /// refuses the command.
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

  /// Texts for a person's marks that have no equivalent among marks of readings. One source reads the letter
  /// D as "don't feel right", another as a logbook mark.
  private static let tags: [Substring: String] = ["D": "don't feel right", "I": "illness", "S": "stress"]

  /// The kinds of insulin. Other programs quote these codes from the vendor's description.
  private static let insulins: [Substring: String] = ["1": "rapid", "2": "long", "3": "mix"]

  init(_ identity: MeterIdentity, range: ContourRange?) {
    contents = MeterContents(identity)
    self.range = range
  }

  /// The number of results received.
  var count: Int { Int(number) }

  /// Adds one result record.
  mutating func add(_ record: ASTMRecord) {
    number += 1
    guard let time = record.time(8) else {
      return reject(record, "invalid time; expected YYYYMMDDhhmm")
    }
    switch record.components(2).last {
    case "Glucose": addGlucose(record, at: time)
    case "Carb": addFood(record, at: time)
    case "Insulin": addInsulin(record, at: time)
    default: contents.skipped["result of unknown type", default: 0] += 1
    }
  }
}

extension ContourMemory {
  private mutating func reject(_ record: ASTMRecord, _ reason: String) {
    contents.rejections.append(
      Rejection(line: number, reason: reason, source: String(record.text.prefix(1024))))
  }

  private mutating func addGlucose(_ record: ASTMRecord, at time: DeviceTime) {
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
    addTags(markers, at: time)
  }

  /// The measurement of a result. For LO and HI, the number of the result is one step outside the range, and
  /// is not a measured value.
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

  private mutating func addTags(_ markers: [Substring], at time: DeviceTime) {
    let tags = markers.compactMap { Self.tags[$0] }
    if !tags.isEmpty {
      contents.records.append(MeterRecord(.note, at: time, RecordFields(["tags": .words(tags)])))
    }
    if markers.contains("X") { contents.records.append(MeterRecord(.exercise, at: time, RecordFields())) }
    if markers.contains(where: { $0.count == 2 && $0.hasPrefix("Z") }) {
      contents.skipped["time since a meal", default: 0] += 1
    }
  }

  /// Adds food: carbohydrates in grams, or servings in points or choices. The record does not state how many
  /// grams a serving has.
  private mutating func addFood(_ record: ASTMRecord, at time: DeviceTime) {
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

  /// Adds an insulin dose, which is stated in tenths of a unit. A single source observed this on one meter.
  private mutating func addInsulin(_ record: ASTMRecord, at time: DeviceTime) {
    guard let tenths = record.number(3) else { return reject(record, "the dose is not a number") }
    var fields: [String: FieldValue] = ["units": .number(tenths / 10)]
    if let kind = record.components(4).first.flatMap({ Self.insulins[$0] }) {
      fields["subtype"] = .text(kind)
    }
    contents.records.append(MeterRecord(.insulin, at: time, RecordFields(fields)))
  }
}

extension ContourDriver: AnonymisingDriver {
  static func anonymise(_ transcript: Transcript) throws -> Transcript {
    // The only sent reports that are allowed have a single byte, which controls the session. A longer command
    // could hold personal data, so such a transcript is refused.
    var stream = try ReceivedStream(
      transcript, payload: { ContourReport.payload($0)?.indices }, allows: { $0.count == 5 })
    var anonymity = ContourAnonymity()
    try anonymity.replaceFrames(in: &stream.bytes)
    return stream.transcript()
  }
}

/// Removes personal data from frames and recomputes their checksums. Replaced texts keep their lengths, so
/// that the lengths of frames and reports stay valid.
private struct ContourAnonymity {
  private var numbers = StandInNumbers()

  mutating func replaceFrames(in bytes: inout [UInt8]) throws {
    var index = 0
    while index < bytes.count {
      if bytes[index] != ContourByte.startOfText {
        guard Self.control.contains(bytes[index]) else { throw ReceivedStream.notUnderstood }
        index += 1
        continue
      }
      guard let end = bytes[index...].firstIndex(of: 0x0A), let frame = ContourFrame(bytes[index...end])
      else {
        throw ReceivedStream.notUnderstood
      }
      let text = try replaced(frame.text)
      guard text.count == frame.text.count else { throw ReceivedStream.notUnderstood }
      bytes.replaceSubrange(index + 2..<index + 2 + text.count, with: text)
      let sum = ContourFrame.checksum(bytes[index + 1...end - 4])
      let digits = Array("0123456789ABCDEF".utf8)
      bytes.replaceSubrange(end - 3..<end - 1, with: [digits[Int(sum >> 4)], digits[Int(sum & 15)]])
      index = end + 1
    }
  }

  /// The bytes that occur outside of frames.
  private static let control: Set<UInt8> = [
    ContourByte.enquiry, ContourByte.endOfTransmission, ContourByte.acknowledge, ContourByte.refuse,
  ]

  private mutating func replaced(_ text: [UInt8]) throws -> [UInt8] {
    var fields = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map(Array.init)
    switch fields[0] {
    case Array("H".utf8) where fields.count > 4: fields[4] = Self.withoutSerial(fields[4])
    case Array("R".utf8) where fields.count > 3: fields[3] = numbers.next(like: fields[3])
    // If a meter stored the patient's name, the name would be after the second field. So a longer record is
    // refused.
    case Array("P".utf8) where fields.count <= 2: break
    case Array("L".utf8): break
    default: throw ReceivedStream.notUnderstood
    }
    return Array(fields.joined(separator: [UInt8(ascii: "|")]))
  }

  /// The field that identifies the meter, with zeros for the characters of serial numbers. In the third
  /// component, the serial number follows the dash. In later components, the id of the radio follows it.
  private static func withoutSerial(_ field: [UInt8]) -> [UInt8] {
    var parts = field.split(separator: UInt8(ascii: "^"), omittingEmptySubsequences: false).map(Array.init)
    for place in parts.indices.dropFirst(2) {
      let start = parts[place].firstIndex(of: UInt8(ascii: "-")).map { $0 + 1 } ?? 0
      for index in start..<parts[place].count where parts[place][index] != UInt8(ascii: " ") {
        parts[place][index] = UInt8(ascii: "0")
      }
    }
    return Array(parts.joined(separator: [UInt8(ascii: "^")]))
  }
}
