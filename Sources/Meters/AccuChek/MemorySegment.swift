// SPDX-License-Identifier: Apache-2.0

/// One segment of a meter's memory, as the meter describes it: entries of one kind, all of the same form.
struct MemorySegment: Hashable {
  /// What the entries are.
  enum Content: Hashable {
    case glucose, controlSolution, meals
    /// Errors, and whatever else the meter keeps.
    case other
    /// Entries whose description cannot be understood.
    case unreadable
  }

  /// The number by which the segment is asked for.
  var instance: UInt16
  /// What the entries are.
  var content: Content
  /// How many entries it holds, where the meter says so.
  var count: Int?
  /// How many bytes an entry has.
  var entryLength: Int
  /// Where the value begins in an entry.
  var valueOffset: Int
  /// Where the status begins in an entry; nil where it has none.
  var statusOffset: Int?

  /// The first segment, with glucose in its usual form: what every reader asks of a meter that describes nothing.
  static let undescribed = MemorySegment(
    instance: 0, content: .glucose, count: nil, entryLength: 12, valueOffset: 8, statusOffset: 10)

  /// The segments in the content of the answer to a request for them; those whose entries hold no value are left out.
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

  /// A count of four bytes; nil for anything else.
  private static func number(_ value: [UInt8]) -> Int? {
    value.count == 4 ? value.reduce(0) { $0 << 8 | Int($1) } : nil
  }
}

/// What an entry of a segment looks like: a time, and one object with fields of fixed size.
private struct EntryMap {
  var content = MemorySegment.Content.other
  var length = MedicalTime.length
  var valueOffset: Int?
  var statusOffset: Int?

  init(parsing map: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(map, part: "a segment's entry map")
    let header = try reader.u16()
    let count = try reader.u16()
    var objects = APDUReader(try reader.counted(), part: "a segment's entry map")
    // Entries of several objects, or without a time of their own, were never seen, and a reader could not place them.
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

  /// Glucose is kept under the code of the sample that the strip takes: the ten of IEEE 11073-10417.
  private static func content(
    of code: UInt16, partition: UInt16, objectClass: UInt16
  ) -> MemorySegment.Content {
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
