// SPDX-License-Identifier: Apache-2.0

import Logbook

/// An absolute time of IEEE 11073: century, year, month, day, hour, minute, second and hundredths, each as two
/// decimal digits in one byte.
enum MedicalTime {
  /// The number of bytes of a time.
  static let length = 8

  /// The time in these bytes; nil if a byte is not two decimal digits, or if the date does not exist.
  ///
  /// The hundredths are ignored: some meters send FF there.
  static func parse(_ bytes: some Collection<UInt8>) -> DeviceTime? {
    let parts = bytes.prefix(7).compactMap(decimal)
    guard bytes.count == length, parts.count == 7 else { return nil }
    return DeviceTime(
      year: parts[0] * 100 + parts[1], month: parts[2], day: parts[3], hour: parts[4], minute: parts[5],
      second: parts[6])
  }

  static func bytes(_ time: DeviceTime) -> [UInt8] {
    let parts = time.parts
    return [
      parts.year / 100, parts.year % 100, parts.month, parts.day, parts.hour, parts.minute, parts.second, 0,
    ].map { UInt8(truncatingIfNeeded: (($0 / 10 % 10) << 4) | ($0 % 10)) }
  }

  private static func decimal(_ byte: UInt8) -> Int? {
    let (high, low) = (byte >> 4, byte & 0x0F)
    return high <= 9 && low <= 9 ? Int(high * 10 + low) : nil
  }
}
