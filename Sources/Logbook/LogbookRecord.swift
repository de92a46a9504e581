// SPDX-License-Identifier: Apache-2.0

/// What a record is about.
public enum RecordKind: String, CaseIterable, Sendable {
  case insulin, food, exercise, note, annotation, attachment
}

/// One value among the fields of a record.
public enum FieldValue: Hashable, Sendable {
  case number(Double)
  case text(String)
  case flag(Bool)
  /// A set of words, such as tags: kept sorted, so that their order in an export means nothing.
  case words([String])
}

/// The content of a record: field names to values. The names in use are listed in glucoport-json(5).
public struct RecordFields: Hashable, Sendable {
  /// The values by field name.
  public var values: [String: FieldValue]

  /// Fields with these values.
  public init(_ values: [String: FieldValue] = [:]) { self.values = values }

  /// The value of a field; nil when the source gave none.
  public subscript(name: String) -> FieldValue? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// The text of the field `subtype`; empty without one.
  public var subtype: String {
    if case .text(let subtype)? = values["subtype"] { subtype } else { "" }
  }

  /// Canonical JSON: names sorted, numbers in their shortest form, so that equal content is equal text.
  public var json: String {
    var text = "{"
    for (index, name) in values.keys.sorted().enumerated() {
      if index > 0 { text += "," }
      text += jsonText(name) + ":"
      switch values[name] {
      case .number(let number): text += plainNumber(number)
      case .text(let value): text += jsonText(value)
      case .flag(let value): text += value ? "true" : "false"
      case .words(let words):
        text += "[" + Set(words).sorted().map(jsonText).joined(separator: ",") + "]"
      case nil: text += "null"
      }
    }
    return text + "}"
  }
}

/// A record as an import brings it, before the store knows whether it is new.
public struct ImportedRecord: Sendable {
  /// What the record is about.
  public var kind: RecordKind
  /// The shown time of the entry.
  public var deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public var placement: Placement
  /// The content.
  public var fields: RecordFields
  /// The export's own id of this record; empty when it has none.
  public var sourceID: String
  /// Device or account to which the row belongs: a part of the identity where there is no source id.
  public var owner: String
  /// The record to which this one belongs, by that one's `sourceID`; empty for an entry.
  public var entrySourceID: String
  /// A glucoport export states the identity itself.
  public var guid: String?
  /// The identity of the entry to which it belongs, where the export states it.
  public var entryGuid: String?
  /// Whether it is a tombstone.
  public var deleted: Bool
  /// The line of the input it stands on, from 1.
  public var line: Int64

  /// A record of an export that states no identity of its own.
  public init(
    kind: RecordKind, at deviceTime: DeviceTime, placement: Placement, fields: RecordFields,
    sourceID: String = "", owner: String = "", line: Int64
  ) {
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.sourceID = sourceID
    self.owner = owner
    self.entrySourceID = ""
    self.guid = nil
    self.entryGuid = nil
    self.deleted = false
    self.line = line
  }
}
