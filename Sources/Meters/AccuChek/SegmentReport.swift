// SPDX-License-Identifier: Apache-2.0

/// Some entries of a segment. Each report must be confirmed before the meter sends the next one.
struct SegmentReport: Hashable {
  var instance: UInt16
  /// The index of the first entry in this report, from 0.
  var first: Int
  /// The number of entries that the report states.
  var count: Int
  /// Whether it is the last report of the segment.
  var isLast: Bool
  /// Whether the meter aborted the transfer.
  var isAborted: Bool
  /// The entries, without separators.
  var entries: [UInt8]
  /// The fields that a confirmation repeats: instance, first entry and count.
  var position: [UInt8]

  /// Parses the content of an event; nil if the event is of another kind.
  init?(parsing content: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(content, part: "a report of the memory")
    _ = try reader.bytes(6)
    guard try reader.u16() == Self.eventType else { return nil }
    var event = APDUReader(try reader.counted(), part: "a report of the memory")
    position = try event.bytes(10)
    var numbers = APDUReader(position, part: "a report of the memory")
    instance = try numbers.u16()
    first = Int(try numbers.u32())
    count = Int(try numbers.u32())
    let status = try event.u16()
    isLast = status & 0x4000 != 0
    isAborted = status & 0x0800 != 0
    entries = try event.counted()
  }

  /// The type of the event that carries a report.
  static let eventType: UInt16 = 0x0D21

  /// The entries, each of this size in bytes; nil if their number differs from the stated one.
  func split(every length: Int) -> [ArraySlice<UInt8>]? {
    guard length > 0, entries.count % length == 0, entries.count / length == count else { return nil }
    return stride(from: 0, to: entries.count, by: length).map { entries[$0..<$0 + length] }
  }

  /// The content of the message that confirms the report.
  func confirmation(handle: UInt16) -> [UInt8] {
    handle.bigEndianBytes + [0xFF, 0xFF, 0xFF, 0xFF] + Self.eventType.bigEndianBytes + [0x00, 0x0C] + position
      + [0x00, 0x80]
  }
}
