// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// Records and their changes as glucoport-protocol(7) writes them.
public enum RecordWire {
  static let maxFields = 256
  static let maxWords = 1024
  /// The longest text of a record in bytes.
  static let longestText = 1 << 20
  static let longestToken = 128

  /// The object of one change, as `POST /v1/records` takes it and as the store keeps it until it is answered.
  public static func json(_ change: RecordChange) -> String {
    "{\"guid\":\(jsonText(change.guid)),\"node\":\(jsonText(change.node)),\"version\":\(change.version),\"digest\":\"\(change.digest)\""
      + ",\"base\":\(change.base.map(jsonText) ?? "null"),\"state\":\(change.state.json)}"
  }

  /// Reads the object of one change.
  public static func readChange(_ reader: inout WireReader) throws(WireError) -> RecordChange {
    var guid: String?
    var node: String?
    var version: Int?
    var base: String?
    var digest: String?
    var state: RecordState?
    try reader.object { (name, reader) throws(WireError) in
      switch name {
      case "guid": guid = try readGuid(&reader)
      case "node": node = try readGuid(&reader)
      case "version": version = Int(try reader.integer())
      case "base": base = try readOptionalToken(&reader)
      case "digest": digest = try readToken(&reader)
      case "state": state = try readState(&reader)
      default: return false
      }
      return true
    }
    guard let guid, let node, let version, version > 0, let state, let digest else {
      throw reader.error("guid, node, version, digest and state are expected")
    }
    guard state.json.utf8.count <= Wire.maxStateBytes else {
      throw reader.error("a state of more than \(Wire.maxStateBytes) bytes")
    }
    guard digest == state.digest else { throw reader.error("a digest that is not that of the state") }
    return RecordChange(guid: guid, node: node, version: version, base: base, state: state)
  }

  /// Reads a state.
  public static func readState(_ reader: inout WireReader) throws(WireError) -> RecordState {
    var kind: RecordKind?
    var entry: String?
    var time: DeviceTime?
    var offset: Int32?
    var source = OffsetSource.stated
    var fields: RecordFields?
    var isDeleted: Bool?
    var editedAt: Int64?
    try reader.object { (name, reader) throws(WireError) in
      switch name {
      case "kind":
        kind = RecordKind(rawValue: try reader.string())
        guard kind != nil else { throw reader.error("a kind of record that does not exist") }
      case "entry_guid": entry = reader.passes(word: "null") ? nil : try readGuid(&reader)
      case "device_time": time = try reader.deviceTime()
      case "utc_offset": offset = try reader.utcOffset()
      case "offset_source":
        let name = try reader.string()
        guard let known = OffsetSource(name: name) else {
          throw reader.error("an offset source that does not exist")
        }
        source = known
      case "fields": fields = try readFields(&reader)
      case "deleted": isDeleted = try reader.flag()
      case "edited_at": editedAt = reader.passes(word: "null") ? nil : try reader.instant()
      default: return false
      }
      return true
    }
    guard let kind, let time, let offset, let fields, let isDeleted else {
      throw reader.error("kind, device_time, utc_offset, fields and deleted are expected")
    }
    guard !isDeleted || fields.values.isEmpty else { throw reader.error("a tombstone with fields") }
    return RecordState(
      kind: kind, entryGuid: entry, deviceTime: time, placement: Placement(utcOffset: offset, source: source),
      fields: fields, isDeleted: isDeleted, editedAt: editedAt)
  }

  /// The state in JSON text that the store keeps.
  public static func state(_ text: String) throws(WireError) -> RecordState {
    try WireReader.read(Array(text.utf8)) { (reader) throws(WireError) in try readState(&reader) }
  }

  /// The fields in JSON text that the store keeps.
  public static func fields(_ text: String) throws(WireError) -> RecordFields {
    try WireReader.read(Array(text.utf8)) { (reader) throws(WireError) in try readFields(&reader) }
  }

  /// The change in JSON text that the store keeps.
  public static func change(_ text: String) throws(WireError) -> RecordChange {
    try WireReader.read(Array(text.utf8)) { (reader) throws(WireError) in try readChange(&reader) }
  }

  /// Reads the fields of a record: numbers, texts, flags and lists of words.
  public static func readFields(_ reader: inout WireReader) throws(WireError) -> RecordFields {
    var values: [String: FieldValue] = [:]
    try reader.object { (name, reader) throws(WireError) in
      guard values.count < maxFields, name.utf8.count <= longestToken else {
        throw reader.error("more than \(maxFields) fields, or a longer name than \(longestToken) bytes")
      }
      guard values[name] == nil else { throw reader.error("a field that stands there twice") }
      values[name] = try readValue(&reader)
      return true
    }
    return RecordFields(values)
  }

  private static func readValue(_ reader: inout WireReader) throws(WireError) -> FieldValue {
    switch reader.peek() {
    case UInt8(ascii: "\""): return .text(try readText(&reader))
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag(try reader.flag())
    case UInt8(ascii: "["):
      var words: Set<String> = []
      try reader.array { (reader) throws(WireError) in
        guard words.count < maxWords else { throw reader.error("more than \(maxWords) words") }
        words.insert(try readText(&reader))
      }
      return .words(words.sorted())
    default: return .number(try reader.number())
    }
  }

  private static func readText(_ reader: inout WireReader) throws(WireError) -> String {
    let text = try reader.string()
    guard text.utf8.count <= longestText, !text.utf8.contains(0) else {
      throw reader.error("a text that is longer than \(longestText) bytes, or holds a NUL")
    }
    return text
  }

  /// Reads the identity of a record: 36 lower-case characters of a UUID.
  public static func readGuid(_ reader: inout WireReader) throws(WireError) -> String {
    let text = try reader.string()
    guard isGuid(text) else { throw reader.error("a UUID in lower case is expected") }
    return text
  }

  /// Whether a text is a UUID in lower case.
  public static func isGuid(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        switch index {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default: (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)
        }
      }
  }

  static func readToken(_ reader: inout WireReader) throws(WireError) -> String {
    let text = try reader.string()
    guard !text.isEmpty, text.utf8.count <= longestToken, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw reader.error("a mark of 1 to \(longestToken) visible ASCII characters is expected")
    }
    return text
  }

  static func readOptionalToken(_ reader: inout WireReader) throws(WireError) -> String? {
    reader.passes(word: "null") ? nil : try readToken(&reader)
  }
}
