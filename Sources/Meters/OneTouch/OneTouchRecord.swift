// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One test in a binary OneTouch meter. The value is in mg/dL whatever unit the display shows.
struct OneTouchRecord: Hashable {
  /// The seconds from 1970-01-01 to 2000-01-01, the epoch of all models except the UltraEasy.
  static let epoch: Int64 = 946_684_800
  /// The range of every OneTouch meter in mg/dL. The only source is the limits in Tidepool's drivers.
  static let range = 20...600

  var deviceTime: DeviceTime
  /// The value; LO or HI outside the range.
  var measurement: Measurement
  /// The marks of control solution and meals.
  var marks: ReadingMarks

  /// - Parameter value: the value in mg/dL.
  init(seconds: Int64, value: Int, isControl: Bool, meal: UInt8) {
    deviceTime = DeviceTime(seconds: seconds)
    measurement = Self.measurement(value)
    marks = isControl ? .controlSolution : []
    if meal == 1 { marks.insert(.beforeMeal) }
    if meal == 2 { marks.insert(.afterMeal) }
  }

  /// Parses the 16 bytes of a meter that is a disk; nil for another number of bytes.
  ///
  /// A single source states that bit 0 of byte 2 means control solution. The value has 16 bits, and a byte
  /// with the meal follows it. The meaning of bytes 12 to 15 is unknown, and one recorded meter sends other
  /// values than zeros there.
  init?(disk data: [UInt8]) {
    guard data.count == 16, let time = data.littleEndian(UInt32.self, at: 5),
      let value = data.littleEndian(UInt16.self, at: 9)
    else { return nil }
    self.init(
      seconds: Int64(time) + Self.epoch, value: Int(value), isControl: data[2] & 1 != 0, meal: data[11])
  }

  /// Parses the 10 bytes of a Verio IQ; nil for another number of bytes.
  init?(verioIQ data: [UInt8]) {
    guard data.count == 10, let time = data.littleEndian(UInt32.self, at: 0),
      let value = data.littleEndian(UInt16.self, at: 4)
    else { return nil }
    self.init(
      seconds: Int64(time) + Self.epoch, value: Int(value), isControl: data[6] & 1 != 0, meal: data[7])
  }

  /// Parses the 8 bytes of an UltraEasy; nil for another number of bytes or an invalid value.
  ///
  /// A single source states that FFFE and FFFF are LO and HI.
  init?(ultraEasy data: [UInt8]) {
    guard data.count == 8, let time = data.littleEndian(UInt32.self, at: 0),
      let value = data.littleEndian(UInt32.self, at: 4)
    else { return nil }
    switch value & 0xFFFF {
    case 0xFFFE: self.init(seconds: Int64(time), value: 0, isControl: false, meal: 0)
    case 0xFFFF: self.init(seconds: Int64(time), value: .max, isControl: false, meal: 0)
    default:
      guard let value = Int(exactly: value), Self.range.contains(value) else { return nil }
      self.init(seconds: Int64(time), value: value, isControl: false, meal: 0)
    }
  }

  /// The record as a reading. Its shown time identifies it, since no export of the manufacturer has the
  /// meter's numbers.
  var reading: MeterReading { MeterReading(.smbg, at: deviceTime, measurement, marks: marks) }

  /// The measurement of a value in mg/dL: LO or HI outside the range.
  static func measurement(_ value: Int) -> Measurement {
    if value < range.lowerBound { return .low(below: Double(range.lowerBound), .milligramsPerDecilitre) }
    if value > range.upperBound { return .high(above: Double(range.upperBound), .milligramsPerDecilitre) }
    return .value(Quantity(Double(value), .milligramsPerDecilitre))
  }
}

extension MeterContents {
  /// The contents of a meter that sends its records newest first.
  ///
  /// - Parameter records: nil for a record that could not be parsed.
  init(_ identity: MeterIdentity, newestFirst records: [OneTouchRecord?]) {
    self.init(identity)
    readings = records.reversed().compactMap { $0?.reading }
    readings.markClockSetBack()
    for (index, record) in records.enumerated() where record == nil {
      rejections.append(
        Rejection(line: Int64(index) + 1, reason: "the record has an unknown form"))
    }
    if identity.clock == nil { warnings.append("the meter's clock is not set") }
  }
}

/// The clock of a binary OneTouch meter: civil seconds since an epoch of the model, in 32 bits.
enum OneTouchClock {
  /// The largest advance of a clock between setting and reading it.
  private static let slackSeconds: UInt32 = 10

  /// The time on the clock; nil for zero, which is taken for a clock that was never set.
  static func shown(_ answer: [UInt8], since epoch: Int64) throws -> DeviceTime? {
    guard let seconds = answer.littleEndian(UInt32.self, at: 0) else {
      throw Failure(.protocolViolation, "reading the clock: the meter's answer is too short")
    }
    return seconds == 0 ? nil : DeviceTime(seconds: Int64(seconds) + epoch)
  }

  /// The time as the clock counts it, in seconds since the epoch.
  static func seconds(_ time: DeviceTime, since epoch: Int64, doing: String) throws -> UInt32 {
    let (seconds, overflow) = time.seconds.subtractingReportingOverflow(epoch)
    guard !overflow, let seconds = UInt32(exactly: seconds), seconds > 0 else {
      throw Failure(.usage, "\(doing): the meter cannot show this time")
    }
    return seconds
  }

  /// Checks that the clock shows the time to which it was set.
  static func check(_ answer: [UInt8], was seconds: UInt32, doing: String) throws {
    guard let shown = answer.littleEndian(UInt32.self, at: 0), shown >= seconds,
      shown - seconds <= slackSeconds
    else {
      throw Failure(.protocolViolation, "\(doing): the meter shows another time than the one that was set")
    }
  }
}
