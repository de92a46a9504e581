// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// One run of `upload` between a store and a remote: carries out the steps that a plan decides on.
///
/// Between two steps, and at any request, the process may die: the next run goes on from what the store holds.
package final class UploadSession {
  /// What was done so far.
  package internal(set) var summary = UploadSummary()

  let store: Store
  private(set) var remote: any LogbookService
  /// The zone by which the remote places what states no offset; nil before the first step.
  private var zone: LogbookZone?
  let remoteName: String
  let environment: UploadEnvironment
  var plan: UploadPlan
  var run = RunStamp(node: "", number: 0, id: "")
  /// The readings up to this one were looked at in this run.
  var lastReading: ReadingKey?
  /// Whether the login may remove what is withdrawn, as far as the remote has shown.
  var mayRemove = true
  /// The same for records.
  var mayRemoveRecords = true
  /// Whether the documents to be removed were counted in this run.
  var hasCountedRemovals = false
  /// How far the moves of documents are.
  var moves: MoveProgress
  /// Records that cannot be sent in this run.
  var heldBack: Set<String> = []
  /// How often each record was sent in this run without becoming synced.
  var attempts: [String: Int] = [:]
  /// What the last request held.
  var lastSent = LastSent.nothing
  /// Downloads that this run does not look at again.
  var doneDownloads: Set<Int64> = []
  /// Of those, the ones that leave the queue when the run ends.
  var finishedDownloads: Set<Int64> = []
  /// How many pages were fetched, and whether they lead anywhere.
  var pullProgress = PullProgress()
  /// Whether everything that others changed was fetched.
  var hasFetchedChanges = false
  /// Whether the remote was asked for anything.
  private var hasAsked = false
  /// How far the attachments are.
  var attachments: AttachmentLane
  /// Readings for whose moment another program's document has another value, as far as this run met them.
  var disputed: Set<ReadingKey> = []
  /// Records that this run's pages brought into conflict.
  var pulledConflicts: Set<String> = []
  /// The ingest to which pulled readings belong; nil before the first that was not here yet.
  var pulledIngest: Int64?

  enum LastSent {
    case nothing
    case readings([ReadingKey])
    case records([SyncRecord])

    var count: Int {
      switch self {
      case .nothing: 0
      case .readings(let keys): keys.count
      case .records(let records): records.count
      }
    }
  }

  /// How often one record is sent in a run: others, or a busy editor, may change it each time.
  static let maxAttempts = 5

  /// Readings of the last ninety days go before the others when everything is fetched: people look at these.
  static let recentSeconds: Int64 = 90 * 86400

  /// A run with a store opened as `sync`.
  ///
  /// - Parameter remoteName: the source that the ingest of pulled readings names.
  package init(
    _ store: Store, _ remote: any LogbookService, named remoteName: String, _ options: UploadOptions,
    _ environment: UploadEnvironment
  ) {
    self.store = store
    self.remote = remote
    self.remoteName = remoteName
    self.environment = environment
    var options = options
    options.maxReadings = min(options.maxReadings, remote.batchLimits.readings)
    options.maxRecords = min(options.maxRecords, remote.batchLimits.records)
    options.movesDocuments = remote.moving != nil
    moves = MoveProgress(left: options.maxMoves, removalsLeft: options.maxRemovals)
    plan = UploadPlan(options)
    attachments = AttachmentLane(PartSize(maxBytes: options.maxPartBytes))
  }

  /// The step that comes next.
  package var nextStep: UploadStep { plan.current }

  /// Runs to the end.
  ///
  /// - Parameter progress: called after each step.
  /// - Throws: `Failure` when the store fails; a failing remote is an ending.
  package func run(_ progress: (UploadSummary) -> Void = { _ in }) async throws -> UploadEnding {
    while true {
      if let ending = try await step() { return ending }
      progress(summary)
    }
  }

  /// Does the next step; returns the ending after the last.
  package func step() async throws -> UploadEnding? {
    if environment.isOutOfTime() {
      plan.stop("--max-time reached; the next run continues", isInterrupting: true)
    }
    if environment.isOutOfBytes() { plan.stop("--max-bytes reached; the next run continues") }
    try renewZone()
    switch plan.current {
    case .begin: try plan.note(try await begin())
    case .pushReadings(let limit): try plan.note(try await pushReadings(limit))
    case .pushRecords(let phase, let limit): try plan.note(try await pushRecords(phase, limit))
    case .setAside: try plan.note(setAside())
    case .quarantine(let reason): try plan.note(try quarantine(reason))
    case .pull(let limit): try plan.note(try await download(limit))
    case .moveDocuments: try plan.note(try await moveDocuments())
    case .pushAttachments: try plan.note(try await pushAttachments())
    case .fetchAttachments: try plan.note(try await fetchAttachments())
    case .requeueMissing: try plan.note(try await requeueMissing())
    case .renewNode: try plan.note(try renewNode())
    case .finish(let ending):
      return try finish(ending)
    }
    return nil
  }

  /// What another process changed, or the last page brought, holds for what is sent from then on.
  private func renewZone() throws {
    guard remote.moving != nil else { return }
    place(by: try store.timezone())
  }

  /// What is sent from now on is placed by this zone: that of the transaction which says what is sent, since a change of
  /// zone behind it queues what was sent to be moved.
  func place(by now: LogbookZone) {
    guard remote.moving != nil, now != zone else { return }
    (zone, remote) = (now, remote.placing(in: now))
  }

  /// Makes a request; what failed of it becomes the event.
  func ask<Answer>(
    _ request: () async throws(ServiceError) -> Answer
  ) async -> Result<Answer, ServiceError> {
    hasAsked = true
    do throws(ServiceError) {
      return .success(try await request())
    } catch {
      return .failure(error)
    }
  }
}

