// SPDX-License-Identifier: Apache-2.0

/// The complete content of a record at one time: in a store, in a base, in a conflict or on a remote.
package struct RecordState: Sendable {
  package var kind: RecordKind
  /// The guid of the entry to which the record belongs; nil for an entry.
  package var entryGuid: String?
  /// The shown time. An instant is in UTC here, since each store shows it in the zones of its logbook.
  package var deviceTime: DeviceTime
  /// The UTC offset of the shown time. It is part of the content only if the source stated it. A derived
  /// offset comes from the zones of one store, and is 0 in a state from another store until this store
  /// computes it.
  package var placement: Placement
  /// The fields; empty in a tombstone.
  package var fields: RecordFields
  /// Whether the record is deleted, so that its state is a tombstone.
  package var isDeleted: Bool
  /// When the record was last edited, in UTC seconds by the clock of the editing host; nil if unknown. Only
  /// `conflict resolve --keep newer` compares these times, since a clock may be wrong.
  package var editedAt: Int64?
  /// The origin of the record; nil if unknown. Edits do not change it.
  package var provenance: Provenance?
  /// The age of the export from which an import wrote this content; nil if a person wrote it, or if that is
  /// unknown. Every store compares it with the age of another export of the record. A later export may
  /// correct the content.
  package var export: ExportAge?

  /// The state of a record.
  package init(
    kind: RecordKind, entryGuid: String?, deviceTime: DeviceTime, placement: Placement,
    fields: RecordFields, isDeleted: Bool, editedAt: Int64? = nil,
    provenance: Provenance? = nil, export: ExportAge? = nil
  ) {
    self.kind = kind
    self.entryGuid = entryGuid
    (self.deviceTime, self.placement) = placement.withoutZone(deviceTime)
    self.fields = fields
    self.isDeleted = isDeleted
    self.editedAt = editedAt
    self.provenance = provenance
    self.export = export
  }

  /// Whether this state has a provenance that the other state lacks.
  package func addsProvenance(to other: RecordState) -> Bool {
    provenance != nil && other.provenance == nil
  }

  /// This state, with the given provenance if it has none.
  package func addingProvenance(_ provenance: Provenance?) -> RecordState {
    var state = self
    state.provenance = self.provenance ?? provenance
    return state
  }

  /// SHA-256 of `json` in hexadecimal.
  package var digest: String { Self.digest(of: json) }

  static func digest(of json: String) -> String {
    var digest = Digest()
    digest.update(json)
    return digest.hexadecimal()
  }

  /// The age of the export whose import wrote this state; nil for a tombstone, and for a state that a person
  /// or an undo wrote.
  package var importAge: ExportAge? {
    guard !isDeleted, let export, editedAt == export.instant else { return nil }
    return export
  }

  /// Whether this is the withdrawal of one reading. An import writes such a withdrawal for a stored reading
  /// if the export has a corrected value of it.
  package var isOfOneReading: Bool {
    kind == .withdrawal && fields["subtype"] == .text("reading")
  }

  /// The stated UTC offset in seconds east of Greenwich, 0 for an instant; nil if the zones of the logbook
  /// determine the instant.
  package var statedOffset: Int32? { StatedTime(deviceTime, placement).offset }

  /// Whether both states have the same content, as far as people edit it. Derived offsets are not compared,
  /// since they belong to each store. The time of the edit, the provenance and the export are not content.
  package func agrees(with other: RecordState) -> Bool {
    kind == other.kind && entryGuid == other.entryGuid && deviceTime == other.deviceTime
      && statedOffset == other.statedOffset && fields.json == other.fields.json
      && isDeleted == other.isDeleted
  }
}

extension RecordState: Hashable {
  /// Whether both states have the same content, time of editing, provenance and export.
  package static func == (left: Self, right: Self) -> Bool {
    left.agrees(with: right) && left.editedAt == right.editedAt && left.provenance == right.provenance
      && left.export == right.export
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(deviceTime)
    hasher.combine(fields)
    hasher.combine(editedAt)
  }
}

extension RecordState {
  /// The maximum size of a state in canonical JSON, in bytes. A page of a server has room for a state of this
  /// size.
  package static let maxBytes = 2 << 20

