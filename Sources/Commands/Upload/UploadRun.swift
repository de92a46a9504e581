// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Remotes
import Sync

/// One upload of a store by a command: it holds the lock, and knows the remote as it is behind the lock.
struct UploadRun {
  /// The store, opened for syncing.
  let store: Store
  /// The remote of the store.
  let setting: RemoteSetting
  private let lock: UploadLock

  /// Takes the lock, which `end` lets go.
  ///
  /// - Parameter lockWaitSeconds: how long it waits for another upload to end.
  /// - Throws: `Failure`: `configuration` without a remote, `temporary` while another upload runs.
  init(_ storeOptions: StoreOptions, lockWaitSeconds: Int = 0) async throws {
    store = try storeOptions.open(.sync)
    _ = try store.requireRemote()
    guard let lock = try await Self.takeLock(store.path, waitSeconds: lockWaitSeconds) else {
      throw Failure(.temporary, "\(store.path): another upload of this store runs; try again later")
    }
    self.lock = lock
    do {
      // Behind the lock: the upload that had it may have failed, or the remote was set anew meanwhile.
      setting = try store.requireRemote()
      try setting.refusePurged()
    } catch {
      lock.release()
      throw error
    }
  }

  /// Lets the lock go.
  func end() { lock.release() }

  /// Refuses to run before the next attempt is due.
  ///
  /// - Throws: `Failure` of category `temporary`, with the time to wait.
  func refuseTooEarly() throws {
    let backoff = Backoff(failures: setting.failures, nextAttempt: setting.nextAttempt)
    let seconds = backoff.secondsToWait(now: Host.now())
    guard seconds > 0 else { return }
    throw Failure(
      .temporary,
      "the next attempt is due in \(seconds) s, because the last one failed (\(setting.lastError ?? "")); --now tries at once"
    )
  }

  /// Sends and fetches until all is done or a limit is reached.
  ///
  /// - Parameters:
  ///   - traffic: where it is counted what goes over the wire.
  ///   - mostSeconds, mostBytes: what ends the run between two requests.
  /// - Throws: `Failure`: what is wrong with address or token, and what the store throws.
  func perform(
    _ options: UploadOptions, _ traffic: Traffic = Traffic(), mostSeconds: Int? = nil,
    mostBytes: Int64 = .max, show: (UploadSummary) -> Void = { _ in }
  ) async throws -> (ending: UploadEnding, summary: UploadSummary) {
    let end = mostSeconds.map { ContinuousClock.now + .seconds($0) }
    let environment = UploadEnvironment(
      now: { Host.now() }, makeID: { UUID().uuidString.lowercased() }, jitter: { Double.random(in: 0..<1) },
      isOutOfTime: { end.map { ContinuousClock.now >= $0 } ?? false },
      isOutOfBytes: { Int64(traffic.sent + traffic.received) >= mostBytes })
    return try await setting.access.ask(in: store.timezone(), counting: traffic) { remote in
      let session = UploadSession(store, remote, named: setting.access.url, options, environment)
      let ending = try await session.run(show)
      return (ending, session.summary)
    }
  }

  private static func takeLock(_ path: String, waitSeconds: Int) async throws -> UploadLock? {
    let end = ContinuousClock.now + .seconds(waitSeconds)
    while true {
      if let lock = try UploadLock.take(storePath: path) { return lock }
      if ContinuousClock.now >= end { return nil }
      try await Task.sleep(for: .milliseconds(200))
    }
  }
}
