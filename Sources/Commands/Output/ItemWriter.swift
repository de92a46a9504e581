// SPDX-License-Identifier: Apache-2.0

import Exports
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
  /// The identities of readings that annotations exclude.
  var excluded: Set<String> = []
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
    // Most stores exclude nothing, and then no identity has to be written out.
    let isExcluded = !excluded.isEmpty && excluded.contains(reading.identity.text)
    let marks = (reading.marks.names + (isExcluded ? ["excluded"] : [])).joined(separator: " ")
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

  func begin() { output.write(ItemCells.names.joined(separator: ",") + "\r\n") }

  func write(_ item: StoredItem) {
    let cells = ItemCells(item)
    let texts = ItemCells.names.map { cell(cells[$0]?.text ?? "", of: $0) }
    output.write(texts.joined(separator: ",") + "\r\n")
  }

  func end() -> [String] { [] }

  private func cell(_ text: String, of column: String) -> String {
    let text = isSpreadsheetSafe ? GlucoportColumns.guarding(text, in: column) : text
    guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}

/// One JSON object a line, with the same names.
struct NDJSONWriter: ItemWriter {
  let output: Output

  func begin() {}

  func write(_ item: StoredItem) {
    let cells = ItemCells(item)
    let members = ItemCells.names.compactMap { name in cells[name].map { "\"\(name)\":\($0.json)" } }
    output.line("{" + members.joined(separator: ",") + "}")
  }

  func end() -> [String] { [] }
}

/// An item's cells by column name: the text for CSV, and the value for JSON.
struct ItemCells {
  struct Cell {
    let text: String
    let json: String

    init(_ text: String) {
      self.text = text
      json = jsonText(text)
    }

    init(number: String) { (text, json) = (number, number) }
    init(object: String) { (text, json) = (object, object) }
    init(_ flag: Bool) { (text, json) = (flag ? "true" : "false", flag ? "true" : "false") }
  }

  /// The columns in their order, as `import` reads them back.
  static let names = GlucoportColumns.names

  private var cells: [String: Cell] = [:]

  subscript(name: String) -> Cell? { cells[name] }

  init(_ item: StoredItem) {
    switch item {
    case .reading(let reading): fill(reading)
    case .record(let record): fill(record)
    }
  }

  private mutating func fill(_ reading: StoredReading) {
    cells["item"] = Cell("reading")
    cells["kind"] = Cell(reading.kind.name)
    fill(reading.utc, reading.deviceTime, reading.placement)
    fill(reading.measurement)
    cells["marks"] = Cell(reading.marks.names.joined(separator: " "))
    cells["vendor"] = Cell(reading.device.vendor)
    cells["model"] = Cell(reading.device.model)
    cells["serial"] = Cell(reading.device.serial)
    cells["format"] = Cell(reading.device.format)
    cells["axis"] = Cell(reading.axis.name)
    cells["position"] = Cell(number: String(reading.position))
    cells["level"] = Cell(number: String(reading.level))
    cells["occurrence"] = Cell(number: String(reading.occurrence))
  }

  private mutating func fill(_ record: StoredRecord) {
    cells["item"] = Cell("record")
    cells["kind"] = Cell(record.kind.rawValue)
    fill(record.utc, record.deviceTime, record.placement)
    cells["guid"] = Cell(record.guid)
    if let entry = record.entryGuid { cells["entry_guid"] = Cell(entry) }
    cells["fields"] = Cell(object: record.fields)
    cells["deleted"] = Cell(record.isDeleted)
  }

  private mutating func fill(_ utc: Int64, _ deviceTime: DeviceTime, _ placement: Placement) {
    cells["time"] = Cell(DeviceTime(seconds: utc).text + "Z")
    cells["device_time"] = Cell(deviceTime.text)
    cells["utc_offset"] = Cell(DeviceTime.offsetText(placement.utcOffset))
    cells["offset_source"] = Cell(placement.source.name)
  }

  private mutating func fill(_ measurement: Measurement) {
    cells["unit"] = Cell(measurement.unit.name)
    switch measurement {
    case .value(let quantity): cells["value"] = Cell(number: plainNumber(quantity.number))
    case .low(let limit, _), .high(let limit, _):
      cells["range"] = if case .low = measurement { Cell("low") } else { Cell("high") }
      if let limit { cells["threshold"] = Cell(number: plainNumber(limit)) }
    }
  }
}

/// Nightscout entries in one JSON array, with all parts of the identity in the member `glucoport`.
struct NightscoutWriter: ItemWriter {
  let output: Output
  private var count = 0
  private var records = 0
  private var ketones = 0

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
    output.write(count == 0 ? "\n" : ",\n")
    count += 1
    output.write(entry(reading))
  }

  func end() -> [String] {
    output.write("\n]\n")
    var messages: [String] = []
    if records > 0 { messages.append("\(grouped(records)) records are no entries and were left out") }
    if ketones > 0 {
      messages.append(
        "\(grouped(ketones)) ketone and control-solution readings have no entry type and were left out")
    }
    return messages
  }

  private func entry(_ reading: StoredReading) -> String {
    let type = reading.kind == .smbg ? "mbg" : "sgv"
    let cells = ItemCells(.reading(reading))
    let identity = ItemCells.names.compactMap { name in cells[name].map { "\"\(name)\":\($0.json)" } }
    return """
      {"type":"\(type)","date":\(reading.utc * 1000),"dateString":"\(DeviceTime(seconds: reading.utc).text).000Z",\
      "utcOffset":\(reading.placement.utcOffset / 60),"\(type)":\(Self.milligrams(reading.measurement)),\
      "device":\(jsonText(deviceName(reading.device))),"app":"glucoport",\
      "glucoport":{\(identity.joined(separator: ","))}}
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
