// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes items with glucoport's own columns, which `GlucoportFormat` reads without loss.
package struct GlucoportWriter: Sendable {
  /// The file formats that are written.
  package enum Form: Sendable {
    /// - Parameter isSpreadsheetSafe: whether cells that a spreadsheet would compute begin with an
    ///   apostrophe.
    case csv(isSpreadsheetSafe: Bool)
    /// One JSON object a line. Its members have the names of the columns.
    case ndjson
  }

  private let isCSV: Bool
  private let inBothUnits: Bool
  private let columns: [GlucoportColumn]
  private var csv: GlucoportCSVLine
  private var json = GlucoportJSONLine()
  private var patterns = RecentlyWritten<LinePattern>()
  private var times = TimeTexts()

  /// - Parameter inBothUnits: whether to write the columns of the value in a fixed unit, whatever the
  ///   source's unit.
  package init(_ form: Form, inBothUnits: Bool = false) {
    self.inBothUnits = inBothUnits
    columns = GlucoportColumn.allCases.filter { inBothUnits || !$0.isOnRequest }
    switch form {
    case .csv(let isSpreadsheetSafe):
      isCSV = true
      csv = GlucoportCSVLine(columns, isSpreadsheetSafe: isSpreadsheetSafe)
    case .ndjson:
      isCSV = false
      csv = GlucoportCSVLine(columns, isSpreadsheetSafe: false)
    }
  }

  /// The text before the first item.
  package var header: String { isCSV ? columns.map(\.name).joined(separator: ",") + "\r\n" : "" }

  /// Appends the line of an item.
  package mutating func append(_ item: GlucoportItem, to out: inout [UInt8]) {
    if case .reading(let reading) = item, let number = reading.measurement.quantity?.number, !inBothUnits {
      if let index = patterns.index(where: { $0.fits(reading) }) {
        return patterns[index].append(reading, number, &times, to: &out)
      }
      let gaps = appendColumns(of: item, to: &out)
      patterns.add(LinePattern(reading, isCSV ? csv.bytes : json.bytes, gaps: gaps))
    } else {
      _ = appendColumns(of: item, to: &out)
    }
  }

  /// Appends the line column by column. Returns where its times and numbers are in the line.
  private mutating func appendColumns(of item: GlucoportItem, to out: inout [UInt8]) -> [Range<Int>] {
    if isCSV {
      csv.begin()
      item.write(inBothUnits: inBothUnits, to: &csv)
      csv.end()
      out.append(contentsOf: csv.bytes)
      return csv.gaps
    }
    json.begin()
    item.write(inBothUnits: inBothUnits, to: &json)
    json.end()
    out.append(contentsOf: json.bytes)
    return json.gaps
  }
}

/// The text that the lines of many readings share, since most readings of a device differ only in times and
/// numbers. Copying it is faster than writing every column.
///
/// The pattern is a class, so that a search does not copy the texts of each pattern.
private final class LinePattern: Sendable {
  private let reading: GlucoportReading
  private let device: ExactDevice
  /// The bytes before, between and after the times and numbers.
  private let text: [UInt8]
  /// The ends of the parts of `text` between the times and numbers, as offsets in `text`.
  private let ends: [Int]

  /// - Parameters:
  ///   - reading: a reading with a number.
  ///   - line: its line.
  ///   - gaps: where its times and numbers are in the line.
  init(_ reading: GlucoportReading, _ line: [UInt8], gaps: [Range<Int>]) {
    self.reading = reading
    device = ExactDevice(reading.device)
    let starts = [0] + gaps.map(\.upperBound)
    var (text, ends): ([UInt8], [Int]) = ([], [])
    for (start, end) in zip(starts, gaps.map(\.lowerBound) + [line.count]) {
      text.append(contentsOf: line[start..<end])
      ends.append(text.count)
    }
    (self.text, self.ends) = (text, ends)
  }

