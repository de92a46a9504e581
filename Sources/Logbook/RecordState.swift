// SPDX-License-Identifier: Apache-2.0

/// The whole content of a record at one moment: what a base, a conflict's other side and a sync carry.
package struct RecordState: Hashable, Sendable {
  /// What the record is about.
  package var kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  package var entryGuid: String?
  /// The shown time.
  package var deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  package var placement: Placement
  /// The content; empty in a tombstone.
  package var fields: RecordFields
  /// Whether it is a tombstone.
  package var isDeleted: Bool
  /// When it was last edited, in UTC seconds by the clock of the editing host; nil when nobody knows. It is what
  /// `conflict resolve --keep newer` compares, and decides nothing else: a clock may be wrong.
  package var editedAt: Int64?

  /// A state of these parts.
  package init(
    kind: RecordKind, entryGuid: String?, deviceTime: DeviceTime, placement: Placement,
    fields: RecordFields, isDeleted: Bool, editedAt: Int64? = nil
  ) {
    self.kind = kind
    self.entryGuid = entryGuid
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.isDeleted = isDeleted
    self.editedAt = editedAt
  }

  /// SHA-256 of `json` in hexadecimal.
  package var digest: String { Self.digest(of: json) }

  static func digest(of json: String) -> String {
    var digest = Digest()
    digest.update(json)
    return digest.hexadecimal()
  }

  /// Whether both say the same of what people edit. How an offset was found is each node's own matter, and
  /// when an edit was made is no part of what it says.
  package func agrees(with other: RecordState) -> Bool {
    kind == other.kind && entryGuid == other.entryGuid && deviceTime == other.deviceTime
      && placement.utcOffset == other.placement.utcOffset && fields.json == other.fields.json
      && isDeleted == other.isDeleted
  }
}
