// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Foundation
import Logbook
import LogbookStore
import Remotes
package import Sync

/// `glucoport upload`: sends the pending items, and fetches changes that others have made.
struct UploadCommand: AsyncParsableCommand, PersonVisitor {
  static let actionClass = ActionClass.immediate
  static let keepsPartialWork = true
  static let configuration = CommandConfiguration(
    "upload", "Send pending changes to the server, and fetch what others changed.",
    """
    Edits made meanwhile are never lost or overwritten. You may stop the process at any \
    moment; the next run continues.
    """,
    examples: "glucoport upload", "glucoport upload --unattended --quiet --max-time 10m")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Only send.")
  var pushOnly = false

  @Flag(help: "Only download.")
  var pullOnly = false

  @Flag(help: "Show what is pending; send and change nothing.")
  var dryRun = false

  @Flag(help: "Try at once, even if the next attempt is not due yet, also for attachments.")
  var now = false

  @Flag(
    help:
      "For cron: fetch only when the pull interval has passed; end with 75 if the server cannot be reached."
  )
  var unattended = false

  @Flag(help: "Also download older readings that were skipped so far.")
  var all = false

  @Flag(help: "Send again what the remote refused.")
  var retryRefused = false

  @Option(
    help: ArgumentHelp(
      "Which time zone to keep if this store and the remote were given different ones: mine or theirs.",
      valueName: "side"))
  var zone: ZoneChoice?

  @Option(
    help: ArgumentHelp("Stop after this time: 90s, 10m or 1h. The next run continues.", valueName: "time"))
  var maxTime: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "Stop after this amount of data: 500KiB, 20MiB. The next run continues.", valueName: "bytes"
    ))
  var maxBytes: ByteCountArgument?

  @Option(help: ArgumentHelp("Wait up to this time for another upload of this store.", valueName: "time"))
  var lockWait: DurationArgument?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(
    help:
      "Print nothing on success; with --unattended also nothing on temporary failures, and lasting ones once."
  )
  var quiet = false

  var needsNoHeading: Bool { quiet || json }

  func reasonToSkip(_ store: Store) throws -> String? {
    try store.remote() == nil ? "no remote; 'glucoport remote set' names one" : nil
  }

  func validate() throws {
    if pushOnly, pullOnly { throw ValidationError("Use only one of --push-only and --pull-only.") }
    if all, pushOnly || dryRun {
      throw ValidationError("--all downloads; use it without --push-only and --dry-run.")
    }
    if zone != nil, dryRun { throw ValidationError("Use --zone without --dry-run.") }
    if retryRefused, pullOnly || dryRun {
      throw ValidationError("--retry-refused sends; use it without --pull-only and --dry-run.")
    }
  }

  func run() async throws {
    let output = Output()
    if dryRun { return try showPending(output) }
    do {
      try await upload(output)
    } catch let failure as Failure where unattended && failure.category.isTemporary {
      // A job tries again at its next run, so the failure is temporary.
      if quiet { throw ExitStatus.temporary }
      throw Failure(.temporary, failure.message)
    }
  }

  private func upload(_ output: Output) async throws {
    let run = try await UploadRun(storeOptions, lockWaitSeconds: lockWait?.seconds ?? 0)
    defer { run.end() }
    if !now { try run.refuseTooEarly() }
    let report = FailureReport(run: run, isUnattended: unattended, isQuiet: quiet, output: output)
    let login = try await report.login()
    if retryRefused { try run.store.releaseRefused() }
    let options = try options(run)
    let meter = ProgressMeter(output, isQuiet: quiet || json)
    let (ending, summary) = try await run.perform(
      options, login, maxSeconds: maxTime?.seconds, maxBytes: maxBytes?.bytes ?? .max
    ) { meter.show(UploadText.line($0)) }
    meter.clear()
    if !options.areChangesDue, !quiet {
      output.message(
        "glucoport: the next download is not due yet; to download now, omit --unattended")
    }
    if !quiet, let undone = try skippedWork(run.store) { output.message("glucoport: \(undone)") }
    try show(ending, summary, login, report)
  }

  /// The sentence about what `--push-only` or `--pull-only` left undone; nil if nothing was left undone.
  private func skippedWork(_ store: Store) throws -> String? {
    if pushOnly { return "--push-only: changes by others were not downloaded" }
    guard pullOnly else { return nil }
    let overview = try store.overview(ingests: 0)
    let pending = overview.pending + (try store.attachmentBacklog().pending(for: store.remote()))
    return pending == 0
      ? nil : "--pull-only: \(counted(pending, "item is", "items are")) still pending"
  }

  private func options(_ run: UploadRun) throws -> UploadOptions {
    var options = UploadOptions()
    (options.pushes, options.pulls, options.fetchesHistory) = (!pullOnly, !pushOnly, all)
    options.zoneChoice = zone
    options.requestsAbsentAtOnce = now
    if unattended {
      let interval = PullInterval(seconds: try run.store.pullIntervalSeconds())
      options.areChangesDue = interval.isOver(since: run.setting.lastPull, now: Host.now())
    }
    return options
  }

  private func showPending(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    let overview = try store.overview(ingests: 0)
    let contents = try store.attachmentBacklog().toSend
    if json {
      try output.json(
        PendingObject(
          pendingReadings: overview.pendingReadings, pendingRecords: overview.pendingRecords,
          pendingAttachments: contents, readingsToMove: overview.siteMoves.readings,
          recordsToMove: overview.siteMoves.records))
    } else if !quiet {
      let attachments = contents == 0 ? "" : ", \(counted(contents, "attachment"))"
      let moves = UploadText.movedPart(
        overview.siteMoves.readings, overview.siteMoves.records, "to move on the site")
      output.line(
        "pending: \(counted(overview.pendingReadings, "reading")), \(counted(overview.pendingRecords, "record"))\(attachments)\(moves); nothing was sent or changed"
      )
    }
    try output.finish()
  }

  private func show(
    _ ending: UploadEnding, _ summary: UploadSummary, _ login: RemoteLogin, _ report: FailureReport
  ) throws {
    let output = report.output
    if json {
      try output.json(UploadObject(ending: ending, summary: summary, traffic: login.traffic))
    } else if !quiet {
      if let line = UploadText.result(ending, summary) { output.line(line) }
    }
    try output.finish()
    var parts = [ExitStatus.of(summary)]
    let lines = UploadText.advice(summary) + (quiet ? [] : UploadText.remarks(ending, summary))
    for line in lines { output.message("glucoport: \(line)") }
    switch ending {
    case .complete: break
    case .workLeft(let reason):
      if !report.isSilent { output.failure("glucoport: \(reason)", .temporary) }
      parts.append(.temporary)
    case .failed(let error):
      let failure = Failure(error, host: report.run.setting.access.url)
      parts.append(try report.report(failure, tokenMark: report.run.mark(of: login)))
    }
    try ExitStatus.of(parts).end()
  }
}

