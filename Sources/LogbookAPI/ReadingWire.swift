// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The readings in the body of a request, and its invalid rows.
package struct ReceivedReadings: Sendable {
  /// The valid readings.
  package var batch = ReadingBatch()
  /// The invalid rows, each with its index among all rows and the reason.
  package var refused: [RefusedItem] = []

  package init() {}

  /// The number of rows.
  package var count: Int { batch.readings.count + refused.count }

  /// Converts indices in `batch` to indices among all rows, which include the invalid ones. `places` and the
  /// result are ascending.
  package func items(of places: [Int]) -> [Int] {
    var before = 0
    return places.map { place in
      while before < refused.count, refused[before].item <= place + before { before += 1 }
      return place + before
    }
  }
}

/// Readings in the format of glucoport-protocol(7): series of one device, kind and position kind. The fields
/// of their rows have fixed positions, since millions of rows are transferred.
package enum ReadingWire {
  /// The maximum number of series in one request.
  static let maxSeries = 10_000
  /// The maximum length of each text of a device, in bytes.
  static let longestDeviceText = 256

  private static let kinds: [(word: StaticString, value: ReadingKind)] = [
    ("cbg", .cbg), ("smbg", .smbg), ("scan", .scan), ("ketone", .ketone),
  ]
  private static let positionKinds: [(word: StaticString, value: PositionKind)] = [
    ("time", .time), ("tick", .tick),
  ]
  private static let sources: [(word: StaticString, value: OffsetSource)] = [
    ("zone", .zone), ("stated", .stated), ("zone-gap", .zoneGap), ("zone-overlap", .zoneOverlap),
    ("ticks", .ticks), ("instant", .instant),
  ]
  private static let units: [(word: StaticString, value: GlucoseUnit)] = [
    ("mg/dL", .milligramsPerDecilitre), ("mmol/L", .millimolesPerLitre),
  ]
  private static let ranges: [(word: StaticString, value: Bool)] = [("low", true), ("high", false)]

  /// Appends the JSON array of a batch's series to `out`.
  package static func write(_ batch: ReadingBatch, to out: inout WireWriter) {
    out.raw("[")
    var open: Reading?
    for reading in batch.readings {
      if let last = open, last.device == reading.device, last.kind == reading.kind,
        last.positionKind == reading.positionKind
      {
        out.raw(",")
      } else {
        if open != nil { out.raw("]},") }
        writeHead(batch.devices[Int(reading.device.number)], reading, to: &out)
      }
      open = reading
      writeRow(reading, to: &out)
    }
    if open != nil { out.raw("]}") }
    out.raw("]")
  }

  private static func writeHead(_ device: Device, _ reading: Reading, to out: inout WireWriter) {
    out.raw("{\"device\":{\"vendor\":")
    out.string(device.vendor)
    out.raw(",\"model\":")
    out.string(device.model)
    out.raw(",\"serial\":")
    out.string(device.serial)
    out.raw(",\"format\":")
    out.string(device.format)
    out.raw("},\"kind\":")
    out.string(reading.kind.name)
    out.raw(",\"position_kind\":")
    out.string(reading.positionKind.name)
    out.raw(",\"readings\":[")
  }

  /// Appends one row: position, value bucket, occurrence, device time, offset, offset source, value, unit.
  /// The device's range, the threshold and the marks follow only if the reading has one of them.
  ///
  /// An instant is sent in UTC, so that all nodes send the same row.
  private static func writeRow(_ reading: Reading, to out: inout WireWriter) {
    let reading = reading.withoutZone
    out.raw("[")
    out.integer(reading.position)
    out.raw(",")
    out.integer(reading.valueBucket)
    out.raw(",")
    out.integer(Int64(reading.occurrence))
    out.raw(",")
    out.deviceTime(reading.deviceTime)
    out.raw(",")
    out.offset(reading.placement.utcOffset)
    out.raw(",\"")
    out.json(reading.placement.source.name)
    out.raw("\",")
    let isPlain: Bool
    switch reading.measurement {
    case .value(let quantity):
      out.number(quantity.number)
      writeUnit(quantity.unit, to: &out)
      isPlain = reading.marks.isEmpty
      if !isPlain { out.raw(",null,null") }
    case .low(let below, let unit):
      writeBeyond("\"low\"", below, unit, to: &out)
      isPlain = reading.marks.isEmpty
    case .high(let above, let unit):
      writeBeyond("\"high\"", above, unit, to: &out)
      isPlain = reading.marks.isEmpty
    }
    if !isPlain {
      out.raw(",[")
      out.json(reading.marks.names.map(jsonText).joined(separator: ","))
      out.raw("]")
    }
    out.raw("]")
  }

  private static func writeUnit(_ unit: GlucoseUnit, to out: inout WireWriter) {
    if unit == .milligramsPerDecilitre { out.raw(",\"mg/dL\"") } else { out.raw(",\"mmol/L\"") }
  }

  private static func writeBeyond(
    _ range: StaticString, _ threshold: Double?, _ unit: GlucoseUnit, to out: inout WireWriter
  ) {
    out.raw("null")
    writeUnit(unit, to: &out)
    out.raw(",")
    out.raw(range)
    out.raw(",")
    if let threshold { out.number(threshold) } else { out.raw("null") }
  }
}

// MARK: - Reading

extension ReadingWire {
  /// Reads an array of series. A row that is valid JSON but not a valid reading is added to `refused`; the
  /// other rows are accepted.
  ///
  /// - Parameter limit: the maximum number of rows.
  package static func read(_ reader: inout JSONScanner, limit: Int) throws(JSONError) -> ReceivedReadings {
    var received = ReceivedReadings()
    try reader.array { (reader) throws(JSONError) in
      guard received.batch.devices.count < maxSeries else {
        throw reader.error("more than \(maxSeries) series")
      }
      try readSeries(&reader, limit: limit, into: &received)
    }
    return received
  }

