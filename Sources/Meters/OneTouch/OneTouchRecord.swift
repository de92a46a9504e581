// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One test as a binary OneTouch meter holds it. The value is in mg/dL whatever the display shows.
struct OneTouchRecord: Hashable {
  /// Seconds from 1970-01-01 to 2000-01-01, from where all but the UltraEasy count.
  static let epoch: Int64 = 946_684_800
  /// The range of every OneTouch meter in mg/dL, which rests on one source: what Tidepool's drivers clamp to.
  static let range = 20...600

  /// The shown time.
  var deviceTime: DeviceTime
  /// LO and HI beyond the range.
  var measurement: Measurement
  /// Control solution and meal.
  var marks: ReadingMarks

  /// A value in mg/dL with the codes for control solution and meal.
  init(seconds: Int64, value: Int, isControl: Bool, meal: UInt8) {
    deviceTime = DeviceTime(seconds: seconds)
    measurement = Self.measurement(value)
    marks = isControl ? .controlSolution : []
    if meal == 1 { marks.insert(.beforeMeal) }
    if meal == 2 { marks.insert(.afterMeal) }
  }

  /// The 16 bytes of the meters that are disks; nil for another number of bytes.
  ///
  /// That bit 0 of byte 2 means control solution rests on one source. The value has 16 bits: a byte with the meal
  /// follows it. Bytes 12 to 15 have no known meaning, and one recorded meter does not send zeros there.
  init?(disk data: [UInt8]) {
    guard data.count == 16, let time = data.littleEndian(UInt32.self, at: 5),
      let value = data.littleEndian(UInt16.self, at: 9)
    else { return nil }
    self.init(
      seconds: Int64(time) + Self.epoch, value: Int(value), isControl: data[2] & 1 != 0, meal: data[11])
  }

  /// The 10 bytes of a Verio IQ; nil for another number of bytes.
  init?(verioIQ data: [UInt8]) {
    guard data.count == 10, let time = data.littleEndian(UInt32.self, at: 0),
      let value = data.littleEndian(UInt16.self, at: 4)
    else { return nil }
    self.init(
      seconds: Int64(time) + Self.epoch, value: Int(value), isControl: data[6] & 1 != 0, meal: data[7])
  }

  /// The 8 bytes of an UltraEasy; nil for another number of bytes or a value that means nothing.
  ///
  /// That FFFE and FFFF are LO and HI rests on one source.
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

  /// The record as a reading; the shown time is its place, for no maker's export gives the meter's own numbers.
  var reading: MeterReading { MeterReading(.smbg, at: deviceTime, measurement, marks: marks) }

  /// A value in mg/dL, or LO and HI beyond the range.
  static func measurement(_ value: Int) -> Measurement {
    if value < range.lowerBound { return .low(below: Double(range.lowerBound), .milligramsPerDecilitre) }
    if value > range.upperBound { return .high(above: Double(range.upperBound), .milligramsPerDecilitre) }
    return .value(Quantity(Double(value), .milligramsPerDecilitre))
  }
}

extension MeterContents {
  /// The contents of a meter whose records were read newest first.
  ///
  /// - Parameter records: nil where a record cannot be understood.
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
