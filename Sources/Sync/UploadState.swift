// SPDX-License-Identifier: Apache-2.0

import LogbookStore

/// The state of a run, with everything that determines the next step except sizes and counts.
enum UploadState: Hashable, Sendable {
  case beginning
  /// Sending pending items, and the state after the last one.
  case pushing(UploadBatch, then: AfterPush)
  /// Skipping the single item that failed. Sending the same kind of batch then continues after it.
  case skipping(UploadBatch, SkippedItem, then: AfterPush)
  case pulling
  /// Removing hidden items, and moving items after a change of zone.
  case moving
  case transferring(TransferDirection)
  case requeueing
  case renewing
  case ended(UploadEnding)
}

/// The content of a push request.
enum UploadBatch: Hashable, Sendable {
  case readings
  case records(PushPhase)
}

/// The treatment of an item for which the remote fails.
enum SkippedItem: Hashable, Sendable {
  case setAside
  case quarantine(reason: String)
}

/// The state after all pending items are sent.
enum AfterPush: Hashable, Sendable {
  case pull
  /// The transfer of attachments that the push interrupted.
  case transfer(TransferDirection)
}

/// The direction of attachments' contents.
enum TransferDirection: Hashable, Sendable {
  case upload
  case download
}

/// Whether a run sends anything.
enum UploadSending: Hashable, Sendable {
  case allowed
  /// The run only fetches.
  case notRequested
  /// The remote reported that the login is read-only.
  case refused
}

/// An event that is impossible in its step: a bug in glucoport, not a `Failure`.
package struct UploadPlanError: Error, Hashable, CustomStringConvertible {
  /// The step.
  package var step: UploadStep
  /// The reported event.
  package var event: UploadEvent

  /// For a bug report.
  package var description: String { "the upload step \(step) ended with \(event)" }
}
