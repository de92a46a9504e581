// SPDX-License-Identifier: Apache-2.0

extension RecordState {
  /// The maximum size of a state in canonical JSON. Every page of a server can hold one.
  package static let maxBytes = 2 << 20

  /// Canonical JSON with the member names of glucoport-protocol(7): equal states are equal text. An unknown provenance
  /// has no member.
  package var json: String {
    "{\"kind\":\"\(kind.rawValue)\",\"entry_guid\":\(entryGuid.map(jsonText) ?? "null")"
      + ",\"device_time\":\"\(deviceTime.text)\",\"utc_offset\":\(offsetJSON)"
      + ",\"offset_source\":\"\(offsetSource.name)\",\"fields\":\(fields.json),\"deleted\":\(isDeleted)"
      + ",\"edited_at\":\(editedAt.map { "\"\(DeviceTime(seconds: $0).text)Z\"" } ?? "null")"
      + (provenance.map { ",\"provenance\":\($0.json)}" } ?? "}")
  }

  /// `json` without the parts that `agrees(with:)` ignores: states that agree are equal text.
  package var contentJSON: String {
    "{\"kind\":\"\(kind.rawValue)\",\"entry_guid\":\(entryGuid.map(jsonText) ?? "null")"
      + ",\"device_time\":\"\(deviceTime.text)\",\"utc_offset\":\(offsetJSON)"
      + ",\"fields\":\(fields.json),\"deleted\":\(isDeleted)}"
  }

  private var offsetJSON: String { statedOffset.map { "\"\(DeviceTime.offsetText($0))\"" } ?? "null" }
  private var offsetSource: OffsetSource { statedOffset == nil ? .zone : .stated }

  /// The state in a JSON text.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
      try RecordState(&scanner)
    }
  }

  /// Reads the object of a state.
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
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "kind": kind = try scanner.recordKind()
      case "entry_guid": entry = scanner.passes(word: "null") ? nil : try scanner.guid()
      case "device_time": time = try scanner.deviceTime()
      case "utc_offset": offset = scanner.passes(word: "null") ? nil : try scanner.utcOffset()
      case "offset_source": source = try scanner.offsetSource()
      case "fields": fields = try RecordFields(&scanner)
      case "deleted": isDeleted = try scanner.flag()
      case "edited_at": editedAt = scanner.passes(word: "null") ? nil : try scanner.instant()
      case "provenance": provenance = scanner.passes(word: "null") ? nil : try Provenance(&scanner)
      default: return false
      }
      return true
    }
    guard let kind, let time, let fields, let isDeleted, offset != nil || source.isDerived else {
      throw scanner.error(
        "kind, device_time, utc_offset or an offset source, fields and deleted are expected")
    }
    // The placement by another node is not used here.
    let placement = Placement(
      utcOffset: source.isDerived ? 0 : offset ?? 0, source: source.isDerived ? .zone : .stated)
    guard !isDeleted || fields.values.isEmpty else { throw scanner.error("a tombstone with fields") }
    self.init(
      kind: kind, entryGuid: entry, deviceTime: time, placement: placement, fields: fields,
      isDeleted: isDeleted, editedAt: editedAt, provenance: provenance)
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
