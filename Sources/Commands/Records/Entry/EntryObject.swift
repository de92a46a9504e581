// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook
import LogbookStore

/// A JSON line of `add -`, with the members that `list --format ndjson` prints. A reading needs only its
/// value, and a record only its fields.
struct EntryObject {
  private var texts: [String: String] = [:]
  private var numbers: [String: Double] = [:]
  private var position: Int64?
  private var occurrence: Int64?
  private var fields = RecordFields()
  private var isDeleted = false
  private var isWithdrawn = false
  /// The name of the first unknown member; nil if there is none.
  private var unknown: String?

  /// The members that `list` and `show` print and that do not describe a new item. They are ignored.
  private static let others = Set(
    GlucoportColumns.names + [
      "id", "ingest", "uploaded", "state", "reason", "refused", "revisions", "clock", "version",
      "version_synced",
    ])

  /// - Throws: `Failure` of category `badInput` if the text is not a JSON object with valid members.
  init(json text: String) throws {
    var object = EntryObject()
    do throws(JSONError) {
      try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
        try scanner.object { (name, scanner) throws(JSONError) in try object.read(name, &scanner) }
      }
    } catch {
      throw Failure(
        .badInput, "not an object of 'list --format ndjson': \(error.reason) at byte \(error.offset)")
    }
    if let unknown = object.unknown {
      throw Failure(
        .badInput,
        "'\(displayed(unknown))' is not a member of an object of 'list --format ndjson'; a text is in 'fields' of a record"
      )
    }
    self = object
  }

  private init() {}

  private mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) -> Bool {
    if scanner.consume(word: "null") { return true }
    switch name {
    case "item", "kind", "time", "device_time", "utc_offset", "offset_source", "unit", "range", "marks",
      "vendor",
      "model",
      "serial", "format", "position_kind", "guid", "entry_guid":
      texts[name] = try scanner.string()
    case "value", "threshold": numbers[name] = try scanner.number()
    case "position": position = try scanner.integer()
    case "occurrence": occurrence = try scanner.integer()
    case "fields": fields = try RecordFields(&scanner)
    case "deleted": isDeleted = try scanner.flag()
    case "withdrawn": isWithdrawn = try scanner.flag()
    default:
      if !Self.others.contains(name) { unknown = unknown ?? name }
      return false
    }
    return true
  }

  /// The entry that the object describes.
  ///
  /// - Parameter ids: creates the ids of items without one. If the object has no time, random ids are used
  ///   instead.
  func entry(_ ids: EntryIDs, zone: LogbookZone) throws -> TypedEntry {
    guard !isDeleted else {
      throw Failure(.badInput, "a deleted record cannot be added; 'glucoport import' takes over deletions")
    }
    guard !isWithdrawn else {
      throw Failure(.badInput, "a hidden item cannot be added; 'glucoport import' takes over what is hidden")
    }
    let ids = texts["device_time"] ?? texts["time"] == nil ? EntryIDs.random : ids
    let place = try placedTime(zone)
    let (item, kind) = (texts["item"], texts["kind"] ?? "")
    if let kind = ReadingKind(name: kind), item ?? "reading" == "reading" {
      return TypedEntry(readings: [try reading(kind, ids, place)])
    }
    guard item ?? "record" == "record", let kind = RecordKind(argument: kind) else {
      throw Failure(
        .badInput,
        "'\(displayed(kind))' is not a kind of reading or record that can be added; 'glucoport import -' imports exports"
      )
    }
    var entry = TypedEntry(records: [try record(kind, ids, place)])
    entry.statesTime = texts["device_time"] ?? texts["time"] != nil
    return entry
  }

  /// The time of the entry: the shown time of the object, else its instant, else the current time.
  private func placedTime(_ zone: LogbookZone) throws -> (time: DeviceTime, placement: Placement) {
    guard let time = texts["device_time"] ?? texts["time"] else {
      return TimeArgument.now.placedTime(zone: zone, now: Host.now())
    }
    let isShown = texts["device_time"] != nil
    let source = texts["offset_source"] ?? OffsetSource.stated.name
    let isStated = [OffsetSource.stated.name, OffsetSource.instant.name].contains(source)
    let offset = isShown && isStated ? texts["utc_offset"] ?? "" : ""
    let fault = Failure(
      .badInput,
      isShown
        ? "'device_time' and 'utc_offset' are not a time such as 2026-05-06T18:30:00 and +02:00"
        : "'time' is not a time such as 2026-05-06T16:30:00Z")
    do {
      let at = try TimeArgument.parse(time + offset)
      var placed = at.placedTime(zone: zone, now: Host.now())
      if !offset.isEmpty, source == OffsetSource.instant.name {
        placed.placement = Placement(utcOffset: placed.placement.utcOffset, source: .instant)
      }
      guard at.isComplete, PlausibleTimes(now: nil).contains(placed.time.seconds) else { throw fault }
      guard PlausibleTimes(now: Host.now()).contains(placed.time.seconds) else {
        throw Failure(.badInput, "the time is in the future")
      }
      return placed
    } catch is ValidationError {
      throw fault
    }
  }
}

