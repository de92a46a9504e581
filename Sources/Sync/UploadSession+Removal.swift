// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Removes hidden items from a site that does not know withdrawals.
extension UploadSession {
  /// The maximum number of readings that one step removes. Each reading takes one request.
  private static let maxRemoved = 50

  /// Removes the next hidden items from the remote. This comes after the pull, since another store may have
  /// shown the items again. Returns nil if none are left.
  func removeHidden(_ removal: any RemovalService) async throws -> UploadEvent? {
    // The numbers are shown while the work is running.
    if !hasCountedRemovals { try countRemovals() }
    guard moves.removalsLeft > 0 else {
      if summary.readingsToRemove + summary.recordsToRemove > 0 {
        try plan.advance(after: .workLeft(Self.removalsAreLeft))
      }
      return nil
    }
    if let event = try await removeHiddenReadings(removal) { return event }
    return try await removeHiddenRecord(removal)
  }

  private static let removalsAreLeft =
    "some hidden items are still to be removed from the site; the next run continues"

  /// The provenance format of records that come from documents of other programs.
  private static let foreignFormat = "nightscout"

  /// Counts the hidden items that may still have documents on the remote.
  func countRemovals() throws {
    let counts = try store.siteRemovals()
    (summary.readingsToRemove, summary.recordsToRemove) = (counts.readings, counts.records)
    hasCountedRemovals = true
  }

  /// Removes hidden readings from the remote, and makes them pending. So an upload sends them again after
  /// they became visible again.
  private func removeHiddenReadings(_ removal: any RemovalService) async throws -> UploadEvent? {
    guard mayRemove else { return nil }
    let limit = min(moves.removalsLeft, Self.maxRemoved)
    let withdrawn = try store.sync { try $0.withdrawnReadings(limit: limit) }
    if withdrawn.keys.isEmpty { return nil }
    lastSent = .nothing
    let run = run
    let answer = await ask { () async throws(ServiceError) in try await removal.remove(withdrawn.batch, run) }
    switch answer {
    case .failure(let error): return .failed(error, items: 0)
    case .success(false):
      mayRemove = false
      try plan.advance(
        after: .workLeft("the login may not remove hidden readings; add api:entries:delete to its role"))
      return nil
    case .success(true):
      let now = environment.now()
      try store.sync { store in
        _ = try store.requeue(withdrawn.keys, reason: "hidden, and removed from the site", at: now)
        // A removed document may also have contained an equal reading that has another occurrence number in
        // this store. Such a reading is queued again.
        let held = try store.readingsInDocuments(of: withdrawn.batch)
        if !held.isEmpty { _ = try store.requeue(held, reason: "removed with its document", at: now) }
        try store.forgetUnanswered(withdrawn.keys)
        try store.endMoves(of: withdrawn.keys)
      }
      moves.removalsLeft -= withdrawn.keys.count
      summary.removedReadings += withdrawn.keys.count
      summary.readingsToRemove = max(0, summary.readingsToRemove - withdrawn.keys.count)
      return .done
    }
  }

  private func removeHiddenRecord(_ removal: any RemovalService) async throws -> UploadEvent? {
    guard mayRemoveRecords, let record = try store.sync({ try $0.hiddenRecords(limit: 1) }).first else {
      return nil
    }
    lastSent = .nothing
    let (change, run) = (record.whole(from: run.node), run)
    let answer = await ask { () async throws(ServiceError) in try await removal.remove(change, run) }
    switch answer {
    // If the login lacks the right to change treatments, the upload continues with its other work.
    case .failure(.refused(let reason)):
      mayRemoveRecords = false
      try plan.advance(after: .workLeft("hidden records are still shown there: \(reason)"))
      return nil
    case .failure(let error): return .failed(error, items: 0)
    case .success:
      try store.sync { try $0.storeRemoval(record.guid) }
      moves.removalsLeft -= Self.requestsOfRecord
      // The remote keeps a treatment of another program, so it is not counted as removed.
      if record.state.provenance?.format != Self.foreignFormat { summary.removedRecords += 1 }
      summary.recordsToRemove = max(0, summary.recordsToRemove - 1)
      return .done
    }
  }
}
