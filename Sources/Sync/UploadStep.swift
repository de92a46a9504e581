// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// One thing that a run does next: at most one request, between transactions of the store.
package enum UploadStep: Hashable, Sendable {
  /// Writes a raised run number and an id into the store.
  case begin
  /// Sends the next readings that are pending.
  case pushReadings(limit: Int)
  /// Sends the next records that are pending.
  case pushRecords(PushPhase, limit: Int)
  /// Leaves the item that the last request held for another run.
  case setAside
  /// Keeps the item that the last request held, with the remote's words, and does not send it again.
  case quarantine(reason: String)
  /// Fetches and applies what comes next in the queue of downloads.
  case pull(limit: Int)
  /// Removes the next documents on the remote whose items are hidden here, then moves those whose items a change of zone
  /// placed elsewhere.
  case moveDocuments
  /// Sends the next part of the content of an attachment, or asks how much of it is there.
  case pushAttachments
  /// Fetches the next part of the content of an attachment.
  case fetchAttachments
  /// Finds out what a remote that lost its newest part lacks, and queues it again.
  case requeueMissing
  /// Gets a new node id, since another store has the present one.
  case renewNode
  /// Nothing is left to do, or nothing can be done.
  case finish(UploadEnding)
}

/// What came of a step.
package enum UploadEvent: Hashable, Sendable {
  /// The step was done; for a push or pull: there may be more of the kind.
  case done
  /// There was nothing to send, or no page left.
  case exhausted
  /// Before a part of an attachment's content, something was found to send that goes first.
  case overtaken
  /// A record was edited while its page was on the way: nothing of the page was applied.
  case rolledBack
  /// The request failed. `items` is how many were in it to which the failure may be due.
  case failed(ServiceError, items: Int)
}

/// How a run ends.
package enum UploadEnding: Hashable, Sendable {
  /// Everything that could be done is done.
  case complete
  /// Something is left that another run can do.
  case workLeft(String)
  /// The remote failed in a way that passes, and asks, perhaps, to wait.
  case failed(ServiceError)
}
