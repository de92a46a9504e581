// SPDX-License-Identifier: Apache-2.0

/// A service's answer to one change of a record.
package enum RecordVerdict: Hashable, Sendable {
  /// The service has this state now, with this revision.
  case accepted(revision: String)
  /// The service has another state, on which this change was not based. It may not even know the base, as after a
  /// restore from a backup. Then there is none for a merge.
  case conflict(revision: String, state: RecordState, isBaseKnown: Bool)
  /// The service refuses it permanently, with this reason.
  case refused(reason: String)
}

/// The answers to a batch of changes, in the order of the batch.
package struct RecordAnswer: Hashable, Sendable {
  /// One for each change sent.
  package var verdicts: [RecordVerdict]
  /// The service's position after this request.
  package var position: String?

  /// The answers in the order of the batch.
  package init(verdicts: [RecordVerdict], position: String? = nil) {
    self.verdicts = verdicts
    self.position = position
  }
}

/// A record on a service.
package struct RemoteRecord: Hashable, Sendable {
  /// The identity.
  package var guid: String
  /// The service's id of this state.
  package var revision: String
  /// The content.
  package var state: RecordState

  /// A record with the service's revision.
  package init(guid: String, revision: String, state: RecordState) {
    self.guid = guid
    self.revision = revision
    self.state = state
  }
}