/// Decides whether the failure of an upload is printed, and with which exit status. Also stores lasting
/// failures.
///
/// A failing job would print the same line at every run, and cron would send each line by mail. So with
/// `--unattended` and `--quiet`, no temporary failure is printed, and a lasting one only once. It is printed
/// again if the failure, the token or the remote has changed, or if an upload has succeeded since. `status
/// --check` reports both kinds of failures.
struct FailureReport {
  let run: UploadRun
  let isUnattended: Bool
  let isQuiet: Bool
  let output: Output

  /// Whether known and temporary failures are not printed.
  var isSilent: Bool { isUnattended && isQuiet }

  /// Makes the login to the remote. A lasting failure is reported and stored.
  ///
  /// - Throws: `ExitStatus` after a lasting failure, `Failure` for a temporary one.
  func login() async throws -> RemoteLogin {
    do {
      return try await run.login()
    } catch let failure as Failure where !failure.category.isTemporary {
      // If the logbook was removed on the remote, the failure is the same for any token. So the known mark of
      // the token is kept.
      let known = run.setting.purgedAt == nil ? nil : run.setting.persistentFailure?.tokenMark
      let status = try report(failure, tokenMark: known ?? "")
      try run.store.sync {
        try $0.storeFailure(failures: run.setting.failures, next: nil, failure.message)
      }
      throw status
    }
  }

  /// Prints a failure, unless `isSilent` applies to it. Stores the failure if it is lasting and new.
  ///
  /// - Parameter tokenMark: the mark of the token with which the upload failed.
  /// - Returns: the exit status for the failure.
  func report(_ failure: Failure, tokenMark: String) throws -> ExitStatus {
    if failure.category.isTemporary {
      let status = ExitStatus(failure.category, isUnattended: isUnattended)
      if !isSilent { output.failure("glucoport: \(failure.message)", status) }
      return status
    }
    let isKnown = run.setting.persistentFailure?.isSame(as: failure, tokenMark: tokenMark) == true
    let status = ExitStatus(failure.category)
    if !isSilent || !isKnown { output.failure("glucoport: \(failure.message)", status) }
    if !isKnown {
      let failure = PersistentFailure(failure, since: Host.now(), tokenMark: tokenMark)
      try run.store.sync { try $0.storePersistentFailure(failure) }
    }
    return status
  }
}

extension ZoneChoice: ExpressibleByArgument {}

/// One upload of a store. It holds the upload lock, and reads the remote setting only after taking the lock.
struct UploadRun {
  /// The store, opened in the role for syncing.
  let store: Store
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
    guard let lock = try await Self.waitForLock(store.path, waitSeconds: lockWaitSeconds) else {
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

  private static func waitForLock(_ path: String, waitSeconds: Int) async throws -> UploadLock? {
    let end = ContinuousClock.now + .seconds(waitSeconds)
    while true {
      if let lock = try UploadLock.acquire(storePath: path) { return lock }
      if ContinuousClock.now >= end { return nil }
      try await Task.sleep(for: .milliseconds(200))
    }
  }
}
