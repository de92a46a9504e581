// SPDX-License-Identifier: Apache-2.0

/// The whole content of a record at one time, as in a base, a conflict or a sync.
package struct RecordState: Sendable {
  /// The kind.
  package var kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  package var entryGuid: String?
  /// The shown time.
  package var deviceTime: DeviceTime
  /// What places the shown time on the UTC line. Only a stated offset is content. A derived one comes from the zones of
  /// one store, and is zero in a state that no store has placed yet.
  package var placement: Placement
  /// The content; empty in a tombstone.
  package var fields: RecordFields
  /// Whether it is a tombstone.
  package var isDeleted: Bool
  /// When it was last edited, in UTC seconds by the clock of the editing host; nil if unknown. Only `conflict resolve
  /// --keep newer` compares it, since a clock may be wrong.
  package var editedAt: Int64?
  /// The origin of the record; nil if unknown. Edits do not change it.
  package var provenance: Provenance?

  /// A state of these parts.
  package init(
    kind: RecordKind, entryGuid: String?, deviceTime: DeviceTime, placement: Placement,
    fields: RecordFields, isDeleted: Bool, editedAt: Int64? = nil,
    provenance: Provenance? = nil
  ) {
    self.kind = kind
    self.entryGuid = entryGuid
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.isDeleted = isDeleted
    self.editedAt = editedAt
    self.provenance = provenance
  }

  /// Whether it knows the origin of the record, and the other state does not.
  package func teachesProvenance(to other: RecordState) -> Bool {
    provenance != nil && other.provenance == nil
  }

  /// The state with a provenance if it has none.
  package func learning(_ provenance: Provenance?) -> RecordState {
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

  /// The offset in the content, in seconds east of Greenwich; nil if the zones of the logbook determine it.
  package var statedOffset: Int32? { placement.source.isDerived ? nil : placement.utcOffset }

  /// Whether both have the same content that people edit. A derived offset belongs to each node. The time of the edit
  /// and the origin of the record are not part of the content.
  package func agrees(with other: RecordState) -> Bool {
    kind == other.kind && entryGuid == other.entryGuid && deviceTime == other.deviceTime
      && statedOffset == other.statedOffset && fields.json == other.fields.json
      && isDeleted == other.isDeleted
  }
}

extension RecordState: Hashable {
  /// Whether both have the same content, time of editing and origin.
  package static func == (left: Self, right: Self) -> Bool {
    left.agrees(with: right) && left.editedAt == right.editedAt && left.provenance == right.provenance
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(deviceTime)
    hasher.combine(fields)
    hasher.combine(editedAt)
  }
}
