// SPDX-License-Identifier: Apache-2.0

/// A packet to or from a Dexcom receiver: 01, the total length, a command or result, a payload and a
/// checksum.
struct DexcomPacket: Hashable {
  /// The result of parsing the first bytes.
  enum Finding: Hashable {
    case packet(DexcomPacket)
    /// The packet is not complete yet.
    case incomplete
    /// Not a packet: the length is impossible, or the checksum is wrong.
    case broken
  }

  private static let start: UInt8 = 0x01
  private static let overhead = 6
  /// The maximum size of an answer in bytes. The longest recorded answer, with four pages, has 2118 bytes.
  private static let maxBytes = 2200

  /// The command; in an answer, the result.
  var code: UInt8
  var payload: [UInt8] = []

  var bytes: [UInt8] {
    let length = UInt16(truncatingIfNeeded: payload.count + Self.overhead)
    let body = [Self.start] + length.littleEndianBytes + [code] + payload
    return body + CRC16.ccitt(body, initial: 0).littleEndianBytes
  }

  /// The first packet in these bytes, after any noise.
  static func find(in bytes: [UInt8]) -> Finding {
    let bytes = Array(bytes.drop { $0 != start })
    guard let length = bytes.littleEndian(UInt16.self, at: 1).map(Int.init) else { return .incomplete }
    guard (overhead...maxBytes).contains(length) else { return .broken }
    guard bytes.count >= length else { return .incomplete }
    let body = bytes[..<(length - 2)]
    guard bytes.littleEndian(UInt16.self, at: length - 2) == CRC16.ccitt(body, initial: 0) else {
      return .broken
    }
    return .packet(DexcomPacket(code: body[3], payload: Array(body[4...])))
  }
}

/// The partitions of a receiver's memory that are read.
enum DexcomPartition: UInt8 {
  case manufacturing = 0
  case sensor = 4
  case calibration = 10
  case event = 11
  /// Values that a receiver with a touch screen fetched later.
  case backfill = 18
}

/// One page of a receiver's memory: a header, and records that each end with a checksum.
struct DexcomPage: Hashable {
  /// The size of a page in bytes: a header of 28, and data of 500.
  static let size = 528
  private static let headerSize = 28

  /// The number of the partition to which the page belongs.
  let partition: UInt8
  /// The number of the layout that the page's records have.
  let revision: UInt8
  /// The number of the page in its partition.
  let number: UInt32
  /// The number of records that the header states.
  let count: Int
  private let data: [UInt8]

  /// Parses a page; nil if the size or the header's checksum is wrong, or if the header states more records
  /// than fit.
  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.size, let checksum = bytes.littleEndian(UInt16.self, at: 26),
      checksum == CRC16.ccitt(bytes[..<26], initial: 0),
      let count = bytes.littleEndian(UInt32.self, at: 4), count <= bytes.count - Self.headerSize,
      let number = bytes.littleEndian(UInt32.self, at: 10)
    else { return nil }
    partition = bytes[8]
    revision = bytes[9]
    self.number = number
    self.count = Int(count)
    data = Array(bytes[Self.headerSize...])
  }

  /// The records of this length in bytes, oldest first, without their checksums; nil for a record with a
  /// wrong checksum.
  func records(length: Int) -> [[UInt8]?] {
    guard length > 2 else { return [] }
    return (0..<count).map { index in
      let record = data.dropFirst(index * length).prefix(length)
      guard record.count == length,
        record.littleEndian(UInt16.self, at: length - 2) == CRC16.ccitt(record.dropLast(2), initial: 0)
      else { return nil }
      return Array(record.dropLast(2))
    }
  }
}
