// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension UploadSession {
  /// An answer to a request for changes.
  struct ChangesAhead {
    let cursor: String
    let limit: Int
    let answer: Result<ChangePage?, ServiceError>
  }

  /// Whether this run has nothing to do: there is nothing to send, and others changed nothing. Most runs of a
  /// timer are such. Then neither the store nor the remote writes a new number of a run to its disk.
  ///
  /// Changes are requested with the number of the last run, whose end is in the store; see `idleRun`. If there
  /// are any, or if the request failed, the answer is kept for the run that begins.
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
    // Something was added during the request, and is sent by this run.
    guard try idleRun() != nil else { return false }
    hasFetchedChanges = true
    return true
  }

  /// The last run with its cursor; nil if this run has something to do before it asks for changes.
  private func idleRun() throws -> (run: RunStamp, cursor: String)? {
    let options = plan.options
    // At a site, a run also aligns documents.
    guard !options.fetchesHistory, remote.moving == nil, remote.removal == nil else { return nil }
    return try store.compare { store in
      if options.joinsZones, try !store.hasJoinedBaseZone() { return nil }
      return try store.idleRun()
    }
  }
}
