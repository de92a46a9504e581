// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One record of a Dexcom receiver.
///
/// Every record has two times in seconds since 2009: the time on the system's clock, which cannot be set, and
/// the time on the display.
enum DexcomRecord: Hashable {
  case reading(MeterReading)
  case record(MeterRecord)
  /// A record that is neither a reading nor a diary record, with the name under which it is counted.
  case skipped(String)
  /// A record that could not be parsed.
  case rejected(String)

  /// 2009-01-01 in seconds since 1970: the origin of the receiver's times.
  static let epoch: Int64 = 1_230_768_000
  private static let range = 40.0...400.0
  private static let maxUnits = 500.0
  private static let maxGrams: UInt32 = 2000
  private static let maxMinutes: UInt32 = 24 * 60

  /// The length of a record in this partition, with its checksum; nil for an undocumented revision.
  static func length(_ partition: DexcomPartition, revision: UInt8) -> Int? {
    switch (partition, revision) {
    case (.manufacturing, _): 500
    case (.sensor, 1...3), (.backfill, 1...3): 13
    case (.sensor, 4), (.backfill, 4): 23
    case (.sensor, 5), (.backfill, 5): 25
    case (.calibration, 1...2): 16
    case (.calibration, 3): 21
    case (.event, 1): 20
    default: nil
    }
  }

  /// Parses a record without its checksum. A record without data to import is `skipped`.
  init(_ bytes: [UInt8], _ partition: DexcomPartition, revision: UInt8) {
    guard let times = Times(bytes) else {
      self = .rejected("a record that is too short")
      return
    }
    let found: Self? =
      switch partition {
      case .sensor, .backfill: Self.sensor(bytes, times, revision: revision)
      case .calibration: Self.calibration(bytes, times, revision: revision)
      case .event: Self.event(bytes)
      case .manufacturing: .skipped("text of the maker")
      }
    self = found ?? .rejected("a record that is too short")
  }
}

extension DexcomRecord {
  /// The two times at the start of each record.
  private struct Times {
    let system: Int64
    let display: Int64

    init?(_ bytes: [UInt8]) {
      guard let system = bytes.littleEndian(UInt32.self, at: 0),
        let display = bytes.littleEndian(UInt32.self, at: 4)
      else { return nil }
      self.system = Int64(system)
      self.display = Int64(display)
    }

    /// The time on the display at an instant of the system's clock.
    func shown(_ system: Int64) -> DeviceTime { DeviceTime(seconds: system + display - self.system + epoch) }
  }

  /// Parses a sensor value. The manufacturer's export omits values that are only for the display, so such
  /// values are skipped.
  private static func sensor(_ bytes: [UInt8], _ times: Times, revision: UInt8) -> Self? {
    guard let word = bytes.littleEndian(UInt16.self, at: 8) else { return nil }
    if word & 0x8000 != 0 { return .skipped("sensor value only for the display") }
    let number = Double(word & 0x03FF)
    // Numbers below 20 are codes for a missing value.
    if number < 20 { return .skipped("sensor value that is missing for a reason") }
    var moment = (shown: times.shown(times.system), tick: times.system)
    if revision >= 4 {
      guard let measured = bytes.littleEndian(UInt32.self, at: 10).map(Int64.init) else { return nil }
      let isBackfilled = revision >= 5 && word & 0x2000 != 0
      moment = (isBackfilled ? times.shown(measured) : moment.shown, measured)
    }
    let measurement: Measurement =
      if number < range.lowerBound {
        .low(below: range.lowerBound, .milligramsPerDecilitre)
      } else if number > range.upperBound {
        .high(above: range.upperBound, .milligramsPerDecilitre)
      } else {
        .value(Quantity(number, .milligramsPerDecilitre))
      }
    return .reading(MeterReading(.cbg, at: moment.shown, measurement, tick: moment.tick))
  }

  /// Parses the value of a finger stick that a person typed, with the time at which it was typed.
  private static func calibration(_ bytes: [UInt8], _ times: Times, revision: UInt8) -> Self? {
    guard let value = bytes.littleEndian(UInt16.self, at: 8),
      let typed = bytes.littleEndian(UInt32.self, at: revision >= 3 ? 11 : 10).map(Int64.init)
    else { return nil }
    // In records of revision 3, two other programs read this time from different bytes, so these bytes may be
    // the wrong ones. A time more than a day from the record's time shows that, and is rejected.
    guard value > 0, value <= 1000, abs(typed - times.system) <= 86400 else {
      return .rejected("a calibration without a value or with another time than its record")
    }
    return .reading(
      MeterReading(
        .smbg, at: times.shown(typed), .value(Quantity(Double(value), .milligramsPerDecilitre)),
        marks: .calibration))
  }

