// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension UploadSession {
  /// A response to a request for changes that was sent before the upload began.
  struct ChangesAhead {
    let cursor: String
    let limit: Int
    let answer: Result<ChangePage?, ServiceError>
  }

  /// Whether this upload has nothing to do: there is nothing to send, and other nodes changed nothing. This
  /// is so for most uploads that a timer starts. Neither the store nor the remote then writes the number of a
  /// new upload to its disk.
  ///
  /// Changes are requested with the number of the last upload, whose end is in the store; see `idleRun`. If
  /// there are changes, or if the request failed, the response is kept for the upload that begins.
  func isIdle() async throws -> Bool {
    guard let idle = try idleRun() else { return false }
    guard plan.options.queuesChanges else { return true }
    run = idle.run
    run.mayRepair = plan.options.pushes
    let limit = plan.options.maxChanges
    let answer = await requestChanges(after: idle.cursor, limit)
    guard case .success(nil) = answer else {
      changesAhead = ChangesAhead(cursor: idle.cursor, limit: limit, answer: answer)
      return false
    }
    // If something was added during the request, the upload is not idle, since it must send the added items.
    guard try idleRun() != nil else { return false }
    hasFetchedChanges = true
    return true
  }

  /// The last upload with its cursor; nil if this upload has something to do before it asks for changes.
  private func idleRun() throws -> (run: RunStamp, cursor: String)? {
    let options = plan.options
    // On a Nightscout site, an upload also removes and moves documents, so it is never idle.
    guard !options.fetchesHistory, remote.moving == nil, remote.removal == nil else { return nil }
    return try store.compare { store in
      if options.joinsZones, try !store.hasJoinedBaseZone() { return nil }
      return try store.idleRun()
    }
  }
}
