// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A record of a TaiDoc meter, which is sent in two packets.
enum TaiDocRecord: Hashable {
  case reading(MeterReading)
  /// Neither glucose nor ketone; with its name.
  case skipped(String)
  /// A record that could not be parsed, with the reason.
  case rejected(String)

  /// Parses the data of the packets with the time and the value.
  init(time: [UInt8], value: [UInt8]) {
    guard time.count == 4, value.count == 4 else {
      self = .rejected("the record has no time or no value")
      return
    }
    // Meters with a cuff mark records of blood pressure in the byte of the minute.
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

  /// The time in a packet: year, month and day in one word, minute, hour. There are no seconds.
  static func time(_ data: [UInt8]) -> DeviceTime? {
    guard data.count == 4 else { return nil }
    let date = Int(data[0]) | Int(data[1]) << 8
    return DeviceTime(
      year: 2000 + date >> 9, month: date >> 5 & 0x0F, day: date & 0x1F, hour: Int(data[3] & 0x1F),
      minute: Int(data[2] & 0x3F))
  }

  /// The data of a packet with this time; nil for a year that does not fit.
  static func data(_ time: DeviceTime) -> [UInt8]? {
    let parts = time.parts
    guard (2000...2127).contains(parts.year) else { return nil }
    let date = (parts.year - 2000) << 9 | parts.month << 5 | parts.day
    return [UInt8(date & 0xFF), UInt8(date >> 8), UInt8(parts.minute), UInt8(parts.hour)]
  }
}

extension TaiDocRecord {
  /// Other kinds of measurement than glucose (0) and ketone (7); a single source names them.
  private static let otherKinds: [UInt8: String] = [
    6: "haematocrit", 8: "uric acid", 9: "cholesterol", 0xB: "haemoglobin", 0xC: "lactate",
    0xD: "triglycerides",
  ]

  /// The number that means no value.
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

  /// Glucose is in mg/dL whatever unit the meter shows; its manual states LO below 20 and HI above 600.
  private static func glucose(_ number: Int) -> Measurement {
    switch number {
    case ..<20: .low(below: 20, .milligramsPerDecilitre)
    case ...600: .value(Quantity(Double(number), .milligramsPerDecilitre))
    default: .high(above: 600, .milligramsPerDecilitre)
    }
  }

  /// Ketone is in units of 1/300 mmol/L, by a single source; the meter shows tenths of mmol/L.
  private static func ketone(_ number: Int) -> Measurement {
    number > 2400
      ? .high(above: 8, .millimolesPerLitre)
      : .value(Quantity((Double(number) / 30).rounded() / 10, .millimolesPerLitre))
  }
}
