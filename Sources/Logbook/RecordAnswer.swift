// SPDX-License-Identifier: Apache-2.0

/// What a service answers to one change of a record.
package enum RecordVerdict: Hashable, Sendable {
  /// It is the service's state, too, under this revision.
  case accepted(revision: String)
  /// The service has another state, which this change was not made on. Where it does not even know the base, as
  /// after it was restored from a backup, there is none to merge against.
  case conflict(revision: String, state: RecordState, isBaseKnown: Bool)
  /// The service refuses it permanently, with its words.
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

/// A record as a service has it.
package struct RemoteRecord: Hashable, Sendable {
  /// The identity.
  package var guid: String
  /// The service's name for this state.
  package var revision: String
  /// The content.
  package var state: RecordState

  /// A record under the service's revision.
  package init(guid: String, revision: String, state: RecordState) {
    self.guid = guid
    self.revision = revision
    self.state = state
  }
}
