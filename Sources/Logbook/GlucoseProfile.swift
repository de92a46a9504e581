// SPDX-License-Identifier: Apache-2.0

/// A characteristic of a Bluetooth meter that a driver can read or subscribe to.
///
/// The raw value is the number that the Bluetooth SIG assigned to the characteristic. Drivers can use no
/// other characteristics, so they cannot reach services that a vendor defined.
public enum GlucoseCharacteristic: UInt16, CaseIterable, Sendable {
  case name = 0x2A00
  case dateTime = 0x2A08
  case measurement = 0x2A18
  case model = 0x2A24
  case serial = 0x2A25
  case firmware = 0x2A26
  case maker = 0x2A29
  case currentTime = 0x2A2B
  case context = 0x2A34
  case feature = 0x2A51
  case recordAccess = 0x2A52

  /// The service that contains the characteristic. Another service of a meter may use the same number with
  /// another meaning.
  public var service: UInt16 {
    switch self {
    case .name: 0x1800
    case .dateTime, .measurement, .context, .feature, .recordAccess: 0x1808
    case .currentTime: 0x1805
    case .model, .serial, .firmware, .maker: 0x180A
    }
  }
}

/// A request to the record access control point of a Bluetooth meter. Nothing else is ever written to such a
/// meter.
///
/// The control point can also delete records. This type has no case for deletion, so no driver, transport or
/// transcript can request it.
public enum RecordAccess: Hashable, Sendable {
  /// Asks for the number of stored records. Op code 04, operator 01.
  case countAll
  /// Asks for the number of records whose sequence number is at least this one. Op code 04, operator 03.
  case countFrom(UInt16)
  /// Asks the meter to send all stored records. Op code 01, operator 01.
  case reportAll
  /// Asks the meter to send the records whose sequence number is at least this one. Op code 01, operator 03.
  case reportFrom(UInt16)
  /// Asks the meter to stop sending. Op code 03.
  case abort

  /// The bytes of the request.
  public var bytes: [UInt8] {
    switch self {
    case .countAll: [0x04, 0x01]
    case .countFrom(let number): [0x04, 0x03, Self.bySequence] + Self.bytes(number)
    case .reportAll: [0x01, 0x01]
    case .reportFrom(let number): [0x01, 0x03, Self.bySequence] + Self.bytes(number)
    case .abort: [0x03, 0x00]
    }
  }

  /// The request with these bytes; nil for all other bytes, such as a request to delete records.
  public init?(bytes: [UInt8]) {
    let number = bytes.count == 5 ? UInt16(bytes[3]) | UInt16(bytes[4]) << 8 : 0
    let all: [RecordAccess] = [.countAll, .countFrom(number), .reportAll, .reportFrom(number), .abort]
    guard let request = all.first(where: { $0.bytes == bytes }) else { return nil }
    self = request
  }

  private static let bySequence: UInt8 = 0x01

  private static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8)] }
}
