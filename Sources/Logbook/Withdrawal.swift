// SPDX-License-Identifier: Apache-2.0

/// What a record of kind `withdrawal` says: that something was a mistake, or that it was none.
package struct Withdrawal: Hashable, Sendable {
  /// What it is about.
  package enum Subject: Hashable, Sendable {
    /// What an import brought, or a part of it.
    case input(WithdrawnInput)
    /// What an import brought although withdrawals of other imports list it. It is shown until that import is undone, too.
    case brought(WithdrawnInput)
    /// The readings of a device, those that come later, too.
    case device(DeviceRule)
    /// One reading. Goes before all others.
    case reading(ReadingIdentity)
    /// The record of this id, whatever it holds. Goes before all others.
    case record(String)
  }

  package var subject: Subject
  /// Whether the subject is hidden. Where it is not, a reading or a record is shown whatever else is said of it.
  package var isHidden: Bool
  /// Why, for people; empty where nobody said it.
  package var reason: String

  package init(_ subject: Subject, isHidden: Bool, reason: String = "") {
    (self.subject, self.isHidden, self.reason) = (subject, isHidden, reason)
  }

  /// The id of its record, where what it is about has only one; nil for imports and devices.
  package var guid: String? {
    switch subject {
    case .reading(let identity): Digest.uuid(of: ["withdrawal", "reading", identity.text])
    case .record(let guid): Digest.uuid(of: ["withdrawal", "record", guid])
    case .input, .brought, .device: nil
    }
  }
}

/// What an import brought and what it changed, or a part of that: one record holds 256 KiB at most.
package struct WithdrawnInput: Hashable, Sendable {
  /// What the parts of one import have in common.
  package var group: String
  /// What the input was and how it was read; empty where nobody knows. See `identity`.
  package var input: String
  /// The id of the import, the same in every copy of the store that made it; empty where it is unknown.
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

  /// What shows whether an input is the same, and read in the same way: its digest and what was decided about it.
  package static func identity(format: String, digest: String, _ decisions: [Decision]) -> String {
    Digest.uuid(of: ["input", format, digest] + Set(decisions.map { "\($0.subject)=\($0.value)" }).sorted())
  }
}

/// A record before and after an import changed it.
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
  /// What identifies the device, as `ReadingIdentity.text(of:)` writes it.
  package var device: String
  /// The first shown time; nil for no limit.
  package var since: DeviceTime?
  /// The shown time behind the last; nil for no limit.
  package var until: DeviceTime?

  package init(device: String, since: DeviceTime? = nil, until: DeviceTime? = nil) {
    (self.device, self.since, self.until) = (device, since, until)
  }

  package func covers(_ time: DeviceTime) -> Bool {
    (since.map { $0 <= time } ?? true) && (until.map { time < $0 } ?? true)
  }
}

extension RecordState {
  /// What a withdrawal compares of a record, to know whether somebody edited it since.
  package var withdrawalDigest: String {
    Self.withdrawalDigest(deviceTime: deviceTime, statedOffset: statedOffset, fields: fields.json)
  }

  /// The same of its parts.
  ///
  /// - Parameter statedOffset: nil for an offset that is derived, which is no content.
  package static func withdrawalDigest(
    deviceTime: DeviceTime, statedOffset: Int32?, fields: String
  ) -> String {
    Digest.uuid(of: ["content", String(deviceTime.seconds), statedOffset.map(String.init) ?? "", fields])
  }
}
