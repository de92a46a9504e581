// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The clock of a binary OneTouch meter: civil seconds since an epoch of the model, in 32 bits.
enum OneTouchClock {
  /// The largest advance of a clock between setting and reading it.
  private static let slackSeconds: UInt32 = 10

  /// The time on the clock. Zero gives nil: we infer that the clock was never set.
  static func shown(_ answer: [UInt8], since epoch: Int64) throws -> DeviceTime? {
    guard let seconds = answer.littleEndian(UInt32.self, at: 0) else {
      throw Failure(.protocolViolation, "reading the clock: the meter's answer is too short")
    }
    return seconds == 0 ? nil : DeviceTime(seconds: Int64(seconds) + epoch)
  }

  /// A time in the clock's seconds.
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