  /// Whether another reading with a number differs only in times and numbers.
  func fits(_ other: GlucoportReading) -> Bool {
    reading.placement == other.placement && reading.kind == other.kind && reading.marks == other.marks
      && reading.measurement.unit == other.measurement.unit && reading.isWithdrawn == other.isWithdrawn
      && reading.positionKind == other.positionKind && device.isSame(as: other.device)
  }

  /// Appends the line of a reading that fits, with its times and numbers in the order of the columns.
  func append(
    _ reading: GlucoportReading, _ number: Double, _ times: inout TimeTexts, to out: inout [UInt8]
  ) {
    var start = 0
    func appendPiece(_ number: Int) {
      appendBytes(start..<ends[number], of: text, to: &out)
      start = ends[number]
    }
    appendPiece(0)
    times.append(reading.placement.instant(of: reading.deviceTime), isInstant: true, to: &out)
    appendPiece(1)
    times.append(reading.deviceTime, isInstant: false, to: &out)
    appendPiece(2)
    appendNumber(number, to: &out)
    appendPiece(3)
    appendInteger(reading.position, to: &out)
    appendPiece(4)
    appendInteger(reading.valueBucket, to: &out)
    appendPiece(5)
    appendInteger(reading.occurrence, to: &out)
    appendPiece(6)
  }
}

/// A line of CSV that is written into bytes cell by cell, without a string for each.
private struct GlucoportCSVLine: GlucoportSink, Sendable {
  private(set) var bytes: [UInt8] = []
  /// The ranges of the times and numbers in the line.
  private(set) var gaps: [Range<Int>] = []
  private let isSpreadsheetSafe: Bool
  /// The index of each column's cell in the line.
  private let places: [Int]
  private let lastPlace: Int
  private var place = 0
  private var times = TimeTexts()
  private var devices = DeviceTexts()

  init(_ columns: [GlucoportColumn], isSpreadsheetSafe: Bool) {
    var places = [Int](repeating: 0, count: GlucoportColumn.allCases.count)
    for (place, column) in columns.enumerated() { places[column.rawValue] = place }
    (self.places, self.isSpreadsheetSafe, lastPlace) = (places, isSpreadsheetSafe, columns.count - 1)
  }

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    gaps.removeAll(keepingCapacity: true)
    place = 0
  }

  mutating func end() {
    move(to: lastPlace)
    bytes.append(0x0D)
    bytes.append(0x0A)
  }

  mutating func null(_ column: GlucoportColumn) {}

  mutating func text(_ column: GlucoportColumn, _ text: String) {
    if text.isEmpty { return }
    move(to: places[column.rawValue])
    appendCSVText(isSpreadsheetSafe ? GlucoportColumns.guarding(text, in: column) : text, to: &bytes)
  }

  mutating func literal(_ column: GlucoportColumn, _ text: String) { self.text(column, text) }

  mutating func integer(_ column: GlucoportColumn, _ number: Int64) {
    move(to: places[column.rawValue])
    let start = bytes.count
    appendInteger(number, to: &bytes)
    gaps.append(start..<bytes.count)
  }

  mutating func number(_ column: GlucoportColumn, _ number: Double) {
    move(to: places[column.rawValue])
    let start = bytes.count
    appendNumber(number, to: &bytes)
    gaps.append(start..<bytes.count)
  }

  mutating func time(_ column: GlucoportColumn, _ time: DeviceTime, isInstant: Bool) {
    move(to: places[column.rawValue])
    let start = bytes.count
    times.append(time, isInstant: isInstant, to: &bytes)
    gaps.append(start..<bytes.count)
  }

  mutating func offset(_ column: GlucoportColumn, _ seconds: Int32) {
    move(to: places[column.rawValue])
    times.append(offset: seconds, to: &bytes)
  }

  mutating func device(_ device: Device) {
    let (start, first) = (bytes.count, place)
    if let known = devices.find(device, after: first) {
      bytes.append(contentsOf: known.bytes)
      place = known.place
    } else {
      write(device)
      devices.add(device, after: first, bytes[start...], place)
    }
  }

  @inline(__always)
  private mutating func move(to next: Int) {
    while place < next {
      bytes.append(UInt8(ascii: ","))
      place += 1
    }
  }
}

