// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Whether a device still counts on from the same start: a tick names a reading only within one count.
enum TickSession {
  /// A clock that is set to another zone moves a shown time by no more. A device that was replaced or reset gives its
  /// first ticks again on another day.
  private static let longestShift: Int64 = 26 * 3600

  /// Whether a reading is another one than that which the store holds under its tick.
  @inline(__always)
  static func isAnother(_ reading: Reading, thanShownAt stored: Int64) -> Bool {
    reading.positionKind == .tick && abs(reading.deviceTime.seconds - stored) > longestShift
  }

  /// What becomes of a reading that is another one: without a serial number the device can be distinguished by a name
  /// that a person gives, so nothing more of it is stored under the old one; with a serial number nothing can.
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
