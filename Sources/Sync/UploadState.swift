// SPDX-License-Identifier: Apache-2.0

import LogbookStore

/// What a run is doing, with all that decides what comes next, apart from sizes and counts.
enum UploadState: Hashable, Sendable {
  case beginning
  /// Sending what is pending, and what follows when nothing is left of it.
  case pushing(UploadBatch, then: AfterPush)
  /// Passing over the single item that failed; the same kind of batch goes on behind it.
  case passing(UploadBatch, PassedItem, then: AfterPush)
  case pulling
  /// Removing what is hidden, and moving what a change of zone placed elsewhere.
  case moving
  case transferring(TransferDirection)
  case requeueing
  case renewing
  case ended(UploadEnding)
}

/// What a request of a push holds.
enum UploadBatch: Hashable, Sendable {
  case readings
  case records(PushPhase)
}

/// What happens to an item at which the remote fails.
enum PassedItem: Hashable, Sendable {
  case setAside
  case quarantine(reason: String)
}

/// What follows when everything pending is sent.
enum AfterPush: Hashable, Sendable {
  case pull
  /// The attachments go on that gave way to the push.
  case transfer(TransferDirection)
}

/// Which way the contents of attachments go.
enum TransferDirection: Hashable, Sendable {
  case upload
  case download
}

/// Whether a run sends anything.
enum UploadSending: Hashable, Sendable {
  case allowed
  /// The run only fetches.
  case notRequested
  /// The remote said that the login may only read.
  case refused
}

/// An event that the step before it cannot have: a bug in glucoport, and no `Failure`.
package struct UploadPlanError: Error, Hashable, CustomStringConvertible {
  /// The step that was done.
  package var step: UploadStep
  /// What is said to have come of it.
  package var event: UploadEvent

  /// For the person who reports it.
  package var description: String { "the upload step \(step) ended with \(event)" }
}
