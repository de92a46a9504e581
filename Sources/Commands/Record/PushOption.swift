// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Sync

/// Whether an edit is sent at once, instead of with the next upload.
struct PushOption: ParsableArguments {
  /// A person who runs the command wants to know that it is done more than that it is sent.
  private static let maxSeconds = 30

  @Flag(help: "Send it at once; if that fails, it stays queued for the next upload.")
  var push = false

  /// The edits as they are behind an attempt to send them. They are done whatever becomes of it: why one stays queued
  /// is said, and never thrown.
  func attempt(
    _ edits: [RecordEdit], in store: Store, _ storeOptions: StoreOptions, _ output: Output
  ) async throws -> [RecordEdit] {
    guard push else { return edits }
    let failure = await failure(storeOptions)
    let behind = try edits.map { edit in
      RecordEdit(record: try store.record(named: edit.record.guid), edits: edit.edits)
    }
    for state in Set(behind.map { $0.record.syncState(.none) }) {
      if let why = why(state, failure) { output.message("glucoport: queued, not sent: \(why)") }
    }
    return behind
  }

  /// Why a record is not synced behind an attempt that failed so; nil for one that is.
  private func why(_ state: SyncState, _ failure: String?) -> String? {
    switch state {
    case .synced: nil
    case .queued(.conflict): "others also changed it; see 'glucoport conflict list'"
    case .queued(.refused): "the remote refuses it; 'glucoport queue list --refused' shows why"
    case .queued(.waiting), .syncing: failure ?? "something that it belongs to is queued"
    }
  }

  /// Sends what is pending; returns why not all of it.
  private func failure(_ storeOptions: StoreOptions) async -> String? {
    do {
      let run = try await UploadRun(storeOptions)
      defer { run.end() }
      var options = UploadOptions()
      options.pulls = false
      switch try await run.perform(options, await run.login(), maxSeconds: Self.maxSeconds).ending {
      case .complete: return nil
      case .workLeft(let reason): return reason
      case .failed(let error): return Failure(error, host: run.setting.access.url).message
      }
    } catch let failure as Failure {
      return failure.message
    } catch {
      return "\(error)"
    }
  }
}
