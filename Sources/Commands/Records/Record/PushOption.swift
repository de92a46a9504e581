// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Sync

/// The option that sends an edit immediately, and not only with the next upload.
struct PushOption: ParsableArguments {
  /// The time limit in seconds. It is short, since the edit is stored already and a person waits.
  private static let maxSeconds = 30

  @Flag(help: "Send it at once; if that fails, it stays queued for the next upload.")
  var push = false

  /// Tries to send edits, and returns them with their sync state after the attempt. The edits are stored in
  /// any case. So if an edit stays queued, the reason is printed and nothing is thrown.
  func attempt(
    _ edits: [RecordEdit], in store: Store, _ storeOptions: StoreOptions, _ output: Output,
    isQuiet: Bool
  ) async throws -> [RecordEdit] {
    let items = try await attempt(
      edits.map { .record($0.record) }, in: store, storeOptions, output, isQuiet: isQuiet)
    return zip(edits, items).map { edit, item in
      guard case .record(let record) = item else { return edit }
      return RecordEdit(record: record, edits: edit.edits)
    }
  }

  /// Tries to send readings and records, and returns them with their sync state after the attempt.
  func attempt(
    _ items: [StoredItem], in store: Store, _ storeOptions: StoreOptions, _ output: Output, isQuiet: Bool
  ) async throws -> [StoredItem] {
    guard push else { return items }
    let (failure, summary) = await send(storeOptions)
    // The upload also sends other pending items, so it may send more than these items.
    let own = items.filter { if case .reading = $0 { true } else { false } }.count
    if !isQuiet, summary.pushedReadings > own || summary.pushedRecords > items.count - own {
      output.message(
        "glucoport: sent \(counted(summary.pushedReadings, "reading")), \(counted(summary.pushedRecords, "record"))"
      )
    }
    let current = try items.map { item in
      switch item {
      case .record(let record): StoredItem.record(try store.record(named: record.guid))
      case .reading(let reading): StoredItem.reading(try store.reading(at: reading.address) ?? reading)
      }
    }
    let states = current.map { item in
      switch item {
      case .record(let record): record.syncState(.none)
      case .reading(let reading): reading.syncState(.none)
      }
    }
    for state in Set(states) {
      if let why = reasonStillQueued(state, failure) { output.message("glucoport: queued, not sent: \(why)") }
    }
    return current
  }

  /// Why an item is still queued after the attempt; nil if it is synced. `failure` is that of the whole
  /// attempt.
  private func reasonStillQueued(_ state: SyncState, _ failure: String?) -> String? {
    switch state {
    case .synced: nil
    case .queued(.conflict): "others also changed it; see 'glucoport conflict list'"
    case .queued(.refused): "the remote refuses it; 'glucoport queue list --refused' shows why"
    case .queued(.waiting), .syncing: failure ?? "something that it belongs to is queued"
    }
  }

  /// Sends all pending items. Returns the failure, if any, and what was sent. Documents on a Nightscout site
  /// are neither moved nor removed, since that can take minutes.
  private func send(_ storeOptions: StoreOptions) async -> (failure: String?, summary: UploadSummary) {
    do {
      let run = try await UploadRun(storeOptions)
      defer { run.end() }
      var options = UploadOptions()
      (options.pulls, options.maxMoves, options.maxRemovals) = (false, 0, 0)
      let end = ContinuousClock.now + .seconds(Self.maxSeconds)
      let (ending, summary) = try await run.perform(
        options, await run.login(), maxSeconds: Self.maxSeconds)
      switch ending {
      case .complete: return (nil, summary)
      case .workLeft where ContinuousClock.now >= end:
        return ("it takes longer than \(Self.maxSeconds) s; the next upload sends the rest", summary)
      case .workLeft(let reason): return (reason, summary)
      case .failed(let error): return (Failure(error, host: run.setting.access.url).message, summary)
      }
    } catch let failure as Failure {
      return (failure.message, UploadSummary())
    } catch {
      return ("\(error)", UploadSummary())
    }
  }
}
