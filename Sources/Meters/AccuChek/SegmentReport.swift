// SPDX-License-Identifier: Apache-2.0

/// Some entries of a segment, as the meter reports them; each report has to be confirmed before the next one comes.
struct SegmentReport: Hashable {
  /// The segment's number.
  var instance: UInt16
  /// The number of the first entry in this report, from 0.
  var first: Int
  /// How many entries it says it has.
  var count: Int
  /// Whether it is the last one of the segment.
  var isLast: Bool
  /// Whether the meter gave up.
  var isAborted: Bool
  /// The entries, one behind the other.
  var entries: [UInt8]
  /// What a confirmation repeats: instance, first entry and count.
  var position: [UInt8]

  /// The report in the content of an event; nil where the event is of another kind.
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

  /// The entries, each of this many bytes; nil where their number is not the one that the report states.
  func split(every length: Int) -> [ArraySlice<UInt8>]? {
    guard length > 0, entries.count % length == 0, entries.count / length == count else { return nil }
    return stride(from: 0, to: entries.count, by: length).map { entries[$0..<$0 + length] }
  }

  /// The content of the confirmation: the host has them.
  func confirmation(handle: UInt16) -> [UInt8] {
    handle.bigEndianBytes + [0xFF, 0xFF, 0xFF, 0xFF] + Self.eventType.bigEndianBytes + [0x00, 0x0C] + position
      + [0x00, 0x80]
  }
}
