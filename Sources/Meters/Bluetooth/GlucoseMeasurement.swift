// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Why a notification could not be parsed.
struct MalformedNotification: Error, Hashable {
  /// The reason in words, as part of an error message.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Reads the numbers in a notification from left to right.
private struct NotificationReader {
  private let bytes: [UInt8]
  private(set) var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next<Number: FixedWidthInteger>(_: Number.Type) throws(MalformedNotification) -> Number {
    guard let number = bytes.littleEndian(Number.self, at: offset) else {
      throw MalformedNotification("the record is shorter than its flags state")
    }
    offset += Number.bitWidth / 8
    return number
  }
}

/// A Glucose Measurement, characteristic 2A18 of the Glucose Service 1.0.1.
struct GlucoseMeasurement: Hashable {
  /// The state of the sensor at the measurement. A bit only has a meaning if the meter supports it.
  struct Status: OptionSet, Hashable {
    let rawValue: UInt16
    static let tooHigh = Status(rawValue: 1 << 5)
    static let tooLow = Status(rawValue: 1 << 6)
    static let tooHot = Status(rawValue: 1 << 7)
    static let tooCold = Status(rawValue: 1 << 8)
  }

  /// The number of the record.
  let sequence: UInt16
  /// The time of the meter's internal clock, as sent: year, month, day, hour, minute, second.
  let baseParts: [Int]
  /// Minutes from the base time to the shown time; nil if the meter left it out.
  let offsetMinutes: Int?
  /// The result; nil if the record has none.
  let concentration: ShortFloat?
  /// The index of the first of the two bytes of the result in the notification; nil if there is no result.
  let concentrationOffset: Int?
  /// Whether the result is in mol/L, not kg/L.
  let isMolar: Bool
  /// The kind of sample: 10 is control solution.
  let type: UInt8
  /// The code of the place where the sample was taken: 4 is control solution.
  let location: UInt8
  /// The state of the sensor.
  let status: Status
  /// Whether the meter announced a context.
  let hasContext: Bool

  /// The index of the first of the two bytes with the time offset, in a notification that has them.
  static let timeOffset = 10

  /// Parses a notification. Bytes after the fields that the flags announce are ignored.
  init(_ bytes: [UInt8]) throws(MalformedNotification) {
    var reader = NotificationReader(bytes)
    let flags = try reader.next(UInt8.self)
    sequence = try reader.next(UInt16.self)
    var parts = [Int(try reader.next(UInt16.self))]
    for _ in 0..<5 { parts.append(Int(try reader.next(UInt8.self))) }
    baseParts = parts
    offsetMinutes = flags & 0x01 != 0 ? Int(try reader.next(Int16.self)) : nil
    isMolar = flags & 0x04 != 0
    hasContext = flags & 0x10 != 0
    if flags & 0x02 != 0 {
      concentrationOffset = reader.offset
      concentration = ShortFloat(try reader.next(UInt16.self))
      let sample = try reader.next(UInt8.self)
      (type, location) = (sample & 0x0F, sample >> 4)
    } else {
      (concentrationOffset, concentration) = (nil, nil)
      (type, location) = (0, 0)
    }
    status = Status(rawValue: flags & 0x08 != 0 ? try reader.next(UInt16.self) : 0)
  }

  /// The time of the internal clock; nil if it is not a valid time.
  ///
  /// The firmware of i-SENS meters sends month 13 for January. One other program is known to correct the
  /// month, without changing the year.
  var baseTime: DeviceTime? {
    guard (1582...9999).contains(baseParts[0]) else { return nil }
    return DeviceTime(
      year: baseParts[0], month: baseParts[1] == 13 ? 1 : baseParts[1], day: baseParts[2], hour: baseParts[3],
      minute: baseParts[4], second: baseParts[5])
  }

  /// The content as text. It is the same for the same record in each transfer.
  ///
  /// - Parameter offsetMinutes: the offset of the record, even if the meter left it out.
  func mark(offsetMinutes: Int) -> String {
    let result =
      switch concentration {
      case .number(let mantissa, let exponent)?: "\(mantissa)e\(exponent)"
      case .high?: "HI"
      case .low?: "LO"
      case ShortFloat.none?, nil: "-"
      }
    let facts = [offsetMinutes, isMolar ? 1 : 0, Int(type), Int(location), Int(status.rawValue)]
    return (baseParts + facts).map(String.init).joined(separator: " ") + " " + result
  }

