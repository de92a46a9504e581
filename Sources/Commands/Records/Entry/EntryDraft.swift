// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore

/// Chooses the ids of an entry's items: random ids, or ids that are derived from the typed line. A line with
/// a complete time gets the same ids each time the input is read. So a file of lines can be read repeatedly.
struct EntryIDs {
  private let line: [String]

  /// Random ids, different for each item.
  static let random = EntryIDs(line: [])

  /// Derives the ids from a line.
  ///
  /// - Parameter number: how many equal lines precede this line in the input. Equal lines of one input thus
  ///   get different ids.
  init(line: String, number: Int) { self.line = ["typed-line", line, String(number)] }

  private init(line: [String]) { self.line = line }

  func guid(_ kind: RecordKind) -> String {
    line.isEmpty ? Host.randomUUID() : Digest.uuid(of: line + ["record", kind.rawValue])
  }

  func tick(_ kind: ReadingKind) -> Int64 {
    if line.isEmpty { return Host.randomTick() }
    let bytes = Digest.uuidBytes(of: line + ["reading", kind.name])
    // Eight bytes of the UUID, without the two bytes that hold its version and variant. The eight bytes are
    // as evenly distributed as random bytes.
    let number = (Array(bytes[0..<6]) + [bytes[7], bytes[9]]).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let ticks = Device.typedTicks
    return ticks.lowerBound + Int64(number % UInt64(ticks.upperBound - ticks.lowerBound))
  }
}

/// An entry to be added, from its typed words and options.
struct EntryDraft {
  private let words: EntryWords
  private let marks: ReadingMarks
  private let time: DeviceTime
  private let placement: Placement

  /// - Parameter zone: the zone of the logbook, which applies to a time without an offset.
  init(_ words: EntryWords, _ options: EntryOptions, zone: LogbookZone) {
    self.words = words
    marks = options.readingMarks
    (time, placement) = (options.at ?? .now).placedTime(zone: zone, now: Host.now())
  }

  /// One line for each item of the entry. With `--ask`, a person sees the lines before the entry is added.
  var lines: [String] {
    let shown = time.text.replacing("T", with: " ")
    let readings = words.readings.map { reading in
      "\(shown)  \(reading.kind.name) \(value(reading.measurement, reading.measurement.unit)) \(reading.measurement.unit.name)  \(marks.names.joined(separator: " "))"
    }
    return readings
      + records(.random, of: nil).map {
        "\(shown)  \($0.draft.kind.rawValue) \(displayed(RecordText.summary($0.draft.kind, fields: $0.draft.fields.json)))"
      }
  }

  /// The items of the entry, with their ids.
  func entry(_ ids: EntryIDs) -> TypedEntry {
    // The readings are made only once, since random ids differ at each call.
    let readings = words.readings.map { reading($0, ids) }
    return TypedEntry(readings: readings.map { ($0, .typed) }, records: records(ids, of: readings.first))
  }

  private func reading(_ typed: EntryWords.TypedValue, _ ids: EntryIDs) -> Reading {
    Reading(
      device: DeviceIndex(0), kind: typed.kind, tick: ids.tick(typed.kind), at: time, placement: placement,
      typed.measurement, marks: marks, line: 0)
  }

  private func records(_ ids: EntryIDs, of reading: Reading?) -> [(draft: RecordDraft, guid: String)] {
    var records = EntryWords.recordKinds.compactMap { kind in
      words.changes[kind].map { (record(kind, $0.applied(to: RecordFields())), ids.guid(kind)) }
    }
    if let text = words.text {
      if records.isEmpty {
        records = [textRecord(text, ids, of: reading)]
      } else {
        records[0].0.fields["text"] = .text(text)
      }
    }
    let entry = records.first?.1
    for index in records.indices.dropFirst() { records[index].0.entryGuid = entry }
    return records.map { (draft: $0.0, guid: $0.1) }
  }

  /// The record for the text of an entry without doses, food and exercise. It annotates the reading of the
  /// entry, or is a note if the entry has no reading.
  private func textRecord(_ text: String, _ ids: EntryIDs, of reading: Reading?) -> (RecordDraft, String) {
    var fields = RecordFields(["text": .text(text)])
    guard words.readings.isEmpty else {
      if let reading { fields["reading"] = .text(ReadingIdentity(reading, .typed).text) }
      return (record(.annotation, fields), ids.guid(.annotation))
    }
    if let subtype = words.noteSubtype { fields["subtype"] = .text(subtype) }
    return (record(.note, fields), ids.guid(.note))
  }

  private func record(_ kind: RecordKind, _ fields: RecordFields) -> RecordDraft {
    RecordDraft(kind: kind, at: time, placement: placement, fields: fields)
  }
}