  /// The state as canonical JSON, with the member names of glucoport-protocol(7). Equal states have equal
  /// texts. An unknown provenance or export is left out.
  package var json: String {
    "{\"kind\":\"\(kind.rawValue)\",\"entry_guid\":\(entryGuid.map(jsonText) ?? "null")"
      + ",\"device_time\":\"\(deviceTime.text)\",\"utc_offset\":\(offsetJSON)"
      + ",\"offset_source\":\"\(offsetSource.name)\",\"fields\":\(fields.json),\"deleted\":\(isDeleted)"
      + ",\"edited_at\":\(editedAt.map { "\"\(DeviceTime(seconds: $0).text)Z\"" } ?? "null")"
      + (provenance.map { ",\"provenance\":\($0.json)" } ?? "")
      + (export.map { ",\"export\":\($0.json)}" } ?? "}")
  }

  /// The state as JSON, with only the parts that `agrees(with:)` compares. States that agree have equal
  /// texts.
  package var contentJSON: String {
    "{\"kind\":\"\(kind.rawValue)\",\"entry_guid\":\(entryGuid.map(jsonText) ?? "null")"
      + ",\"device_time\":\"\(deviceTime.text)\",\"utc_offset\":\(offsetJSON)"
      + ",\"fields\":\(fields.json),\"deleted\":\(isDeleted)}"
  }

  private var offsetJSON: String { statedOffset.map { "\"\(DeviceTime.offsetText($0))\"" } ?? "null" }
  private var offsetSource: OffsetSource {
    placement.source == .instant ? .instant : statedOffset == nil ? .zone : .stated
  }

  /// Parses a state from a JSON text.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
      try RecordState(&scanner)
    }
  }

  /// Reads a state from a JSON object.
  package init(_ scanner: inout JSONScanner) throws(JSONError) {
    var kind: RecordKind?
    var entry: String?
    var time: DeviceTime?
    var offset: Int32?
    var source = OffsetSource.stated
    var fields: RecordFields?
    var isDeleted: Bool?
    var editedAt: Int64?
    var provenance: Provenance?
    var export: ExportAge?
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "kind": kind = try scanner.recordKind()
      case "entry_guid": entry = scanner.consume(word: "null") ? nil : try scanner.guid()
      case "device_time": time = try scanner.deviceTime()
      case "utc_offset": offset = scanner.consume(word: "null") ? nil : try scanner.utcOffset()
      case "offset_source": source = try scanner.offsetSource()
      case "fields": fields = try RecordFields(&scanner)
      case "deleted": isDeleted = try scanner.flag()
      case "edited_at": editedAt = scanner.consume(word: "null") ? nil : try scanner.instant()
      case "provenance": provenance = scanner.consume(word: "null") ? nil : try Provenance(&scanner)
      case "export": export = scanner.consume(word: "null") ? nil : try ExportAge(&scanner)
      default: return false
      }
      return true
    }
    guard let kind, let time, let fields, let isDeleted, offset != nil || source.placesShownTime else {
      throw scanner.error(
        "kind, device_time, utc_offset or an offset source, fields and deleted are expected")
    }
    // The offset that another node derived is not used here. The store computes it from its own zones.
    let placement =
      source.placesShownTime
      ? Placement(utcOffset: 0, source: .zone) : Placement(utcOffset: offset ?? 0, source: source)
    guard !isDeleted || fields.values.isEmpty else { throw scanner.error("a tombstone with fields") }
    self.init(
      kind: kind, entryGuid: entry, deviceTime: time, placement: placement, fields: fields,
      isDeleted: isDeleted, editedAt: editedAt, provenance: provenance, export: export)
  }
}

extension JSONScanner {
  fileprivate mutating func recordKind() throws(JSONError) -> RecordKind {
    guard let kind = RecordKind(rawValue: try string()) else {
      throw error("a kind of 1 to 32 lower-case letters and hyphens is expected")
    }
    return kind
  }

  fileprivate mutating func offsetSource() throws(JSONError) -> OffsetSource {
    guard let source = OffsetSource(name: try string()) else {
      throw error("an offset source that does not exist")
    }
    return source
  }
}
