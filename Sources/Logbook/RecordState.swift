// SPDX-License-Identifier: Apache-2.0

/// The whole content of a record at one moment: what a base, a conflict's other side and a sync carry.
package struct RecordState: Sendable {
  /// What the record is about.
  package var kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  package var entryGuid: String?
  /// The shown time.
  package var deviceTime: DeviceTime
  /// What places the shown time on the UTC line. Only a stated offset is content: a derived one is what the zones of one
  /// store say, and the Greenwich offset in a state that no store has placed yet.
  package var placement: Placement
  /// The content; empty in a tombstone.
  package var fields: RecordFields
  /// Whether it is a tombstone.
  package var isDeleted: Bool
  /// When it was last edited, in UTC seconds by the clock of the editing host; nil when nobody knows. It is what
  /// `conflict resolve --keep newer` compares, and decides nothing else: a clock may be wrong.
  package var editedAt: Int64?
  /// Where the record came from; nil if unknown. No edit changes it.
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

  /// Whether it knows where the record came from, and the other state does not.
  package func teachesProvenance(to other: RecordState) -> Bool {
    provenance != nil && other.provenance == nil
  }

  /// The state with a provenance, where it has none itself.
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

  /// The offset that the content states, in seconds east of Greenwich; nil where the zones of the logbook decide.
  package var statedOffset: Int32? { placement.source.isDerived ? nil : placement.utcOffset }

  /// Whether both say the same of what people edit. A derived offset is each node's own matter; when an edit was made and
  /// where the record came from is no part of what it says.
  package func agrees(with other: RecordState) -> Bool {
    kind == other.kind && entryGuid == other.entryGuid && deviceTime == other.deviceTime
      && statedOffset == other.statedOffset && fields.json == other.fields.json
      && isDeleted == other.isDeleted
  }
}

extension RecordState: Hashable {
  /// Whether both say the same at the same time of editing, of a record from the same place.
  package static func == (left: Self, right: Self) -> Bool {
    left.agrees(with: right) && left.editedAt == right.editedAt && left.provenance == right.provenance
  }

  /// What both of two equal states have.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(deviceTime)
    hasher.combine(fields)
    hasher.combine(editedAt)
  }
}
