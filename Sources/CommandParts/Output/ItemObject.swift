// SPDX-License-Identifier: Apache-2.0

import Formats
import Ingest
package import Logbook
package import LogbookStore

/// An item for `show --json`: the members of its export, and its state in the store.
struct ItemObject: Encodable {
  enum Details {
    case reading(ReadingObject)
    case record(RecordObject)
  }

  let cells: GlucoportCells
  let details: Details

  func encode(to encoder: any Encoder) throws {
    try cells.encode(to: encoder)
    switch details {
    case .reading(let reading): try reading.encode(to: encoder)
    case .record(let record): try record.encode(to: encoder)
    }
  }
}

/// The members that only a stored reading has, for `show --json`.
struct ReadingObject: Encodable {
  let id: String
  let ingest: Int64
  let uploaded: Bool
  let state: String
  let reason: String?
  let refused: String?
  let revisions: [RevisionObject]
  let clock: ClockObject?
  let clockOffset: String?
  let baseTime: String?
}

/// A value that the source had for this reading in another import.
struct RevisionObject: Encodable {
  let value: String
  let unit: String
  let ingest: Int64
}

/// The members that only a stored record has, for `show --json`.
struct RecordObject: Encodable {
  let withdrawn: Bool
  let version: Int
  let versionSynced: Int
  let state: String
  let reason: String?
  let refused: String?
  let ingest: Int64?
}

/// All facts about one item, as lines of text and as the object of `show --json`.
package struct ItemDetails {
  private let store: Store

  /// Prepares the output of items that are in this store.
  package init(_ store: Store) { self.store = store }

  /// Prints an item as one JSON object or as lines of text.
  package func write(_ item: StoredItem, asJSON: Bool, _ output: Output) throws {
    try output.result(asJSON: asJSON, object(item), orLines: lines(item))
  }

  /// The object of `show --json`; glucoport-json(5) documents its members.
  func object(_ item: StoredItem) throws -> ItemObject {
    let cells = GlucoportCells(GlucoportItem(item))
    switch item {
    case .reading(let reading): return ItemObject(cells: cells, details: .reading(try object(reading)))
    case .record(let record): return ItemObject(cells: cells, details: .record(try object(record)))
    }
  }

  /// The facts about an item, with one line for each.
  func lines(_ item: StoredItem) throws -> [String] {
    let cells = GlucoportCells(GlucoportItem(item))
    let parts = GlucoportColumn.allCases.compactMap { column -> String? in
      let text = shown(column, of: item) ?? cells.text(column)
      return text.isEmpty ? nil : line(column.name, displayed(text))
    }
    return try parts + moreLines(item)
  }

  /// The text of a column if it differs from that in an export, otherwise nil. Numbers are as the meter shows
  /// them, and flags have a text only if they are set.
  private func shown(_ column: GlucoportColumn, of item: StoredItem) -> String? {
    let reading: StoredReading
    switch item {
    case .reading(let item): reading = item
    case .record(let record): return column == .provenance ? shown(record.provenance) : nil
    }
    switch (column, reading.measurement) {
    case (.withdrawn, _): return reading.isWithdrawn ? "yes" : ""
    case (.value, .value(let quantity)): return quantity.displayed(in: quantity.unit)
    case (.threshold, .low(let limit?, let unit)), (.threshold, .high(let limit?, let unit)):
      return Quantity(limit, unit).displayed(in: unit)
    default: return nil
    }
  }
}

extension ItemDetails {
  private func shown(_ provenance: Provenance?) -> String? {
    provenance.map { $0.source.isEmpty ? $0.format : "\($0.format), \($0.source)" }
  }

  private func object(_ reading: StoredReading) throws -> ReadingObject {
    let state = try reading.syncState(store.activity())
    let ingest = try store.ingest(reading.ingest)
    let offset = try ClockOffset(of: reading, in: ingest)
    return ReadingObject(
      id: reading.address, ingest: reading.ingest, uploaded: reading.isUploaded, state: state.name,
      reason: state.reason?.name, refused: reading.refusal,
      revisions: try store.revisions(of: reading).map {
        RevisionObject(
          value: value($0.measurement, $0.measurement.unit), unit: $0.measurement.unit.name, ingest: $0.ingest
        )
      },
      clock: ingest?.clock.map(ClockObject.init), clockOffset: offset?.text, baseTime: offset?.baseTime?.text)
  }

  private func object(_ record: StoredRecord) throws -> RecordObject {
    let state = try record.syncState(store.activity())
    return RecordObject(
      withdrawn: record.isWithdrawn, version: record.version, versionSynced: record.versionSynced,
      state: state.name,
      reason: state.reason?.name, refused: try refusal(of: record), ingest: record.ingest)
  }

  private func moreLines(_ item: StoredItem) throws -> [String] {
    switch item {
    case .reading(let reading):
      let changed = try store.revisions(of: reading).map { revision in
        let text = value(revision.measurement, revision.measurement.unit)
        return line(
          "changed",
          "\(text) \(revision.measurement.unit.name) in ingest \(revision.ingest)\(try source(of: revision.ingest))"
        )
      }
      return [
        line("ingest", "\(reading.ingest)\(try source(of: reading.ingest))"),
        line("uploaded", reading.isUploaded ? "yes" : "no"),
      ] + stateLine(try reading.syncState(store.activity())) + (try clockLines(reading))
        + refusalLine(reading.refusal)
        + changed
    case .record(let record):
      let ingest = try record.ingest.map { [line("ingest", "\($0)\(try source(of: $0))")] } ?? []
      return [line("version", "\(record.version), synced \(record.versionSynced)")]
        + (record.isWithdrawn ? [line("hidden", "yes")] : [])
        + stateLine(try record.syncState(store.activity())) + refusalLine(try refusal(of: record)) + ingest
    }
  }