// MARK: - Begin and end

extension UploadSession {
  private func begin() async throws -> UploadEvent {
    let (id, now) = (environment.makeID(), environment.now())
    let options = plan.options
    let damaged: Int
    (run, damaged) = try store.sync { store in
      if options.queuesChanges { try store.queueDownload(.changes, .changed, at: now) }
      if options.fetchesHistory { try store.queueHistory(at: now) }
      return (try store.beginRun(id: id), try store.quarantineUnreadableRecords())
    }
    run.mayRepair = options.pushes
    summary.refused += damaged
    return options.joinsZones && plan.canPushRecords ? try await joinZones() : .done
  }

  private func renewNode() throws -> UploadEvent {
    let (node, id) = (environment.makeID(), environment.makeID())
    run = try store.sync { try $0.renewNode(node, runID: id) }
    run.mayRepair = plan.options.pushes
    return .done
  }

  /// Finds out which readings a remote lacks that lost its newest part, and queues them and all records again. What
  /// it gives is then pulled from the start. Nothing is replaced here before that: a record that is queued is never
  /// overwritten by a pull.
  private func requeueMissing() async throws -> UploadEvent {
    run.lastSeenPosition = nil
    let answer = await ask { () async throws(ServiceError) in try await remote.readingDigests(run) }
    switch answer {
    case .failure(let error): return .failed(error, items: 0)
    case .success(let theirs):
      let (now, pulls) = (environment.now(), plan.options.pulls)
      summary.requeued += try store.sync { store in
        let buckets = try store.uploadedDigests().differing(from: theirs)
        try store.forgetPositions()
        if pulls { try store.queueDownload(.changes, .changed, at: now) }
        return try store.requeue(
          buckets,
          reason: "the remote does not know a position that it returned: its newest changes are lost",
          at: now)
      }
      lastReading = nil
      attempts = [:]
      pullProgress.startOver()
      (doneDownloads, finishedDownloads) = ([], [])
      return .done
    }
  }

  /// Keeps how the run ended.
  ///
  /// - Returns: the ending; where the remote asks to wait, with the time until the next attempt.
  private func finish(_ ending: UploadEnding) throws -> UploadEnding {
    let (now, jitter) = (environment.now(), environment.jitter())
    let (host, pushed, pulled) = (remoteName, plan.options.pushes, hasFetchedChanges)
    let asked = hasAsked
    let finished = finishedDownloads
    let toMove = try store.siteMoves()
    (summary.readingsToMove, summary.recordsToMove) = (toMove.readings, toMove.records)
    if remote.removal != nil { try countRemovals() }
    return try store.sync { store in
      try store.endTransfers()
      try store.finishDownloads(finished)
      switch ending {
      case .complete: try store.noteSuccess(at: now, pushed: pushed, pulled: pulled, asked: asked)
      case .workLeft: break
      case .failed(var error):
        let known = try store.attempts()
        var backoff = Backoff(failures: known.failures, nextAttempt: known.next)
        backoff.note(error, now: now, jitter: jitter)
        if error == .purged { try store.notePurged(at: now) }
        if case .busy(let sentence, _) = error, let next = backoff.nextAttempt {
          error = .busy(sentence, retryAfterSeconds: Int(next - now))
        }
        try store.noteFailure(
          failures: backoff.failures, next: backoff.nextAttempt, Failure(error, host: host).message)
        return .failed(error)
      }
      return ending
    }
  }
}
