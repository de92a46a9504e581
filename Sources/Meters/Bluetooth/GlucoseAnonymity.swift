// SPDX-License-Identifier: Apache-2.0

import Logbook

extension BluetoothGlucoseDriver {
  /// Replaces serial number, name and amounts. A notification holds one record, so no checksum needs recomputing.
  static func anonymise(_ transcript: Transcript) throws -> Transcript {
    var transcript = transcript
    var numbers = StandInNumbers()
    // A meter that is read twice repeats its notifications, and the driver recognises them.
    var replaced: [[UInt8]: [UInt8]] = [:]
    for index in transcript.steps.indices {
      guard case .success(let bytes) = transcript.steps[index].result else { continue }
      switch transcript.steps[index].exchange {
      case .readValue(.serial): transcript.steps[index].result = .success(StandInNumbers.blank(bytes))
      case .readValue(.name): transcript.steps[index].result = .success(blankName(bytes))
      case .readValue, .subscribe, .recordAccess: break
      case .notification:
        let stand = try replaced[bytes] ?? self.replaced(bytes, &numbers)
        replaced[bytes] = stand
        transcript.steps[index].result = .success(stand)
      default: throw ReceivedStream.notUnderstood
      }
    }
    return transcript
  }

  private static func blankName(_ bytes: [UInt8]) -> [UInt8] {
    let known = GlucoseMaker.commonPart(ofName: String(decoding: bytes, as: UTF8.self)).utf8.count
    return bytes.prefix(known) + StandInNumbers.blank(bytes.dropFirst(known))
  }

  private static func replaced(_ bytes: [UInt8], _ numbers: inout StandInNumbers) throws -> [UInt8] {
    let value = Array(bytes.dropFirst(2))
    let offsets: [Int]
    do throws(MalformedNotification) {
      switch bytes.littleEndian(UInt16.self, at: 0).flatMap(GlucoseCharacteristic.init(rawValue:)) {
      case .measurement: offsets = try GlucoseMeasurement(value).concentrationOffset.map { [$0] } ?? []
      case .context: offsets = try GlucoseContext(value).amountOffsets
      case .recordAccess where ControlPointAnswer(value) != nil: offsets = []
      default: throw MalformedNotification("unknown")
      }
    } catch {
      throw ReceivedStream.notUnderstood
    }
    var bytes = bytes
    for offset in offsets {
      guard let bits = value.littleEndian(UInt16.self, at: offset),
        case .number(let mantissa, _) = ShortFloat(bits), mantissa > 0
      else { continue }
      let digits = numbers.next(like: Array(String(mantissa).utf8))
      let other = UInt16(String(decoding: digits, as: UTF8.self)) ?? 0
      bytes.replaceSubrange(offset + 2..<offset + 4, with: (bits & 0xF000 | other).littleEndianBytes)
    }
    return bytes
  }
}
