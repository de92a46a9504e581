// SPDX-License-Identifier: Apache-2.0

/// The content of a record of kind `withdrawal`: that something was a mistake, or was not.
package struct Withdrawal: Hashable, Sendable {
  /// The subject.
  package enum Subject: Hashable, Sendable {
    /// The content of an import, or a part of it.
    case input(WithdrawnInput)
    /// The content of an import that withdrawals of other imports also list. It is shown until that import is undone,
    /// too.
    case brought(WithdrawnInput)
    /// The readings of a device, including later ones.
    case device(DeviceRule)
    /// One reading. It has precedence over all others.
    case reading(ReadingIdentity)
    /// The record with this id, whatever its content. It has precedence over all others.
    case record(String)
  }

  package var subject: Subject
  /// Whether the subject is hidden. A reading or record that is not hidden is shown whatever other withdrawals state.
  package var isHidden: Bool
  /// The reason for people; empty if there is none.
  package var reason: String

  package init(_ subject: Subject, isHidden: Bool, reason: String = "") {
    (self.subject, self.isHidden, self.reason) = (subject, isHidden, reason)
  }

  /// The id of its record if the subject has only one; nil for imports and devices.
  package var guid: String? {
    switch subject {
    case .reading(let identity): Digest.uuid(of: ["withdrawal", "reading", identity.text])
    case .record(let guid): Digest.uuid(of: ["withdrawal", "record", guid])
    case .input, .brought, .device: nil
    }
  }
}

/// What an import added and changed, or a part of it: one record holds at most 256 KiB.
package struct WithdrawnInput: Hashable, Sendable {
  /// The id that the parts of one import share.
  package var group: String
  /// The identity of the input and how it was read; empty if unknown. See `identity`.
  package var input: String
  /// The id of the import, the same in every copy of the store that made it; empty if unknown.
  package var importID: String
  /// The readings, by their series.
  package var points: [SeriesName: PointRuns]
  /// The records, each with the digest of its content.
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

  /// The identity of an input that is read in the same way: its digest and the decisions about it.
  package static func identity(format: String, digest: String, _ decisions: [Decision]) -> String {
    Digest.uuid(of: ["input", format, digest] + Set(decisions.map { "\($0.subject)=\($0.value)" }).sorted())
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
  /// The identity of the device, in the form of `ReadingIdentity.text(of:)`.
  package var device: String
  /// The first shown time; nil for no limit.
  package var since: DeviceTime?
  /// The end of the range, which is not part of it; nil for no limit.
  package var until: DeviceTime?

  package init(device: String, since: DeviceTime? = nil, until: DeviceTime? = nil) {
    (self.device, self.since, self.until) = (device, since, until)
  }

  package func covers(_ time: DeviceTime) -> Bool {
    (since.map { $0 <= time } ?? true) && (until.map { time < $0 } ?? true)
  }
}

extension RecordState {
  /// The digest by which a withdrawal recognises an edit of a record.
  package var withdrawalDigest: String {
    Self.withdrawalDigest(deviceTime: deviceTime, statedOffset: statedOffset, fields: fields.json)
  }

  /// The same for its parts.
  ///
  /// - Parameter statedOffset: nil for a derived offset, which is not content.
  package static func withdrawalDigest(
    deviceTime: DeviceTime, statedOffset: Int32?, fields: String
  ) -> String {
    Digest.uuid(of: ["content", String(deviceTime.seconds), statedOffset.map(String.init) ?? "", fields])
  }
}
