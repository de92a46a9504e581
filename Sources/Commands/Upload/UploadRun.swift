// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Foundation
import Logbook
import LogbookStore
import Remotes
import Sync

/// One upload of a store. It holds the upload lock, and reads the remote setting only after taking the lock.
struct UploadRun {
  /// The store, opened in the role for syncing.
  let store: Store
  /// The setting of the remote.
  let setting: RemoteSetting
  private let lock: UploadLock

  /// Opens the store and takes the upload lock. Call `end` to release the lock.
  ///
  /// - Parameter lockWaitSeconds: how many seconds to wait if another upload runs.
  /// - Throws: `Failure`: `configuration` if the store has no remote, `temporary` if another upload still
  ///   runs.
  init(_ storeOptions: StoreOptions, lockWaitSeconds: Int = 0) async throws {
    store = try storeOptions.open(.sync)
    _ = try store.requireRemote()
    guard let lock = try await Self.takeLock(store.path, waitSeconds: lockWaitSeconds) else {
      throw Failure(.temporary, "\(store.path): another upload of this store is running; try again later")
    }
    self.lock = lock
    do {
      // The setting is read again with the lock held, since an upload may have failed meanwhile, or a person
      // may have changed the remote.
      setting = try store.requireRemote()
    } catch {
      lock.release()
      throw error
    }
  }

  /// Releases the upload lock.
  func end() { lock.release() }

  /// Throws if the delay after a failed upload has not passed.
  ///
  /// - Throws: `Failure` of category `temporary`. The message has the remaining time.
  func refuseTooEarly() throws {
    let backoff = Backoff(failures: setting.failures, nextAttempt: setting.nextAttempt)
    let seconds = backoff.secondsToWait(now: Host.now())
    guard seconds > 0 else { return }
    throw Failure(
      .temporary,
      "the next attempt is due in \(seconds) s, because the last one failed (\(setting.lastError ?? "")); to try now, use --now"
    )
  }

  /// Makes the login to the remote, for which it reads the token.
  ///
  /// - Throws: `Failure`: errors in the address or the token, and `configuration` if the logbook was removed
  ///   on the remote.
  func login() async throws -> RemoteLogin {
    try setting.refusePurged()
    return try await setting.access.login(in: store.timezone())
  }

  /// A mark of the login's token, by which a later run recognises the same token. The token cannot be derived
  /// from the mark.
  func mark(of login: RemoteLogin) -> String { login.token.mark(salt: setting.node) }

  /// Sends and fetches until all work is done or a limit is reached.
  ///
  /// - Parameters:
  ///   - login: the login that `login()` returned.
  ///   - maxSeconds, maxBytes: the limits of the run. The time limit also ends a request that is running.
  /// - Throws: `Failure` if the store fails. A failure of the remote is returned as the ending.
  func perform(
    _ options: UploadOptions, _ login: RemoteLogin, maxSeconds: Int? = nil,
    maxBytes: Int64 = .max, show: (UploadSummary) -> Void = { _ in }
  ) async throws -> (ending: UploadEnding, summary: UploadSummary) {
    var options = options
    options.joinsZones = true
    let traffic = login.traffic
    let end = maxSeconds.map { ContinuousClock.now + .seconds($0) }
    var login = login
    login.end = end
    login.mayBlock = true
    let environment = UploadEnvironment(
      now: { Host.now() }, makeID: { UUID().uuidString.lowercased() }, jitter: { Double.random(in: 0..<1) },
      isOutOfTime: { end.map { ContinuousClock.now >= $0 } ?? false },
      isOutOfBytes: { Int64(traffic.sent + traffic.received) >= maxBytes })
    return try await setting.access.connect(with: login) { remote in
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
