// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a record of a TaiDoc meter is, as its two packets report.
enum TaiDocRecord: Hashable {
  case reading(MeterReading)
  /// Something that is no glucose and no ketone, by name.
  case skipped(String)
  /// Something that cannot be understood, with the reason.
  case rejected(String)

  /// The record in the data of the packets of its time and its value.
  init(time: [UInt8], value: [UInt8]) {
    guard time.count == 4, value.count == 4 else {
      self = .rejected("the record has no time or no value")
      return
    }
    // Meters with a cuff mark the records of blood pressure in the byte of the minute.
    if time[2] & 0x80 != 0 {
      self = .skipped("blood pressure")
    } else if let name = Self.otherKinds[value[3] >> 2 & 0x0F] {
      self = .skipped(name)
    } else if let shown = Self.time(time) {
      self = Self.reading(at: shown, value)
    } else {
      self = .rejected("invalid time")
    }
  }

  /// The time in the data of a packet: year, month and day in one word, minute, hour. There are no seconds.
  static func time(_ data: [UInt8]) -> DeviceTime? {
    guard data.count == 4 else { return nil }
    let date = Int(data[0]) | Int(data[1]) << 8
    return DeviceTime(
      year: 2000 + date >> 9, month: date >> 5 & 0x0F, day: date & 0x1F, hour: Int(data[3] & 0x1F),
      minute: Int(data[2] & 0x3F))
  }

  /// A time as the data of a packet; nil for a year that the word cannot hold.
  static func data(_ time: DeviceTime) -> [UInt8]? {
    let parts = time.parts
    guard (2000...2127).contains(parts.year) else { return nil }
    let date = (parts.year - 2000) << 9 | parts.month << 5 | parts.day
    return [UInt8(date & 0xFF), UInt8(date >> 8), UInt8(parts.minute), UInt8(parts.hour)]
  }
}

extension TaiDocRecord {
  /// Kinds that meters of this family measure besides glucose (0) and ketone (7); a single source names them.
  private static let otherKinds: [UInt8: String] = [
    6: "haematocrit", 8: "uric acid", 9: "cholesterol", 0xB: "haemoglobin", 0xC: "lactate",
    0xD: "triglycerides",
  ]

  /// The bytes that mean no value.
  private static let invalid = 0xFFFF

  private static func reading(at time: DeviceTime, _ value: [UInt8]) -> TaiDocRecord {
    let number = Int(value[0]) | Int(value[1]) << 8
    guard number != invalid else { return .skipped("entry that the meter marks as invalid") }
    guard number > 0 else { return .rejected("the value is zero") }
    let marks: ReadingMarks = [[], .beforeMeal, .afterMeal, .controlSolution][Int(value[3] >> 6)]
    switch value[3] >> 2 & 0x0F {
    case 0: return .reading(MeterReading(.smbg, at: time, glucose(number), marks: marks))
    case 7: return .reading(MeterReading(.ketone, at: time, ketone(number), marks: marks))
    default: return .rejected("unknown kind of measurement")
    }
  }

  /// mg/dL whatever the meter shows; its manual says LO below 20 and HI above 600.
  private static func glucose(_ number: Int) -> Measurement {
    switch number {
    case ..<20: .low(below: 20, .milligramsPerDecilitre)
    case ...600: .value(Quantity(Double(number), .milligramsPerDecilitre))
    default: .high(above: 600, .milligramsPerDecilitre)
    }
  }

  /// 300 are 1 mmol/L, by a single source; the meter shows tenths.
  private static func ketone(_ number: Int) -> Measurement {
    number > 2400
      ? .high(above: 8, .millimolesPerLitre)
      : .value(Quantity((Double(number) / 30).rounded() / 10, .millimolesPerLitre))
  }
}
