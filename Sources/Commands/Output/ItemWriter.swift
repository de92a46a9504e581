// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore

/// Writes stored items one after the other.
protocol ItemWriter {
  mutating func begin()
  mutating func write(_ item: StoredItem)
  /// Ends the output. Returns messages about content that this form cannot represent.
  mutating func end() -> [String]
}

/// A table of text.
struct TableWriter: ItemWriter {
  let output: Output
  let unit: GlucoseUnit?
  let isLong: Bool
  /// Whether readings have their short ids, in the column of the records' ids.
  var showsIDs = false
  /// Whether pending items are marked. Without a remote everything is pending, so a mark would have no
  /// meaning.
  var marksQueued = false
  /// The activity of uploads.
  var activity = SyncActivity.none
  /// Draws a bar next to each value; nil for none.
  var bars: ListBars?

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
    if let bar = bars?.text(reading) { text += "  " + bar }
    if isLong { text += "  \(displayed(deviceName(reading.device)))  \(reading.address)" }
    if !marks.isEmpty { text += "  \(marks)" }
    if showsIDs, !isLong { text += "  \(reading.shortID)" }
    if isLong { text += mark(reading.syncState(activity)) }
    // The bar of a value in the target range ends with blanks.
    while bars != nil, text.last == " " { text.removeLast() }
    return text
  }

  private func line(_ record: StoredRecord) -> String {
    let state = (record.isDeleted ? "  (deleted)" : "") + (record.isWithdrawn ? "  (withdrawn)" : "")
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

/// The name of a device in lists.
func deviceName(_ device: Device) -> String {
  [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
}

/// The items in glucoport's own format, which `import` reads back without loss.
struct OwnFormatWriter: ItemWriter {
  private let output: Output
  private var writer: GlucoportWriter
  private let isJSON: Bool
  private var line: [UInt8] = []

  init(_ form: GlucoportWriter.Form, inBothUnits: Bool, _ output: Output) {
    self.output = output
    isJSON = if case .ndjson = form { true } else { false }
    writer = GlucoportWriter(form, inBothUnits: inBothUnits)
  }

  func begin() { output.write(writer.header) }

  mutating func write(_ item: StoredItem) {
    line.removeAll(keepingCapacity: true)
    writer.append(GlucoportItem(item), to: &line)
    output.write(isJSON ? TerminalText.json(line) : line)
  }

  func end() -> [String] { [] }
}

/// Readings as documents of another format, each with all parts of the identity. Content that the format
/// cannot represent is counted.
struct DocumentItemWriter<Writer: ReadingDocumentWriter>: ItemWriter {
  private let output: Output
  private var writer: Writer
  private var records = 0
  private var omitted: [Writer.Omission: Int] = [:]
  private var document: [UInt8] = []

  init(_ writer: Writer, _ output: Output) { (self.writer, self.output) = (writer, output) }

  func begin() { output.write(TerminalText.json(writer.header)) }

  mutating func write(_ item: StoredItem) {
    guard case .reading(let reading) = GlucoportItem(item) else {
      if case .record(let record) = item, record.kind.details?.isListed != false { records += 1 }
      return
    }
    if let omission = Writer.omission(of: reading) {
      omitted[omission, default: 0] += 1
      return
    }
    document.removeAll(keepingCapacity: true)
    writer.append(reading, to: &document)
    output.write(TerminalText.json(document))
  }

  func end() -> [String] {
    output.write(writer.footer)
    let leftOut = [(records, "record")] + Writer.Omission.allCases.map { (omitted[$0] ?? 0, $0.noun) }
    return leftOut.filter { $0.0 > 0 }.map { "left out \(counted($0.0, $0.1))" }
  }
}