  /// Whether the measurement is of control solution. Meters state it as the type or as the location.
  var isControl: Bool { type == 10 || location == 4 }

  /// Whether the sample is interstitial fluid, which a sensor measures and no test strip does.
  var isOfSensor: Bool { type == 9 }
}

/// A Glucose Measurement Context, characteristic 2A34.
struct GlucoseContext: Hashable {
  /// The number of the measurement to which this context belongs.
  let sequence: UInt16
  /// Carbohydrates in kg.
  let carbohydrates: ShortFloat?
  /// The code of the meal: 1 before, 2 after, 3 fasting, 4 casual, 5 bedtime; 6 is a ketone on some meters.
  let meal: UInt8?
  /// The length of an exercise; nil without one, or if the meter could not count it.
  let exerciseSeconds: Int?
  /// Whether the context states a medication.
  let hasMedication: Bool
  /// Whether the context states HbA1c.
  let hasHbA1c: Bool
  /// The indexes in the notification at which amounts begin. Amounts are personal, so they are replaced in a
  /// transcript.
  let amountOffsets: [Int]

  /// Parses a notification. Bytes after the fields that the flags announce are ignored.
  init(_ bytes: [UInt8]) throws(MalformedNotification) {
    var reader = NotificationReader(bytes)
    var amounts: [Int] = []
    let flags = try reader.next(UInt8.self)
    sequence = try reader.next(UInt16.self)
    if flags & 0x80 != 0 { _ = try reader.next(UInt8.self) }
    if flags & 0x01 != 0 {
      _ = try reader.next(UInt8.self)
      amounts.append(reader.offset)
      carbohydrates = ShortFloat(try reader.next(UInt16.self))
    } else {
      carbohydrates = nil
    }
    meal = flags & 0x02 != 0 ? try reader.next(UInt8.self) : nil
    if flags & 0x04 != 0 { _ = try reader.next(UInt8.self) }
    if flags & 0x08 != 0 {
      let seconds = try reader.next(UInt16.self)
      _ = try reader.next(UInt8.self)
      exerciseSeconds = seconds == .max ? nil : Int(seconds)
    } else {
      exerciseSeconds = nil
    }
    hasMedication = flags & 0x10 != 0
    if hasMedication {
      _ = try reader.next(UInt8.self)
      amounts.append(reader.offset)
      _ = try reader.next(UInt16.self)
    }
    hasHbA1c = flags & 0x40 != 0
    if hasHbA1c {
      amounts.append(reader.offset)
      _ = try reader.next(UInt16.self)
    }
    amountOffsets = amounts
  }
}

/// An indication of the record access control point.
enum ControlPointAnswer: Hashable {
  /// The number of stored records.
  case count(Int)
  /// The end of a request, with its op code and a result.
  case response(request: UInt8, result: UInt8)

  /// The result of a request that was done.
  static let success: UInt8 = 0x01
  /// The result if no record is stored.
  static let noRecords: UInt8 = 0x06
  /// The results by which a meter reports that it does not support a request: its op code, operator or
  /// operand.
  static let notSupported: Set<UInt8> = [0x02, 0x03, 0x04, 0x05, 0x09]

  /// Parses an indication; nil for other bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 4, bytes[1] == 0 else { return nil }
    switch bytes[0] {
    case 0x05: self = .count(Int(bytes[2]) | Int(bytes[3]) << 8)
    case 0x06: self = .response(request: bytes[2], result: bytes[3])
    default: return nil
    }
  }
}

extension DeviceTime {
  /// The time in the characteristic Current Time, 2A2B; nil if it is not a valid time.
  init?(currentTime bytes: [UInt8]) {
    guard bytes.count >= 7, let year = bytes.littleEndian(UInt16.self, at: 0), (1582...9999).contains(year)
    else { return nil }
    self.init(
      year: Int(year), month: Int(bytes[2]), day: Int(bytes[3]), hour: Int(bytes[4]), minute: Int(bytes[5]),
      second: Int(bytes[6]))
  }
}