  /// The line with the sync state; none if the item is synced.
  private func stateLine(_ state: SyncState) -> [String] {
    let advice = state.reason == .conflict ? "; see 'glucoport conflict show'" : ""
    return state == .synced ? [] : [line("state", SyncText.mark(state) + advice)]
  }

  /// Why the remote refused the record, else why it refused the content of one of the record's attachments.
  /// Nil if the remote refused neither.
  private func refusal(of record: StoredRecord) throws -> String? {
    try record.refusal ?? store.attachments(of: record.guid).lazy.compactMap(\.refusal).first
  }

  private func refusalLine(_ reason: String?) -> [String] {
    reason.map { [line("refused", displayed($0))] } ?? []
  }

  /// Lines about the meter's clock: what it showed at the import of this reading, and how far shown times are
  /// from the meter's internal clock. If the import found only one such difference, the time of the reading
  /// on the internal clock is added.
  private func clockLines(_ reading: StoredReading) throws -> [String] {
    let ingest = try store.ingest(reading.ingest)
    let offset = try ClockOffset(of: reading, in: ingest)
    let base = offset?.baseTime.map { ", so \($0.text.replacing("T", with: " "))" } ?? ""
    return (ingest?.clock.map { [line("clock", MeterText.line($0))] } ?? [])
      + (offset.map { [line("clock-offset", displayed($0.text) + base)] } ?? [])
  }

  private func line(_ name: String, _ text: String) -> String {
    name + String(repeating: " ", count: 15 - name.count) + text
  }

  private func source(of ingest: Int64) throws -> String {
    try store.ingest(ingest).map { ", \(displayed($0.source)) (\($0.format))" } ?? ""
  }
}

/// The difference between a meter's shown times and its internal clock (base time), as an import stored it.
private struct ClockOffset {
  /// The offset as text, such as `base time +600 min`. If the import found several offsets, the text has all
  /// of them.
  let text: String
  /// The time of the reading on the internal clock; nil if the import found several offsets.
  let baseTime: DeviceTime?

  /// Reads the offset from the decisions of an import. The result is nil if the import stored none.
  init?(of reading: StoredReading, in ingest: IngestEntry?) throws {
    let decisions = try ingest?.readDecisions() ?? []
    guard let decision = decisions.first(where: { $0.subject == MeterIngestor.clockOffsetSubject }) else {
      return nil
    }
    text = decision.value
    let words = text.split(separator: " ")
    let minutes = words.count == 4 && words[3] == "min" ? Int64(words[2]) : nil
    baseTime = minutes.map { DeviceTime(seconds: reading.deviceTime.seconds - $0 * 60) }
  }
}

/// The texts about a record.
package enum RecordText {
  static func summary(_ record: StoredRecord) -> String { summary(record.kind, fields: record.fields) }

  /// The summary of a record in one line, from its kind and the JSON of its fields.
  package static func summary(_ kind: RecordKind, fields json: String) -> String {
    let values: [String: FieldValue]
    do {
      values = try RecordFields(uncheckedJSON: json).values
    } catch {
      // Other programs may write fields that glucoport cannot read. Their JSON is shown unchanged.
      return json
    }
    if kind == .attachment, values["name"] != nil { return AttachmentText.summary(values) }
    // The id of the annotated reading means nothing to a person, so it is left out if there is a text. `show`
    // prints it.
    let fields = kind.fields.filter { kind != .annotation || $0.name != "reading" || values["text"] == nil }
    let described = fields.compactMap { field in values[field.name].map { part(field.name, field.label, $0) }
    }
    // `others` are fields that another program has written, and that glucoport does not have for this kind of
    // record.
    let others = values.filter { name, _ in !kind.fields.contains { $0.name == name } }.sorted {
      $0.key < $1.key
    }
    return (described + others.map { part($0.key, .name, $0.value) }).joined(separator: " · ")
  }

  private static func part(_ name: String, _ label: RecordField.Label, _ value: FieldValue) -> String {
    if case .flag(let isSet) = value { return isSet ? name : "not \(name)" }
    let text = text(value)
    switch label {
    case .plain: return text
    case .name: return "\(name) \(text)"
    case .unit(let unit): return "\(text) \(unit)"
    case .count(let one, let many): return "\(text) \(value == .number(1) ? one : many)"
    }
  }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .number(let number): plainNumber(number)
    case .text(let text): text
    case .flag(let isSet): String(isSet)
    case .words(let words): words.joined(separator: ", ")
    }
  }
}

extension Store {
  /// The record whose id a person typed, perhaps only its first characters.
  ///
  /// - Throws: `Failure`: `missingInput` if no record matches, `usage` if several do, or if the id is that of
  ///   a reading.
  package func record(named id: String) throws -> StoredRecord {
    let isGuidStart = id.count >= 4 && id.allSatisfy { $0.isHexDigit || $0 == "-" }
    let found = isGuidStart ? try records(guidPrefix: id.lowercased()) : []
    guard let record = found.first else {
      // An export contains a record for the base time zone, even if the store has no record with this id. So
      // a person may type the id.
      if isGuidStart, LogbookZones.baseGuid.hasPrefix(id.lowercased()) {
        throw Failure.zoneRecord(LogbookZones.baseGuid)
      }
      if try reading(at: id) != nil {
        throw Failure(
          .usage,
          "\(id): this is a reading, which never changes; to hide it: 'glucoport reading hide \(id)'"
        )
      }
      throw Failure(
        .missingInput,
        "\(displayed(id)): no such reading or record; 'glucoport list --long' shows the ids")
    }
    guard found.count == 1 else {
      throw Failure(
        .usage, "\(id): \(found.count) records have ids that begin like this; write more of the id")
    }
    return record
  }
}
