// SPDX-License-Identifier: Apache-2.0

/// What a receiver keeps in separate pages: the parts of its memory that are read.
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
  /// A header, and data of 500 bytes.
  static let size = 528
  private static let headerSize = 28

  /// Which part of the memory it belongs to.
  let partition: UInt8
  /// Which layout its records have.
  let revision: UInt8
  /// Its place in its part of the memory.
  let number: UInt32
  /// How many records the header counts.
  let count: Int
  private let data: [UInt8]

  /// The page in these bytes; nil for another size, another checksum of the header, or more records than bytes.
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

  /// The records of so many bytes, oldest first, without their checksums; nil for one whose checksum is another.
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