  private static func readSeries(
    _ reader: inout JSONScanner, limit: Int, into received: inout ReceivedReadings
  ) throws(JSONError) {
    var device: Device?
    var kind: ReadingKind?
    var positionKind: PositionKind?
    let index = DeviceIndex(Int32(received.batch.devices.count))
    var hasReadings = false
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "device": device = try readDevice(&reader)
      case "kind": kind = try reader.word(kinds)
      case "position_kind": positionKind = try reader.word(positionKinds)
      case "readings":
        guard let kind, let positionKind, device != nil else {
          throw reader.error("device, kind and position_kind are expected before the readings")
        }
        hasReadings = true
        try reader.array { (reader) throws(JSONError) in
          guard received.count < limit else { throw reader.error("more than \(limit) readings") }
          let start = reader
          do throws(JSONError) {
            received.batch.readings.append(try readRow(&reader, index, kind, positionKind))
          } catch {
            reader = start
            try reader.skip()
            received.refused.append(RefusedItem(item: received.count, reason: error.reason))
          }
        }
      default: return false
      }
      return true
    }
    guard let device, hasReadings else { throw reader.error("a series without device or readings") }
    received.batch.devices.append(device)
  }

  private static func readDevice(_ reader: inout JSONScanner) throws(JSONError) -> Device {
    var device = Device(vendor: "", model: "", format: "")
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "vendor": device.vendor = try deviceText(&reader)
      case "model": device.model = try deviceText(&reader)
      case "serial": device.serial = try deviceText(&reader)
      case "format": device.format = try deviceText(&reader)
      default: return false
      }
      return true
    }
    return device
  }

  private static func deviceText(_ reader: inout JSONScanner) throws(JSONError) -> String {
    let text = try reader.string()
    guard text.utf8.count <= longestDeviceText, !text.utf8.contains(0) else {
      throw reader.error("a text of a device that is longer than \(longestDeviceText) bytes, or holds a NUL")
    }
    return text
  }

  private static func readRow(
    _ reader: inout JSONScanner, _ device: DeviceIndex, _ kind: ReadingKind, _ positionKind: PositionKind
  ) throws(JSONError) -> Reading {
    try reader.expect("[")
    let position = try reader.integer()
    try reader.expect(",")
    let valueBucket = try reader.integer()
    try reader.expect(",")
    guard let occurrence = Int32(exactly: try reader.integer()), occurrence >= 0 else {
      throw reader.error("invalid occurrence")
    }
    try reader.expect(",")
    let deviceTime = try reader.deviceTime()
    try reader.expect(",")
    let offset = try reader.utcOffset()
    try reader.expect(",")
    let source = try reader.word(sources)
    try reader.expect(",")
    let (measurement, marks) = try readMeasurement(&reader)
    try reader.expect("]")
    let placement = Placement(utcOffset: offset, source: source)
    var reading = Reading(
      device: device, kind: kind, at: deviceTime, placement: placement, measurement, marks: marks, line: 0)
    reading.positionKind = positionKind
    reading.position = position
    reading.occurrence = occurrence
    reading.occurrenceIsStated = true
    guard positionKind == .tick || (position == deviceTime.seconds && source != .instant) else {
      throw reader.error("the position is not the shown time")
    }
    guard valueBucket == reading.valueBucket else {
      throw reader.error("the value_bucket does not match the value")
    }
    return reading.withoutZone
  }

  /// Reads the value and the unit of a row, and also the range, the threshold and the marks if the row has
  /// them.
  private static func readMeasurement(
    _ reader: inout JSONScanner
  ) throws(JSONError) -> (Measurement, ReadingMarks) {
    let value: Double? = reader.consume(word: "null") ? nil : try number(&reader)
    try reader.expect(",")
    let unit = try reader.word(units)
    var isLow: Bool?
    var threshold: Double?
    var marks: ReadingMarks = []
    if reader.consume(",") {
      if !reader.consume(word: "null") { isLow = try reader.word(ranges) }
      try reader.expect(",")
      if !reader.consume(word: "null") { threshold = try number(&reader) }
      if reader.consume(",") { marks = try readMarks(&reader) }
    }
    switch (value, isLow) {
    case (let value?, nil) where threshold == nil: return (.value(Quantity(value, unit)), marks)
    case (nil, true?): return (.low(below: threshold, unit), marks)
    case (nil, false?): return (.high(above: threshold, unit), marks)
    default: throw reader.error("a value or a range is expected, not both")
    }
  }

  /// Reads a number of at most 10,000, which is above the range of every meter and small enough for every
  /// conversion.
  private static func number(_ reader: inout JSONScanner) throws(JSONError) -> Double {
    let number = try reader.number()
    guard number >= 0, number <= 10_000 else { throw reader.error("invalid value") }
    return number
  }

  private static func readMarks(_ reader: inout JSONScanner) throws(JSONError) -> ReadingMarks {
    var names: [String] = []
    try reader.array { (reader) throws(JSONError) in
      guard names.count < ReadingMarks.named.count else { throw reader.error("too many marks") }
      names.append(try reader.string())
    }
    guard let marks = ReadingMarks(names: names) else { throw reader.error("unknown mark") }
    return marks
  }
}

extension WireWriter {
  /// Appends an offset as a JSON string.
  fileprivate mutating func offset(_ seconds: Int32) {
    switch seconds {
    case 0: raw("\"Z\"")
    case 3600: raw("\"+01:00\"")
    case 7200: raw("\"+02:00\"")
    default: string(DeviceTime.offsetText(seconds))
    }
  }
}
