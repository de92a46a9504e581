// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Treatments that glucoport made or edited. Each of its records stands whole in the member `glucoport`, under the
/// identity that it has in every store: from what the treatment shows to other programs it would become another one,
/// and a dose would count twice.
extension NightscoutFormat {
  private static let partColumns = ["guid", "state", "digest"] + names.map { "seen." + $0 }
  private static let seenColumn = partColumns.count - names.count
  private static let stateIdentity = GlucoportIdentity(columns: GlucoportColumns.names)
  /// A buffer with less room than this would grow before it reads.
  private static let spareBytes = 64 * 1024 + 1

  /// Takes the records that stand whole in a treatment.
  ///
  /// - Returns: their kinds, where the treatment is another program's and may hold more; nil where all of it was read.
  func readOwnRecords(_ row: Row, into out: inout Collector) -> Set<RecordKind>? {
    guard row[columns[Name.moved]].isEmpty else {
      out.skip("moved in time")
      return nil
    }
    let records = ownRecords(row)
    for record in records { out.add(record) }
    guard row[columns[Name.app]].equals("glucoport") else { return Set(records.map(\.kind)) }
    if records.isEmpty {
      out.reject(row, "a record of glucoport without what it states of it, as an export in JSON has it")
    }
    return nil
  }

  private func ownRecords(_ row: Row) -> [ImportedRecord] {
    let parts = row[columns[Name.parts]]
    guard parts.shape == .composite else { return [] }
    var records: [ImportedRecord] = []
    Self.forEachObject(in: parts.bytes, Self.partColumns) { part in
      if let record = record(part, in: row) { records.append(record) }
    }
    return records
  }

  private func record(_ part: Row, in row: Row) -> ImportedRecord? {
    var found: ImportedRecord?
    Self.forEachObject(in: Self.state(part).utf8, GlucoportColumns.names) { state in
      if case .success(let record) = Self.stateIdentity.record(from: state, guid: part[0]) { found = record }
    }
    guard var record = found else { return nil }
    record.line = row.line
    if !record.deleted { takeEdits(into: &record, part, row) }
    return record
  }

  /// The state's text, with the signs back that API v1 replaces in every text.
  private static func state(_ part: Row) -> String {
    let text = part[1].text
    let plain = unescaped(text)
    var digest = Digest()
    digest.update(plain)
    return part[2].text == digest.hexadecimal() ? plain : text
  }

  /// Gives each object of a JSON text to `body`, which may keep nothing of it.
  private static func forEachObject(
    in json: some Sequence<UInt8>, _ columns: [String], _ body: (Row) -> Void
  ) {
    let list = [UInt8(ascii: "[")] + json + [UInt8(ascii: "]")]
    let text = TextBuffer(ReplaySource(head: list, rest: nil), name: "", capacity: list.count + spareBytes)
    let reader = JSONReader(text, columns: columns)
    do {
      while case .row(let row) = try reader.next() { body(row) }
    } catch {
      // Bytes in memory cannot fail to be read.
    }
  }
}

// MARK: - What other programs edited

extension NightscoutFormat {
  /// What of each kind other programs read and edit, and the field that it is of the record.
  private static func fields(_ kind: RecordKind) -> [(name: Int, field: String)] {
    switch kind {
    case .insulin:
      [(Name.insulin, "units"), (Name.absolute, "rate"), (Name.duration, "minutes"), (Name.notes, "text")]
    case .food:
      [(Name.carbs, "carbs"), (Name.protein, "protein"), (Name.fat, "fat"), (Name.notes, "text")]
    case .exercise: [(Name.duration, "minutes"), (Name.notes, "text")]
    case .note, .annotation, .attachment: [(Name.notes, "text")]
    }
  }

  /// A member that differs from what was written with the state was edited since.
  private func takeEdits(into record: inout ImportedRecord, _ part: Row, _ row: Row) {
    for (name, field) in Self.fields(record.kind) {
      let seen = Self.value(part[Self.seenColumn + name], name)
      let found = Self.value(row[columns[name]], name)
      if seen == found || (name == Name.duration && Self.isRounded(seen, found)) { continue }
      record.fields[field] = found
    }
    guard let seen = part[Self.seenColumn + Name.createdAt].instant?.milliseconds,
      let found = row[columns[Name.createdAt]].instant, found.milliseconds != seen
    else { return }
    let offset = record.placement.utcOffset
    record.deviceTime = DeviceTime(seconds: found.seconds + Int64(offset))
    record.placement = Placement(utcOffset: offset, source: .stated)
  }

  /// Whether the site itself made one of the other: each write of a document rounds its duration to whole minutes.
  private static func isRounded(_ seen: FieldValue?, _ found: FieldValue?) -> Bool {
    guard case .number(let seen)? = seen else { return false }
    let rounded = seen.rounded(.toNearestOrAwayFromZero)
    return found == (rounded == 0 ? nil : .number(rounded))
  }

  /// Servers add and take away what says nothing: nothing, 0 and an empty text are one.
  private static func value(_ field: Field, _ name: Int) -> FieldValue? {
    guard name == Name.notes else { return field.jsonNumber.flatMap { $0 == 0 ? nil : .number($0) } }
    let text = unescaped(field.text).replacing("\0", with: " ")
    return text.isEmpty ? nil : .text(text)
  }

  /// A text as it was before API v1 kept it.
  private static func unescaped(_ text: String) -> String {
    text.utf8.contains(UInt8(ascii: "&"))
      ? text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&") : text
  }
}
