// SPDX-License-Identifier: Apache-2.0

/// The content of a record of kind `withdrawal`. It states that some items are a mistake, or that they are
/// not.
package struct Withdrawal: Hashable, Sendable {
  /// The items that the withdrawal is about.
  package enum Subject: Hashable, Sendable {
    /// The items of an import, or a part of them.
    case input(WithdrawnInput)
    /// The items of this import that withdrawals of other imports also list. The items stay visible until
    /// this import is undone, too.
    case brought(WithdrawnInput)
    /// The readings of a device in a range of times, including readings that are imported later.
    case device(DeviceRule)
    /// One reading. Such a withdrawal has precedence over all others that list the reading.
    case reading(ReadingIdentity)
    /// The record with this guid. Such a withdrawal has precedence over all others that list the record,
    /// unless it is limited to one `content`.
    case record(String)
  }

  package var subject: Subject
  /// Whether the items are hidden. If false, a reading or record is shown whatever other withdrawals state.
  package var isHidden: Bool
  /// The reason for people; empty if there is none.
  package var reason: String
  /// For a record that its source deleted: the digest of the only content that is hidden; empty for any
  /// content. If `isHidden` is false, a withdrawal with a digest has no effect. See
  /// `RecordState.withdrawalDigest`.
  package var content: String

  /// The reason of a withdrawal that an import writes for a value of a reading that its source corrected.
  package static let correctedAtSource = "corrected at the source"
  /// The reason after the source restored the value. It also is that of a withdrawal that only states the age
  /// of the last export with the value. Such a withdrawal has no effect.
  package static let restoredAtSource = "corrected at the source, then restored"

  package init(_ subject: Subject, isHidden: Bool, reason: String = "", content: String = "") {
    (self.subject, self.isHidden, self.reason) = (subject, isHidden, reason)
    self.content = content
  }

  /// The guid of the withdrawal's record if its subject has at most one such record; nil for imports and
  /// devices.
  package var guid: String? {
    switch subject {
    case .reading(let identity): Digest.uuid(of: ["withdrawal", "reading", identity.text])
    case .record(let guid): Digest.uuid(of: ["withdrawal", "record", guid])
    case .input, .brought, .device: nil
    }
  }
}

/// What an import added and changed. A record holds at most 256 KiB, so this may be only a part of it.
package struct WithdrawnInput: Hashable, Sendable {
  /// The id that all parts of one import's withdrawal share.
  package var group: String
  /// The identity of the input and of the decisions by which it was read; empty if unknown. See `identity`.
  package var input: String
  /// The id of the import; empty if unknown. It is the same in every copy of the store that made the import.
  package var importID: String
  /// The points of the readings, by their series.
  package var points: [SeriesName: PointRuns]
  /// The digests of the records' contents, by guid.
  package var records: [String: String]
  /// The records that the import changed.
  package var changes: [RecordRevision]

  package init(
    group: String, input: String = "", importID: String = "", points: [SeriesName: PointRuns] = [:],
    records: [String: String] = [:], changes: [RecordRevision] = []
  ) {
    (self.group, self.input, self.importID) = (group, input, importID)
    (self.points, self.records, self.changes) = (points, records, changes)
  }

  /// The identity of an input together with how it was read. It is computed from the format, the digest of
  /// the input and the decisions about it.
  package static func identity(format: String, digest: String, _ decisions: [Decision]) -> String {
    Digest.uuid(of: ["input", format, digest] + Set(decisions.map { "\($0.subject)=\($0.value)" }).sorted())
  }

  /// The group of a list of what an import that is not undone brought. It follows from the readings, the
  /// records and the import, so that every copy of the store writes the same records.
  package var broughtGroup: String {
    let series = points.map { "\($0.key.text) \($0.value.unpackedText)" }.sorted()
    let records = records.map { "\($0.key) \($0.value)" }.sorted()
    return Digest.uuid(of: ["brought", importID] + series + records)
  }
}

/// A record before and after the change by an import.
package struct RecordRevision: Hashable, Sendable {
  package let guid: String
  package let before: RecordState
  package let after: RecordState

  package init(guid: String, before: RecordState, after: RecordState) {
    (self.guid, self.before, self.after) = (guid, before, after)
  }
}

/// The readings of a device in a range of shown times.
package struct DeviceRule: Hashable, Sendable {
  /// The identity of the device, as `ReadingIdentity.text(of:)` writes it.
  package var device: String
  /// The first shown time; nil for no limit.
  package var since: DeviceTime?
  /// The exclusive end of the range; nil for no limit.
  package var until: DeviceTime?

  package init(device: String, since: DeviceTime? = nil, until: DeviceTime? = nil) {
    (self.device, self.since, self.until) = (device, since, until)
  }

  package func covers(_ time: DeviceTime) -> Bool {
    (since.map { $0 <= time } ?? true) && (until.map { time < $0 } ?? true)
  }
}

extension RecordState {
  /// The digest by which a withdrawal recognises whether a record was edited after the import.
  package var withdrawalDigest: String {
    Self.withdrawalDigest(deviceTime: deviceTime, statedOffset: statedOffset, fields: fields.json)
  }

  /// The same digest, computed from the parts of a state.
  ///
  /// - Parameter statedOffset: nil for a derived offset, which is not part of the content.
  package static func withdrawalDigest(
    deviceTime: DeviceTime, statedOffset: Int32?, fields: String
  ) -> String {
    Digest.uuid(of: ["content", String(deviceTime.seconds), statedOffset.map(String.init) ?? "", fields])
  }
}
