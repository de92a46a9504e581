// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One segment of a Roche meter's memory: its name, the layout of its entries, and the entries.
struct RocheSegment {
  let instance: Int
  let label: String
  /// The attribute map, which lists the fields of an entry and their sizes.
  let map: [UInt8]
  var entries: [[UInt8]] = []

  /// The four segments of a Guide with firmware 1.9.6, filled with these items.
  static func all(_ items: [SimulatedItem], hundredths: UInt8) -> [RocheSegment] {
    var segments = [
      RocheSegment(
        instance: 0, label: "PMSegGluc ", map: map(0x0006, 0x0002, 0x7270, 1, [(0x0A4C, 2), (0x0947, 2)])),
      RocheSegment(
        instance: 1, label: "PMSegCtrl ", map: map(0x0006, 0x0002, 0x71D0, 2, [(0x0A4C, 2), (0x0947, 2)])),
      RocheSegment(instance: 2, label: "PMSegError", map: map(0x0005, 0x0080, 0x71D8, 3, [(0x0A66, 2)])),
      RocheSegment(instance: 3, label: "PMSegCMeal", map: map(0x0005, 0x0080, 0x7248, 4, [(0x0A49, 2)])),
    ]
    for item in items {
      let time = RocheAPDU.time(item.deviceTime, hundredths: hundredths)
      let isControl = item.marks.contains(.controlSolution)
      segments[isControl ? 1 : 0].entries.append(time + value(item.measurement) + RocheAPDU.word(0))
      if let meal = meal(item.marks) { segments[3].entries.append(time + RocheAPDU.word(meal)) }
    }
    return segments
  }

  /// The attributes with which the segment describes itself to a host.
  var information: [UInt8] {
    let start = entries.first.map { Array($0.prefix(8)) } ?? Self.never
    let end = entries.last.map { Array($0.prefix(8)) } ?? Self.never
    let attributes = [
      RocheAPDU.attribute(0x0922, RocheAPDU.word(instance)), RocheAPDU.attribute(0x0A4E, map),
      RocheAPDU.attribute(0x0953, [0, 0]),
      RocheAPDU.attribute(0x0A58, RocheAPDU.word(label.utf8.count) + Array(label.utf8)),
      RocheAPDU.attribute(0x0A62, [0, 0, 0, 0, 0, 0]), RocheAPDU.attribute(0x0992, start),
      RocheAPDU.attribute(0x098A, end), RocheAPDU.attribute(0x097B, RocheAPDU.long(entries.count)),
      RocheAPDU.attribute(0x0A64, [0x00, 0x02, 0x71, 0x00]),
    ]
    let body = attributes.flatMap { $0 }
    return RocheAPDU.word(instance) + RocheAPDU.word(attributes.count) + RocheAPDU.word(body.count) + body
  }
}

extension RocheSegment {
  /// The time that a real meter reports for a segment without entries: the start of 2014.
  private static let never: [UInt8] = [0x20, 0x14, 0x01, 0x01, 0, 0, 0, 0]

  private static func map(
    _ objectClass: Int, _ partition: Int, _ code: Int, _ handle: Int, _ attributes: [(id: Int, size: Int)]
  ) -> [UInt8] {
    let list = attributes.flatMap { RocheAPDU.word($0.id) + RocheAPDU.word($0.size) }
    let object =
      [objectClass, partition, code, handle, attributes.count, list.count].flatMap(RocheAPDU.word) + list
    return [0x80, 0x00, 0x00, 0x01] + RocheAPDU.word(object.count) + object
  }

  /// A value in mg/dL as a number of 16 bits with an exponent of zero; LO and HI are the two infinities.
  private static func value(_ measurement: Measurement) -> [UInt8] {
    switch measurement {
    case .low: RocheAPDU.word(0x0802)
    case .high: RocheAPDU.word(0x07FE)
    case .value(let quantity):
      RocheAPDU.word(Int(quantity.converted(to: .milligramsPerDecilitre).number.rounded()) & 0x07FF)
    }
  }

  private static func meal(_ marks: ReadingMarks) -> Int? {
    let codes: [(ReadingMarks, Int)] = [
      (.beforeMeal, 0x724C), (.afterMeal, 0x7250), (.fasting, 0x7254), (.bedtime, 0x7274),
    ]
    return codes.first { marks.contains($0.0) }?.1
  }
}
