// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// One step of a run: at most one request, between transactions of the store.
package enum UploadStep: Hashable, Sendable {
  /// Writes a raised run number and an id into the store.
  case begin
  /// Sends the next pending readings.
  case pushReadings(limit: Int)
  /// Sends the next pending records.
  case pushRecords(PushPhase, limit: Int)
  /// Leaves the item of the last request for another run.
  case setAside
  /// Stores the remote's message for the item of the last request, and does not send it again.
  case quarantine(reason: String)
  /// Fetches and applies the next download in the queue.
  case pull(limit: Int)
  /// Removes the next documents of items that are hidden here, then moves those whose offset a change of zone changed.
  case alignSite
  /// Sends the next part of an attachment's content, or asks how much of it the remote holds.
  case pushAttachments
  /// Fetches the next part of an attachment's content.
  case fetchAttachments
  /// Finds the items missing on a remote that lost its newest part, and queues them again.
  case requeueMissing
  /// Gets a new node id, since another store uses the current one.
  case renewNode
  /// The run is complete, or cannot continue.
  case finish(UploadEnding)
}

/// What happened in a run: the result of a step, or a fact that is known before or during one.
package enum UploadEvent: Hashable, Sendable {
  /// The step was done; after a push or pull, there may be more.
  case done
  /// There was nothing to send, or no page left.
  case exhausted
  /// Before a part of an attachment's content, there were items to send first.
  case overtaken
  /// A record of the page was edited during the transfer: nothing of the page was applied.
  case rolledBack
  /// The request failed. `items` is the number of its items that may be the cause.
  case failed(ServiceError, items: Int)
  /// During a step: work remains for another run, for this reason. The step goes on.
  case workLeft(String)
  /// Before a step: the run reached a limit, and ends.
  case limitReached(UploadLimit)
}

/// A limit that a person set for a run.
package enum UploadLimit: Hashable, Sendable {
  case time
  case bytes

  /// The option that sets it.
  var option: String {
    switch self {
    case .time: "--max-time"
    case .bytes: "--max-bytes"
    }
  }
}

/// The ending of a run.
package enum UploadEnding: Hashable, Sendable {
  /// Everything possible was done.
  case complete
  /// Work remains for another run.
  case workLeft(String)
  /// The remote failed temporarily, and may have asked to wait.
  case failed(ServiceError)
}
