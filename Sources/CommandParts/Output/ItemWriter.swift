// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logbook
package import LogbookStore

/// Writes stored items in one output format, in the order in which they come.
package protocol ItemWriter {
  mutating func begin()
  mutating func write(_ item: StoredItem)
  /// Ends the output. Returns messages about contents that the output format cannot represent.
  mutating func end() -> [String]
}

/// Writes items as a table of text.
package struct TableWriter: ItemWriter {
  let output: Output
  let unit: GlucoseUnit?
  let isLong: Bool
  /// Whether readings are shown with their short ids, in the column in which records have their ids.
  let showsIDs: Bool
  /// Whether items that wait for an upload are marked. Without a remote, every item waits, so a mark would
  /// mean nothing.
  let marksQueued: Bool
  /// What the uploads do at present. It decides whether a pending item is marked as queued or as syncing.
  let activity: SyncActivity
  /// Draws the bar that follows each value; nil for a table without bars.
  let bars: ListBars?

  /// A table writer. By default, its table has none of the optional columns.
  package init(
    output: Output, unit: GlucoseUnit?, isLong: Bool, showsIDs: Bool = false, marksQueued: Bool = false,
    activity: SyncActivity = .none, bars: ListBars? = nil
  ) {
    (self.output, self.unit, self.isLong, self.showsIDs) = (output, unit, isLong, showsIDs)
    (self.marksQueued, self.activity, self.bars) = (marksQueued, activity, bars)
  }

  package func begin() {}

  package func write(_ item: StoredItem) { output.line(line(item)) }

  package func end() -> [String] { [] }

  /// An item as one line of the table.
  package func line(_ item: StoredItem) -> String {
    switch item {
    case .reading(let reading): line(reading)
    case .record(let record): line(record)
    }
  }

  private func line(_ reading: StoredReading) -> String {
    let shownUnit = reading.kind == .ketone ? reading.measurement.unit : unit ?? reading.measurement.unit
    let marks = (reading.marks.names + (reading.isWithdrawn ? ["hidden"] : [])).joined(separator: " ")
    var text =
      "\(time(reading.deviceTime))  \(padded(reading.kind.name, 8)) \(padded(value(reading.measurement, shownUnit), 6, right: true)) \(padded(shownUnit.name, 6))"
    if let bar = bars?.text(reading) { text += "  " + bar }
    if isLong { text += "  \(displayed(deviceName(reading.device)))  \(reading.address)" }
    if !marks.isEmpty { text += "  \(marks)" }
    if showsIDs, !isLong { text += "  \(reading.shortID)" }
    if isLong { text += mark(reading.syncState(activity)) }
    // The bar of a value in the target range ends with blanks. They would wrap on a narrow terminal, and show
    // in comparisons of two outputs.
    while bars != nil, text.last == " " { text.removeLast() }
    return text
  }

  private func line(_ record: StoredRecord) -> String {
    let state = (record.isDeleted ? "  (deleted)" : "") + (record.isWithdrawn ? "  (hidden)" : "")
    let id = isLong ? record.guid : String(record.guid.prefix(8))
    return
      "\(time(record.deviceTime))  \(padded(record.kind.rawValue, 8)) \(displayed(RecordText.summary(record)))  \(id)\(state)\(mark(record.syncState(activity)))"
  }

  private func mark(_ state: SyncState) -> String {
    if state == .queued(.waiting), !marksQueued { return "" }
    let text = SyncText.mark(state)
    return text.isEmpty ? "" : "  (\(text))"
  }

  private func time(_ time: DeviceTime) -> String { time.text.replacing("T", with: " ") }
}

/// A text with blanks to the width of a column, after it or, if `right` is set, before it.
package func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
  let blanks = String(repeating: " ", count: max(0, width - text.count))
  return right ? blanks + text : text + blanks
}

/// A measured value in this unit, without the name of the unit, or `LO` or `HI`.
package func value(_ measurement: Measurement, _ unit: GlucoseUnit) -> String {
  switch measurement {
  case .value(let quantity): quantity.displayed(in: unit)
  case .low: "LO"
  case .high: "HI"
  }
}

/// Writes items in glucoport's own format, from which `import` reads them without loss.
package struct OwnFormatWriter: ItemWriter {
  private let output: Output
  private var writer: GlucoportWriter
  private let isJSON: Bool
  private var line: [UInt8] = []

  /// A writer for CSV or NDJSON. With `inBothUnits`, glucose values are written in both units.
  package init(_ form: GlucoportWriter.Form, inBothUnits: Bool, _ output: Output) {
    self.output = output
    isJSON = if case .ndjson = form { true } else { false }
    writer = GlucoportWriter(form, inBothUnits: inBothUnits)
  }

  package func begin() { output.write(writer.header) }

  package mutating func write(_ item: StoredItem) {
    line.removeAll(keepingCapacity: true)
    writer.append(GlucoportItem(item), to: &line)
    output.write(isJSON ? TerminalText.json(line) : line)
  }

  package func end() -> [String] { [] }
}

/// An item as glucoport's own format has it.
extension GlucoportItem {
  /// Converts a stored item.
  package init(_ item: StoredItem) {
    switch item {
    case .reading(let reading): self = .reading(GlucoportReading(reading))
    case .record(let record): self = .record(GlucoportRecord(record))
    }
  }
}

extension GlucoportReading {
  fileprivate init(_ reading: StoredReading) {
    self.init(
      device: reading.device, kind: reading.kind, deviceTime: reading.deviceTime,
      placement: reading.placement,
      measurement: reading.measurement, marks: reading.marks, isWithdrawn: reading.isWithdrawn,
      positionKind: reading.positionKind, position: reading.position, valueBucket: reading.valueBucket,
      occurrence: reading.occurrence)
  }
}

extension GlucoportRecord {
  fileprivate init(_ record: StoredRecord) {
    self.init(
      guid: record.guid, kind: record.kind, entryGuid: record.entryGuid, deviceTime: record.deviceTime,
      placement: record.placement, fields: record.fields, provenance: record.provenance,
      isDeleted: record.isDeleted)
  }
}
