// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// One step of an upload. It makes at most one request, between two transactions of the store.
package enum UploadStep: Hashable, Sendable {
  /// Increases the number of the upload and stores its new id. Does neither if there is nothing to do.
  case begin
  /// Sends the next pending readings.
  case pushReadings(limit: Int)
  /// Sends the next pending records.
  case pushRecords(PushPhase, limit: Int)
  /// Leaves the only item of the last request for the next upload.
  case setAside
  /// Stores the remote's reason for refusing the only item of the last request, which is not sent again.
  case quarantine(reason: String)
  /// Performs one request for the first download in the queue, and applies the result.
  case pull(limit: Int)
  /// Removes documents of hidden items from the site, then moves documents whose offset a change of zone has
  /// changed.
  case alignSite
  /// Sends the next part of an attachment's content, or asks how much of it the remote has.
  case pushAttachments
  /// Downloads the next part of an attachment's content.
  case fetchAttachments
  /// Finds the items that a remote lacks after it lost its newest data, and queues them again.
  case requeueMissing
  /// Changes the id of this node, since another store uses the current one.
  case renewNode
  /// The upload is complete, or cannot continue.
  case finish(UploadEnding)
}

/// An event in an upload: the result of a step, or a fact that becomes known before or during a step.
package enum UploadEvent: Hashable, Sendable {
  /// The step succeeded. After a push or a pull, more items may be left.
  case done
  /// Nothing was left to send or to pull.
  case exhausted
  /// Readings or records must be sent before the next part of an attachment.
  case newItemsFirst
  /// No part of a page of changes was applied, since one of its records was edited in the meantime.
  case rolledBack
  /// The request failed. `items` is the number of its items that may be the cause; 0 if none of them is.
  case failed(ServiceError, items: Int)
  /// During a step, it became known that work is left for the next upload, for this reason. The step
  /// continues.
  case workLeft(String)
  /// Before a step, the upload has reached a limit and must end.
  case limitReached(UploadLimit)
}

/// The limits that a person can set for an upload.
package enum UploadLimit: Hashable, Sendable {
  case time
  case bytes

  /// The option of `upload` that sets the limit.
  var option: String {
    switch self {
    case .time: "--max-time"
    case .bytes: "--max-bytes"
    }
  }
}

/// How an upload ended.
package enum UploadEnding: Hashable, Sendable {
  /// All work that was possible was done.
  case complete
  /// Work is left for the next upload, for this reason.
  case workLeft(String)
  /// The upload failed because of this error of the remote.
  case failed(ServiceError)
}
