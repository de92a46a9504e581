// SPDX-License-Identifier: Apache-2.0

extension RecordState {
  /// The most bytes of a state in canonical JSON, so that every page of a server can hold one and goes on.
  package static let maxBytes = 2 << 20

  /// Canonical JSON with the member names of glucoport-protocol(7): equal states are equal text.
  package var json: String {
    "{\"kind\":\"\(kind.rawValue)\",\"entry_guid\":\(entryGuid.map(jsonText) ?? "null")"
      + ",\"device_time\":\"\(deviceTime.text)\",\"utc_offset\":\"\(DeviceTime.offsetText(placement.utcOffset))\""
      + ",\"offset_source\":\"\(placement.source.name)\",\"fields\":\(fields.json),\"deleted\":\(isDeleted)"
      + ",\"edited_at\":\(editedAt.map { "\"\(DeviceTime(seconds: $0).text)Z\"" } ?? "null")}"
  }

  /// `json` without what is each node's own matter, `offset_source` and `edited_at`: states that agree are equal text.
  package var contentJSON: String {
    "{\"kind\":\"\(kind.rawValue)\",\"entry_guid\":\(entryGuid.map(jsonText) ?? "null")"
      + ",\"device_time\":\"\(deviceTime.text)\",\"utc_offset\":\"\(DeviceTime.offsetText(placement.utcOffset))\""
      + ",\"fields\":\(fields.json),\"deleted\":\(isDeleted)}"
  }

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
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "kind": kind = try scanner.recordKind()
      case "entry_guid": entry = scanner.passes(word: "null") ? nil : try scanner.guid()
      case "device_time": time = try scanner.deviceTime()
      case "utc_offset": offset = try scanner.utcOffset()
      case "offset_source": source = try scanner.offsetSource()
      case "fields": fields = try RecordFields(&scanner)
      case "deleted": isDeleted = try scanner.flag()
      case "edited_at": editedAt = scanner.passes(word: "null") ? nil : try scanner.instant()
      default: return false
      }
      return true
    }
    guard let kind, let time, let offset, let fields, let isDeleted else {
      throw scanner.error("kind, device_time, utc_offset, fields and deleted are expected")
    }
    guard !isDeleted || fields.values.isEmpty else { throw scanner.error("a tombstone with fields") }
    self.init(
      kind: kind, entryGuid: entry, deviceTime: time, placement: Placement(utcOffset: offset, source: source),
      fields: fields, isDeleted: isDeleted, editedAt: editedAt)
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