  /// Parses an event that a person entered, with the time that the person stated.
  private static func event(_ bytes: [UInt8]) -> Self? {
    guard bytes.count >= 18, let seconds = bytes.littleEndian(UInt32.self, at: 10),
      let value = bytes.littleEndian(UInt32.self, at: 14)
    else { return nil }
    let time = DeviceTime(seconds: Int64(seconds) + epoch)
    let (kind, subtype) = (bytes[8], Int(bytes[9]))
    switch kind {
    case 1 where value <= maxGrams:
      return .record(MeterRecord(.food, at: time, RecordFields(["carbs": .number(Double(value))])))
    case 2 where Double(value) / 100 <= maxUnits:
      return .record(MeterRecord(.insulin, at: time, RecordFields(["units": .number(Double(value) / 100)])))
    case 3:
      guard let text = word(subtype, of: healthWords) else { return .skipped("health event of another kind") }
      return .record(
        MeterRecord(.note, at: time, RecordFields(["subtype": .text("health"), "text": .text(text)])))
    case 4 where value <= maxMinutes:
      var fields = RecordFields(["minutes": .number(Double(value))])
      if let intensity = word(subtype, of: intensities) { fields["intensity"] = .text(intensity) }
      return .record(MeterRecord(.exercise, at: time, fields))
    case 1, 2, 4: return .rejected("the event has an impossible amount")
    default: return .skipped("event of another kind")
    }
  }

  /// The names of health events in the manufacturer's export, by their codes.
  private static let healthWords = ["Illness", "Stress", "High Symptoms", "Low Symptoms", "Cycle", "Alcohol"]
  private static let intensities = ["light", "medium", "heavy"]

  private static func word(_ number: Int, of words: [String]) -> String? {
    words.indices.contains(number - 1) ? words[number - 1] : nil
  }
}

/// A packet to or from a Dexcom receiver: 01, the total length, a command or result, a payload and a
/// checksum.
struct DexcomPacket: Hashable {
  /// The result of parsing the first bytes.
  enum ParsedPacket: Hashable {
    case packet(DexcomPacket)
    /// The packet is not complete yet.
    case incomplete
    /// Not a packet: the length is impossible, or the checksum is wrong.
    case broken
  }

  private static let start: UInt8 = 0x01
  private static let overhead = 6
  /// The maximum size of an answer in bytes. The longest recorded answer, with four pages, has 2118 bytes.
  private static let maxBytes = 2200

  /// The command; in an answer, the result.
  var code: UInt8
  var payload: [UInt8] = []

  var bytes: [UInt8] {
    let length = UInt16(truncatingIfNeeded: payload.count + Self.overhead)
    let body = [Self.start] + length.littleEndianBytes + [code] + payload
    return body + CRC16.ccitt(body, initial: 0).littleEndianBytes
  }

  /// The first packet in these bytes, after any noise.
  static func find(in bytes: [UInt8]) -> ParsedPacket {
    let bytes = Array(bytes.drop { $0 != start })
    guard let length = bytes.littleEndian(UInt16.self, at: 1).map(Int.init) else { return .incomplete }
    guard (overhead...maxBytes).contains(length) else { return .broken }
    guard bytes.count >= length else { return .incomplete }
    let body = bytes[..<(length - 2)]
    guard bytes.littleEndian(UInt16.self, at: length - 2) == CRC16.ccitt(body, initial: 0) else {
      return .broken
    }
    return .packet(DexcomPacket(code: body[3], payload: Array(body[4...])))
  }
}

/// The partitions of a receiver's memory that are read.
enum DexcomPartition: UInt8 {
  case manufacturing = 0
  case sensor = 4
  case calibration = 10
  case event = 11
  /// Values that a receiver with a touch screen fetched later.
  case backfill = 18
}

/// One page of a receiver's memory: a header, and records that each end with a checksum.
struct DexcomPage: Hashable {
  /// The size of a page in bytes: a header of 28, and data of 500.
  static let size = 528
  private static let headerSize = 28

  /// The number of the partition to which the page belongs.
  let partition: UInt8
  /// The number of the layout that the page's records have.
  let revision: UInt8
  /// The number of the page in its partition.
  let number: UInt32
  /// The number of records that the header states.
  let count: Int
  private let data: [UInt8]

  /// Parses a page; nil if the size or the header's checksum is wrong, or if the header states more records
  /// than fit.
  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.size, let checksum = bytes.littleEndian(UInt16.self, at: 26),
      checksum == CRC16.ccitt(bytes[..<26], initial: 0),
      let count = bytes.littleEndian(UInt32.self, at: 4), count <= bytes.count - Self.headerSize,
      let number = bytes.littleEndian(UInt32.self, at: 10)
    else { return nil }
    partition = bytes[8]
    revision = bytes[9]
    self.number = number
    self.count = Int(count)
    data = Array(bytes[Self.headerSize...])
  }

  /// The records of this length in bytes, oldest first, without their checksums; nil for a record with a
  /// wrong checksum.
  func records(length: Int) -> [[UInt8]?] {
    guard length > 2 else { return [] }
    return (0..<count).map { index in
      let record = data.dropFirst(index * length).prefix(length)
      guard record.count == length,
        record.littleEndian(UInt16.self, at: length - 2) == CRC16.ccitt(record.dropLast(2), initial: 0)
      else { return nil }
      return Array(record.dropLast(2))
    }
  }
}
