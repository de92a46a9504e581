// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects that a device started to count again from the beginning. A tick identifies a reading only within
/// one count.
enum CounterReset {
  /// The largest shift of a shown time when a clock is set to another zone. A device that was replaced or
  /// reset has its first ticks again on another day.
  private static let longestShift: Int64 = 26 * 3600

  /// Whether a reading is another one than the stored reading with the same tick.
  @inline(__always)
  static func isAnother(_ reading: Reading, thanShownAt stored: Int64) -> Bool {
    reading.positionKind == .tick && abs(reading.deviceTime.seconds - stored) > longestShift
  }

  /// Rejects a reading that is another one. A device without a serial number can be distinguished by a name
  /// that a person gives, so nothing more is stored under its old name. A device with a serial number cannot.
  ///
  /// - Throws: `Failure` of category `badInput` for a device without a serial number.
  static func refuse(_ reading: Reading, of device: Device, from source: String) throws -> Rejection {
    guard device.serial.isEmpty else {
      return Rejection(
        line: reading.line,
        reason:
          "this record number of its device already belongs to a reading of another day: the device was "
          + "probably reset")
    }
    throw Failure(
      .badInput,
      "\(source):\(reading.line): this record number already belongs to a reading of another day: the device was probably "
        + "replaced or reset. Give it its own name with --device")
  }
}
