// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore

/// Writes items of the store one after the other.
protocol ItemWriter {
  mutating func begin()
  mutating func write(_ item: StoredItem)
  /// Ends the output; tells what this form could not take.
  mutating func end() -> [String]
}

/// A table for people.
struct TableWriter: ItemWriter {
  let output: Output
  let unit: GlucoseUnit?
  let isLong: Bool
  /// Whether what waits to be sent is marked. Without a remote that is everything, and says nothing.
  var marksQueued = false
  /// What an upload has under way.
  var activity = SyncActivity.none

  func begin() {}

  func write(_ item: StoredItem) { output.line(line(item)) }

  func end() -> [String] { [] }

  func line(_ item: StoredItem) -> String {
    switch item {
    case .reading(let reading): line(reading)
    case .record(let record): line(record)
    }
  }

  private func line(_ reading: StoredReading) -> String {
    let shownUnit = reading.kind == .ketone ? reading.measurement.unit : unit ?? reading.measurement.unit
    let marks = (reading.marks.names + (reading.isWithdrawn ? ["withdrawn"] : [])).joined(separator: " ")
    var text =
      "\(time(reading.deviceTime))  \(column(reading.kind.name, 8)) \(column(value(reading.measurement, shownUnit), 6, right: true)) \(column(shownUnit.name, 6))"
    if isLong { text += "  \(displayed(deviceName(reading.device)))  \(reading.address)" }
    if !marks.isEmpty { text += "  \(marks)" }
    if isLong { text += mark(reading.syncState(activity)) }
    return text
  }

  private func line(_ record: StoredRecord) -> String {
    let state = record.isDeleted ? "  (deleted)" : ""
    let id = isLong ? record.guid : String(record.guid.prefix(8))
    return
      "\(time(record.deviceTime))  \(column(record.kind.rawValue, 8)) \(displayed(RecordText.summary(record)))  \(id)\(state)\(mark(record.syncState(activity)))"
  }

  private func mark(_ state: SyncState) -> String {
    if state == .queued(.waiting), !marksQueued { return "" }
    let text = SyncText.mark(state)
    return text.isEmpty ? "" : "  (\(text))"
  }

  private func time(_ time: DeviceTime) -> String { time.text.replacing("T", with: " ") }

  private func column(_ text: String, _ width: Int, right: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - text.count))
    return right ? blanks + text : text + blanks
  }
}

/// `LO`, `HI` or the number in this unit.
func value(_ measurement: Measurement, _ unit: GlucoseUnit) -> String {
  switch measurement {
  case .value(let quantity): quantity.displayed(in: unit)
  case .low: "LO"
  case .high: "HI"
  }
}

/// A device as people know it.
func deviceName(_ device: Device) -> String {
  [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
}

/// The items under glucoport's own columns, which `import` reads back without loss.
struct CSVWriter: ItemWriter {
  let output: Output
  /// Whether cells that a spreadsheet would compute get an apostrophe in front.
  let isSpreadsheetSafe: Bool
  let inBothUnits: Bool
  private let columns: [(column: GlucoportColumn, name: String)]

  init(output: Output, isSpreadsheetSafe: Bool = false, inBothUnits: Bool = false) {
    self.output = output
    self.isSpreadsheetSafe = isSpreadsheetSafe
    self.inBothUnits = inBothUnits
    columns = GlucoportColumn.allCases.filter { inBothUnits || !$0.isOnRequest }.map { ($0, $0.name) }
  }

  func begin() { output.write(columns.map(\.name).joined(separator: ",") + "\r\n") }

  func write(_ item: StoredItem) {
    let cells = ItemCells(item, inBothUnits: inBothUnits)
    let texts = columns.map { cell(cells[$0.column].text, of: $0.name) }
    output.write(texts.joined(separator: ",") + "\r\n")
  }

  func end() -> [String] { [] }

  private func cell(_ text: String, of column: String) -> String {
    let text = isSpreadsheetSafe ? GlucoportColumns.guarding(text, in: column) : text
    // The bytes of most cells say at once that there is nothing to quote.
    let isPlain = text.utf8.allSatisfy { $0 > 0x1F && $0 < 0x7F && $0 != 0x22 && $0 != 0x2C }
    if isPlain || !text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}

/// One JSON object a line, with the same names.
struct NDJSONWriter: ItemWriter {
  let output: Output
  var inBothUnits = false

  func begin() {}

  func write(_ item: StoredItem) { output.line("{\(ItemCells(item, inBothUnits: inBothUnits).members)}") }

  func end() -> [String] { [] }
}

/// Nightscout entries in one JSON array, with all parts of the identity in the member `glucoport`.
struct NightscoutWriter: ItemWriter {
  let output: Output
  private var count = 0
  private var records = 0
  private var ketones = 0
  private var withdrawn = 0

  init(output: Output) { self.output = output }

  func begin() { output.write("[") }

  mutating func write(_ item: StoredItem) {
    guard case .reading(let reading) = item else {
      records += 1
      return
    }
    guard reading.kind != .ketone, !reading.marks.contains(.controlSolution) else {
      ketones += 1
      return
    }
    // An entry cannot say that it does not count.
    guard !reading.isWithdrawn else {
      withdrawn += 1
      return
    }
    output.write(count == 0 ? "\n" : ",\n")
    count += 1
    output.write(entry(reading))
  }

  func end() -> [String] {
    output.write("\n]\n")
    let leftOut = [
      (records, "record"), (ketones, "ketone or control-solution reading"), (withdrawn, "withdrawn reading"),
    ]
    return leftOut.filter { $0.0 > 0 }.map { "left out \(counted($0.0, $0.1))" }
  }

  private func entry(_ reading: StoredReading) -> String {
    let type = reading.kind == .smbg ? "mbg" : "sgv"
    return """
      {"type":"\(type)","date":\(reading.utc * 1000),"dateString":"\(DeviceTime(seconds: reading.utc).text).000Z",\
      "utcOffset":\(reading.placement.utcOffset / 60),"\(type)":\(Self.milligrams(reading.measurement)),\
      "device":\(jsonText(deviceName(reading.device))),"app":"glucoport",\
      "glucoport":{\(ItemCells(.reading(reading)).filledMembers)}}
      """
  }

  /// Nightscout knows whole mg/dL; below and above the range its clients write 39 and 401.
  private static func milligrams(_ measurement: Measurement) -> String {
    switch measurement {
    case .value(let quantity):
      plainNumber(quantity.converted(to: .milligramsPerDecilitre).number.rounded(.toNearestOrAwayFromZero))
    case .low: "39"
    case .high: "401"
    }
  }
}
