// SPDX-License-Identifier: Apache-2.0

/// One segment of a meter's memory, as the meter describes it: entries of one kind and one layout.
struct MemorySegment: Hashable {
  enum EntryKind: Hashable {
    case glucose, controlSolution, meals
    /// Errors, and other entries that are not read.
    case other
    /// Entries whose description could not be parsed.
    case unreadable
  }

  /// The number that identifies the segment in requests.
  var instance: UInt16
  var content: EntryKind
  /// The number of entries; nil if the meter does not state it.
  var count: Int?
  /// The size of an entry in bytes.
  var entryLength: Int
  /// The offset of the value in an entry.
  var valueOffset: Int
  /// The offset of the status in an entry; nil if entries have none.
  var statusOffset: Int?

  /// The first segment, with glucose in the usual layout. Every known program requests this segment from a
  /// meter that describes no segments.
  static let undescribed = MemorySegment(
    instance: 0, content: .glucose, count: nil, entryLength: 12, valueOffset: 8, statusOffset: 10)

  /// Parses the segments in an answer to a request for segments. Segments whose entries hold no value are
  /// left out.
  static func parse(_ content: [UInt8]) throws(MalformedAPDU) -> [MemorySegment] {
    var reader = APDUReader(content, part: "the memory's segments")
    _ = try reader.u16()
    _ = try reader.u16()
    var answer = APDUReader(try reader.counted(), part: "the memory's segments")
    if answer.isAtEnd { return [] }
    let count = try answer.u16()
    var list = APDUReader(try answer.counted(), part: "the memory's segments")
    var segments: [MemorySegment] = []
    for _ in 0..<count {
      let instance = try list.u16()
      let attributes = try list.attributes()
      guard let map = attributes[0x0A4E] else { continue }
      let count = attributes[0x097B].flatMap(number)
      do throws(MalformedAPDU) {
        let entry = try EntryMap(parsing: map)
        guard let valueOffset = entry.valueOffset else { continue }
        segments.append(
          MemorySegment(
            instance: instance, content: entry.content, count: count, entryLength: entry.length,
            valueOffset: valueOffset, statusOffset: entry.statusOffset))
      } catch {
        segments.append(
          MemorySegment(
            instance: instance, content: .unreadable, count: count, entryLength: 0, valueOffset: 0,
            statusOffset: nil))
      }
    }
    return segments
  }

  /// The number in a value of four bytes; nil for another size.
  private static func number(_ value: [UInt8]) -> Int? {
    value.count == 4 ? value.reduce(0) { $0 << 8 | Int($1) } : nil
  }
}

/// The layout of a segment's entries: a time, and one object with fields of fixed size.
private struct EntryMap {
  var content = MemorySegment.EntryKind.other
  var length = MedicalTime.length
  var valueOffset: Int?
  var statusOffset: Int?

  init(parsing map: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(map, part: "a segment's entry map")
    let header = try reader.u16()
    let count = try reader.u16()
    var objects = APDUReader(try reader.counted(), part: "a segment's entry map")
    // Entries with several objects or without a time were never seen, and this reader cannot parse them.
    guard header == 0x8000, count == 1 else { return }
    let objectClass = try objects.u16()
    let partition = try objects.u16()
    content = Self.content(of: try objects.u16(), partition: partition, objectClass: objectClass)
    _ = try objects.u16()
    let fieldCount = try objects.u16()
    var fields = APDUReader(try objects.counted(), part: "a segment's entry map")
    for _ in 0..<fieldCount {
      let attribute = try fields.u16()
      let size = Int(try fields.u16())
      switch (attribute, size) {
      case (0x0A4C, 2), (0x0A49, 2): valueOffset = length
      case (0x0947, 2): statusOffset = length
      default: break
      }
      length += size
    }
  }

  /// What the entries of a segment contain, by the codes in its entry map. IEEE 11073-10417 has ten codes for
  /// glucose, one for each kind of blood or fluid on the test strip.
  private static func content(
    of code: UInt16, partition: UInt16, objectClass: UInt16
  ) -> MemorySegment.EntryKind {
    switch (objectClass, partition, code) {
    case (6, 2, 0x7114), (6, 2, 0x71B8), (6, 2, 0x71BC), (6, 2, 0x71C0), (6, 2, 0x71C4), (6, 2, 0x71C8),
      (6, 2, 0x71CC), (6, 2, 0x71D4), (6, 2, 0x726C), (6, 2, 0x7270):
      .glucose
    case (6, 2, 0x71D0): .controlSolution
    case (5, _, 0x7248): .meals
    default: .other
    }
  }
}

/// A message of the meter with some entries of a segment. It must be confirmed before the meter sends the
/// next one.
struct SegmentReport: Hashable {
  var instance: UInt16
  /// The index of the first entry in this report, from 0.
  var first: Int
  /// The number of entries that the report states.
  var count: Int
  /// Whether this is the last report of the segment.
  var isLast: Bool
  /// Whether the meter aborted the transfer.
  var isAborted: Bool
  /// The entries, without separators.
  var entries: [UInt8]
  /// The fields that a confirmation repeats: instance, first entry and count.
  var position: [UInt8]

  /// Parses the content of an event; nil if the event is not a report.
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
