// SPDX-License-Identifier: Apache-2.0

/// The records of one partition of a Dexcom receiver, in pages of 528 bytes.
struct DexcomPartition {
  /// The type of the records.
  let type: UInt8
  /// The revision of the records' layout.
  let revision: UInt8
  /// The length of each record with its CRC.
  let recordLength: Int
  /// The number of the oldest page. A full memory drops the oldest pages, but the numbers continue.
  let firstPage: Int
  /// Records without their CRC, the oldest first.
  var records: [[UInt8]]

  private static let dataLength = 500

  private var recordsPerPage: Int { Self.dataLength / recordLength }

  /// The numbers of the partition's pages; nil if it has none.
  var pages: ClosedRange<Int>? {
    guard !records.isEmpty else { return nil }
    return firstPage...firstPage + (records.count - 1) / recordsPerPage
  }

  /// A page with its header; nil if there is none with this number.
  func page(_ number: Int) -> [UInt8]? {
    guard let header = header(number) else { return nil }
    let data = content(number).flatMap { $0 + littleEndian(crcCCITT($0, from: 0)) }
    return header + data + [UInt8](repeating: 0xFF, count: Self.dataLength - data.count)
  }

  /// The 28 bytes before a page's data.
  func header(_ number: Int) -> [UInt8]? {
    guard let pages, pages.contains(number) else { return nil }
    let first = UInt32(number * recordsPerPage)
    let head =
      littleEndian(first) + littleEndian(UInt32(content(number).count)) + [type, revision]
      + littleEndian(UInt32(number)) + [UInt8](repeating: 0, count: 12)
    return head + littleEndian(crcCCITT(head, from: 0))
  }

  private func content(_ number: Int) -> ArraySlice<[UInt8]> {
    let start = (number - firstPage) * recordsPerPage
    return records[start..<min(start + recordsPerPage, records.count)]
  }
}
