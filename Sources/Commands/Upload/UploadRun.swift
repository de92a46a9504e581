// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Foundation
import Logbook
import LogbookStore
import Remotes
import Sync

/// One upload of a store by a command. It holds the lock, and knows the remote as it is after taking the
/// lock.
struct UploadRun {
  /// The store, opened for syncing.
  let store: Store
  /// The remote of the store.
  let setting: RemoteSetting
  private let lock: UploadLock

  /// Takes the lock, which `end` releases.
  ///
  /// - Parameter lockWaitSeconds: how long to wait until another upload ends.
  /// - Throws: `Failure`: `configuration` without a remote, `temporary` while another upload runs.
  init(_ storeOptions: StoreOptions, lockWaitSeconds: Int = 0) async throws {
    store = try storeOptions.open(.sync)
    _ = try store.requireRemote()
    guard let lock = try await Self.takeLock(store.path, waitSeconds: lockWaitSeconds) else {
      throw Failure(.temporary, "\(store.path): another upload of this store is running; try again later")
    }
    self.lock = lock
    do {
      // Read again after taking the lock: the upload that had it may have failed, or the remote may have
      // changed meanwhile.
      setting = try store.requireRemote()
    } catch {
      lock.release()
      throw error
    }
  }

  /// Releases the lock.
  func end() { lock.release() }

  /// Refuses to run before the next attempt is due.
  ///
  /// - Throws: `Failure` of category `temporary`, with the remaining time.
  func refuseTooEarly() throws {
    let backoff = Backoff(failures: setting.failures, nextAttempt: setting.nextAttempt)
    let seconds = backoff.secondsToWait(now: Host.now())
    guard seconds > 0 else { return }
    throw Failure(
      .temporary,
      "the next attempt is due in \(seconds) s, because the last one failed (\(setting.lastError ?? "")); to try now, use --now"
    )
  }

  /// The login to the remote, for which the token is read.
  ///
  /// - Throws: `Failure`: errors of address or token, and `configuration` for a logbook that was removed on
  ///   the remote.
  func login() async throws -> RemoteLogin {
    try setting.refusePurged()
    return try await setting.access.login(in: store.timezone())
  }

  /// A mark from which a later run can tell whether it has the same token.
  func mark(of login: RemoteLogin) -> String { login.token.mark(salt: setting.node) }

  /// Sends and fetches until everything is done or a limit is reached.
  ///
  /// - Parameters:
  ///   - login: the login from `login`.
  ///   - maxSeconds, maxBytes: the limits of the run. The time limit also interrupts a request.
  /// - Throws: `Failure` if the store fails; a failing remote is an ending.
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
    return try await setting.access.ask(with: login) { remote in
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