/// An object of NDJSON that is written into bytes member by member. All items of a kind have the same
/// members, with null for missing values.
struct GlucoportJSONLine: GlucoportSink, Sendable {
  /// Each column's name as a JSON key.
  private static let keys = GlucoportColumn.allCases.map { Array("\"\($0.name)\":".utf8) }

  private(set) var bytes: [UInt8] = []
  /// The ranges of the times and numbers in the line.
  private(set) var gaps: [Range<Int>] = []
  private let keys = Self.keys
  private var times = TimeTexts()
  private var devices = DeviceTexts()

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    gaps.removeAll(keepingCapacity: true)
  }

  mutating func end() {
    bytes.append(UInt8(ascii: "}"))
    bytes.append(0x0A)
  }

  mutating func null(_ column: GlucoportColumn) { literal(column, "null") }

  mutating func text(_ column: GlucoportColumn, _ text: String) {
    key(column)
    appendJSONText(text, to: &bytes)
  }

  mutating func literal(_ column: GlucoportColumn, _ text: String) {
    key(column)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func integer(_ column: GlucoportColumn, _ number: Int64) {
    key(column)
    let start = bytes.count
    appendInteger(number, to: &bytes)
    gaps.append(start..<bytes.count)
  }

  mutating func number(_ column: GlucoportColumn, _ number: Double) {
    key(column)
    let start = bytes.count
    appendNumber(number, to: &bytes)
    gaps.append(start..<bytes.count)
  }

  mutating func time(_ column: GlucoportColumn, _ time: DeviceTime, isInstant: Bool) {
    key(column)
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    times.append(time, isInstant: isInstant, to: &bytes)
    gaps.append(start..<bytes.count)
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func offset(_ column: GlucoportColumn, _ seconds: Int32) {
    key(column)
    bytes.append(UInt8(ascii: "\""))
    times.append(offset: seconds, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func device(_ device: Device) {
    let start = bytes.count
    if let known = devices.find(device, after: 0) {
      bytes.append(contentsOf: known.bytes)
    } else {
      write(device)
      devices.add(device, after: 0, bytes[start...], 0)
    }
  }

  @inline(__always)
  private mutating func key(_ column: GlucoportColumn) {
    bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
    bytes.append(contentsOf: keys[column.rawValue])
  }
}

/// The texts of times and offsets. The last date and offset are cached, since consecutive rows are close in
/// time.
private struct TimeTexts: Sendable {
  private var instants = DeviceTimeWriter()
  private var shown = DeviceTimeWriter()
  private var offset: Int32 = 0
  private var offsetText = Array(DeviceTime.offsetText(0).utf8)

  mutating func append(_ time: DeviceTime, isInstant: Bool, to out: inout [UInt8]) {
    if isInstant {
      instants.append(time, to: &out)
      out.append(UInt8(ascii: "Z"))
    } else {
      shown.append(time, to: &out)
    }
  }

  mutating func append(offset seconds: Int32, to out: inout [UInt8]) {
    if seconds != offset {
      offset = seconds
      offsetText = Array(DeviceTime.offsetText(seconds).utf8)
    }
    out.append(contentsOf: offsetText)
  }
}

/// A device that is compared byte for byte. Two devices whose texts only look alike are different.
private struct ExactDevice: Sendable {
  private let device: Device
  /// Whether all texts of the device are ASCII. Equal ASCII texts of the same length have equal bytes; other
  /// texts that Swift calls equal may have different bytes.
  private let isASCII: Bool

  init(_ device: Device) {
    self.device = device
    isASCII = [device.serial, device.model, device.vendor, device.format].allSatisfy { text in
      text.utf8.allSatisfy { $0 < 0x80 }
    }
  }

  func isSame(as other: Device) -> Bool {
    guard device == other else { return false }
    return isSame(device.serial, other.serial) && isSame(device.model, other.model)
      && isSame(device.vendor, other.vendor) && isSame(device.format, other.format)
  }

  /// Whether two texts that Swift calls equal have equal bytes.
  private func isSame(_ text: String, _ other: String) -> Bool {
    isASCII ? text.utf8.count == other.utf8.count : text.utf8.elementsEqual(other.utf8)
  }
}

/// A cache of the last written parts of lines. It holds several parts, since rows of a few devices alternate.
private struct RecentlyWritten<Part: Sendable>: Sendable {
  /// The maximum number of cached parts: enough for the few offsets and marks of a device's readings.
  private static var maxCount: Int { 32 }

  private var parts: [Part] = []
  private var oldest = 0
  /// For each part, the index of the part that was used after it. It is tried first, since rows of several
  /// devices mostly alternate in the same order.
  private var following: [Int] = []
  private var last = 0

  subscript(index: Int) -> Part { parts[index] }

  @inline(__always)
  mutating func index(where isWanted: (Part) -> Bool) -> Int? {
    guard !parts.isEmpty else { return nil }
    let likely = following[last]
    if isWanted(parts[likely]) {
      last = likely
      return likely
    }
    guard let found = parts.firstIndex(where: isWanted) else { return nil }
    following[last] = found
    last = found
    return found
  }

  mutating func add(_ part: Part) {
    if parts.count < Self.maxCount {
      following.append(parts.count)
      parts.append(part)
    } else {
      parts[oldest] = part
      oldest = (oldest + 1) % Self.maxCount
    }
  }
}

/// Caches the bytes of the devices that were written last.
private struct DeviceTexts: Sendable {
  private struct WrittenDevice: Sendable {
    let device: ExactDevice
    /// The index of the cell in the line at which the device starts. The bytes depend on it.
    let start: Int
    let bytes: [UInt8]
    /// The index of the cell after the device.
    let place: Int
  }

  private var known = RecentlyWritten<WrittenDevice>()

  mutating func find(_ device: Device, after start: Int) -> (bytes: [UInt8], place: Int)? {
    known.index { $0.start == start && $0.device.isSame(as: device) }.map {
      (known[$0].bytes, known[$0].place)
    }
  }

  mutating func add(_ device: Device, after start: Int, _ bytes: ArraySlice<UInt8>, _ place: Int) {
    known.add(WrittenDevice(device: ExactDevice(device), start: start, bytes: Array(bytes), place: place))
  }
}

/// Writes readings as the documents of another format, one after the other.
package protocol ReadingDocumentWriter: Sendable {
  /// The text before the first reading.
  var header: String { get }
  /// The text after the last reading.
  var footer: String { get }

  /// The reason why a reading is left out; nil if it is written.
  static func omission(of reading: GlucoportReading) -> ReadingOmission?

  /// Appends a reading that is not left out.
  mutating func append(_ item: GlucoportReading, to out: inout [UInt8])
}

/// The reason why an export leaves out a reading. The left-out readings are counted by reason.
package enum ReadingOmission: CaseIterable, Sendable {
  /// A test of the meter with control solution, which is not a person's glucose.
  case controlSolution
  /// The reading is a ketone value or control solution.
  case otherSubstance
  /// The reading is LO or HI.
  case beyondRange
  /// A withdrawal hides the reading.
  case withdrawn
  /// The reading has a time before the first one that Nightscout accepts.
  case beforeFirstYear

  /// The name of a left-out reading, in the singular.
  package var noun: String {
    switch self {
    case .controlSolution: "control-solution reading"
    case .otherSubstance: "ketone or control-solution reading"
    case .beyondRange: "LO or HI reading"
    case .withdrawn: "hidden reading"
    case .beforeFirstYear: "pre-2000 reading"
    }
  }
}