// MARK: - Readings

extension EntryObject {
  private func reading(
    _ kind: ReadingKind, _ ids: EntryIDs, _ place: (time: DeviceTime, placement: Placement)
  ) throws -> (reading: Reading, device: Device) {
    guard let marks = ReadingMarks(names: (texts["marks"] ?? "").split(separator: " ")) else {
      throw Failure(.badInput, "unknown mark")
    }
    let measurement = try measurement(kind)
    guard let positionKind = texts["position_kind"], let position else {
      guard EntryOptions.kinds.contains(kind) else {
        throw Failure(.badInput, "a reading of kind \(kind.name) needs its device and position")
      }
      let reading = Reading(
        device: DeviceIndex(0), kind: kind, tick: ids.tick(kind), at: place.time, placement: place.placement,
        measurement, marks: marks.union(.manual), line: 0)
      return (reading, .typed)
    }
    guard let positionKind = PositionKind(name: positionKind), Reading.positions.contains(position),
      positionKind == .tick || (position == place.time.seconds && place.placement.source != .instant),
      let occurrence = Int32(exactly: occurrence ?? 0), occurrence >= 0
    else { throw Failure(.badInput, "the position is not one of such a reading") }
    let names = ["vendor", "model", "serial", "format"].map { texts[$0] ?? "" }
    guard names.allSatisfy({ $0.utf8.count <= 256 && !$0.utf8.contains(0) }), !names[3].isEmpty else {
      throw Failure(.badInput, "the device is not one of a reading")
    }
    var reading = Reading(
      device: DeviceIndex(0), kind: kind, at: place.time, placement: place.placement, measurement,
      marks: marks,
      line: 0)
    (reading.positionKind, reading.position, reading.occurrence) = (positionKind, position, occurrence)
    return (reading, Device(vendor: names[0], model: names[1], serial: names[2], format: names[3]))
  }

  private func measurement(_ kind: ReadingKind) throws -> Measurement {
    let stated = kind == .ketone && texts["unit"] == nil ? GlucoseUnit.millimolesPerLitre.name : texts["unit"]
    guard let unit = GlucoseUnit.allCases.first(where: { $0.name == stated }) else {
      throw Failure(.badInput, "'unit' is neither mg/dL nor mmol/L")
    }
    let ranges = kind == .ketone ? PlausibleAmounts.ketones(unit) : PlausibleAmounts.glucose(unit)
    let threshold = numbers["threshold"]
    switch (numbers["value"], texts["range"]) {
    case (let value?, nil):
      guard ranges.contains(value) else {
        throw Failure(
          .badInput,
          PlausibleAmounts.refusal(of: kind == .ketone ? "ketones" : "glucose", outside: ranges, unit))
      }
      return .value(Quantity(value, unit))
    case (nil, "low"?): return .low(below: threshold, unit)
    case (nil, "high"?): return .high(above: threshold, unit)
    default: throw Failure(.badInput, "'value' is missing, or 'range' is neither low nor high")
    }
  }
}

// MARK: - Records

extension EntryObject {
  private func record(
    _ kind: RecordKind, _ ids: EntryIDs, _ place: (time: DeviceTime, placement: Placement)
  ) throws -> (draft: RecordDraft, guid: String) {
    guard !fields.values.isEmpty else { throw Failure(.badInput, "'fields' is missing or empty") }
    for (name, value) in fields.values.sorted(by: { $0.key < $1.key }) {
      guard let field = kind.details?.field(name) else { throw Self.unknownField(name, of: kind) }
      guard field.holds(value) else {
        throw Failure(.badInput, "'\(displayed(name))' has another type")
      }
    }
    if let fault = PlausibleAmounts.fault(of: fields, kind) ?? fields.fault {
      throw Failure(.badInput, fault)
    }
    let (guid, entry) = (texts["guid"], texts["entry_guid"])
    for guid in [guid, entry].compactMap({ $0 }) where !Guid.isValid(guid) {
      throw Failure(.badInput, "invalid guid")
    }
    var draft = RecordDraft(kind: kind, at: place.time, placement: place.placement, fields: fields)
    draft.entryGuid = entry
    return (draft, guid ?? ids.guid(kind))
  }

  /// The failure for an unknown field. It must be refused: lists and totals read only known fields, so a
  /// typing error would lose the amount.
  private static func unknownField(_ name: String, of kind: RecordKind) -> Failure {
    let known = kind.fields.map(\.name)
    let near =
      NearestWord.of(name, among: known) ?? known.first { $0.count >= 4 && name.hasPrefix($0.prefix(4)) }
    let advice = near.map { "did you mean '\($0)'?" } ?? "it has \(known.joined(separator: ", "))."
    return Failure(
      .badInput,
      "\(kind.rawValue) has no field '\(displayed(name))'; \(advice) 'glucoport import -' keeps fields of other programs"
    )
  }
}
