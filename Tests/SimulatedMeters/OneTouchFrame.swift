// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The frame of three generations of OneTouch meters: STX, length, link control, payload, ETX, CRC.
package struct OneTouchFrame: Hashable, Sendable {
  package static let start: UInt8 = 0x02
  package var link: UInt8 = 0
  package var payload: [UInt8]

  package init(_ payload: [UInt8], link: UInt8 = 0) {
    self.payload = payload
    self.link = link
  }

  /// The frame at the start of these bytes; nil if there is none or its CRC is wrong.
  package init?(parsing bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count >= 6, bytes[0] == Self.start, bytes[1] >= 6, bytes.count >= bytes[1] else { return nil }
    let length = Int(bytes[1])
    guard bytes[length - 3] == 0x03,
      littleEndianNumber(bytes[length - 2..<length]) == Int(crcCCITT(bytes[..<(length - 2)], from: 0xFFFF))
    else { return nil }
    link = bytes[2]
    payload = Array(bytes[3..<length - 3])
  }

  package var bytes: [UInt8] {
    let body = [Self.start, UInt8(truncatingIfNeeded: payload.count + 6), link] + payload + [0x03]
    return body + littleEndian(crcCCITT(body, from: 0xFFFF))
  }
}

/// The status byte at the start of an answer.
package enum OneTouchStatus {
  package static let done: UInt8 = 0x06
  package static let notAllowed: UInt8 = 0x07
  package static let notUnderstood: UInt8 = 0x09
  package static let wrongRecord: UInt8 = 0x0F
}

/// The frames in a stream of bytes from a serial line. Bytes before a frame are dropped, and so is a frame
/// with a wrong CRC, for which no answer is known.
struct OneTouchFrameStream {
  private var bytes: [UInt8] = []

  mutating func add(_ more: [UInt8]) { bytes += more }

  mutating func next() -> OneTouchFrame? {
    while let start = bytes.firstIndex(of: OneTouchFrame.start) {
      bytes.removeFirst(start)
      guard bytes.count >= 2 else { return nil }
      let length = Int(bytes[1])
      guard length >= 6 else {
        bytes.removeFirst()
        continue
      }
      guard bytes.count >= length else { return nil }
      let frame = OneTouchFrame(parsing: bytes)
      bytes.removeFirst(frame == nil ? 1 : length)
      if let frame { return frame }
    }
    bytes = []
    return nil
  }
}

extension SimulatedItem {
  /// Seconds since the epoch of Verio meters, 2000-01-01.
  var secondsSince2000: UInt32 { UInt32(truncatingIfNeeded: deviceTime.seconds - 946_684_800) }

  /// The value in whole mg/dL; nil for LO and HI.
  var milligrams: Int? { measurement.quantity.map { Int($0.number.rounded()) } }

  /// The meal in a record: 0 without a mark, 1 before and 2 after a meal.
  var oneTouchMeal: UInt8 { marks.contains(.beforeMeal) ? 1 : marks.contains(.afterMeal) ? 2 : 0 }

  /// The value as a Verio meter stores it. Below 20 means LO and above 600 means HI; no source states which
  /// of these numbers a meter stores.
  var verioGlucose: UInt16 {
    switch measurement {
    case .low: 19
    case .high: 601
    case .value: UInt16(truncatingIfNeeded: milligrams ?? 0)
    }
  }

  /// Whether the item is a strip's value in whole mg/dL from 20 to 600, LO or HI, with no marks other than
  /// the allowed ones.
  func isStrip(marks allowed: ReadingMarks) -> Bool {
    guard kind == .smbg, allowed.isSuperset(of: marks), measurement.unit == .milligramsPerDecilitre else {
      return false
    }
    guard let number = measurement.quantity?.number else { return true }
    return number == number.rounded() && (20...600).contains(number)
  }
}
