// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// One upload between a store and a remote. It performs the steps that `UploadPlan` determines.
///
/// The process may end between two steps and during any request. The next upload continues from the state of
/// the store.
package final class UploadSession {
  /// The results so far.
  package internal(set) var summary = UploadSummary()

  let store: Store
  private(set) var remote: any LogbookService
  /// The zone with which the remote computes instants; nil before the first step.
  private var zone: LogbookZone?
  let remoteName: String
  let environment: UploadEnvironment
  var plan: UploadPlan
  var run = RunStamp(node: "", number: 0, id: "")
  /// The batch of readings that was read ahead, to be sent after the current request.
  var readingsAhead: ReadingsAhead?
  /// The response to a request for changes that was sent before the upload began. Each later request drops
  /// it.
  var changesAhead: ChangesAhead?
  /// The last reading that this upload sent or skipped.
  var lastReading: ReadingKey?
  /// Whether the login may remove withdrawn readings. False after the remote has refused it.
  var mayRemove = true
  /// Whether the login may remove withdrawn records. False after the remote has refused it.
  var mayRemoveRecords = true
  /// Whether this upload already counted the documents to be removed.
  var hasCountedRemovals = false
  /// The progress of removing and moving documents.
  var moves: MoveProgress
  /// The guids of records that this upload cannot send.
  var heldBack: Set<String> = []
  /// For each record, by guid: how many times this upload sent it without success.
  var attempts: [String: Int] = [:]
  /// The items in the last request.
  var lastSent = LastSent.nothing
  /// The ids of downloads that this upload completed.
  var doneDownloads: Set<Int64> = []
  /// The downloads of `doneDownloads` that are removed from the queue at the end of the upload.
  var finishedDownloads: Set<Int64> = []
  /// The counts of pages, which detect a list of changes without an end.
  var pullProgress = PullProgress()
  /// Whether this upload has pulled all changes of other nodes.
  var hasFetchedChanges = false
  /// Whether this upload has pulled withdrawals from a site after it last looked for readings that are
  /// visible again.
  var hasPulledWithdrawals = false
  /// Whether this upload has sent a request.
  private(set) var hasAsked = false
  /// The progress of attachments.
  var attachments: AttachmentLane
  /// Readings of this store for which another program's document has a different value at the same time, as
  /// far as this upload has found them.
  var disputed: Set<ReadingKey> = []
  /// The guids of records that this upload's pull put in conflict.
  var pulledConflicts: Set<String> = []
  /// The ingest of the pulled readings; nil until a reading is new.
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

  /// A batch of readings that was selected before the previous batch was answered.
  struct ReadingsAhead {
    let after: ReadingKey?
    let limit: Int
    /// The version of the store from which it was read.
    let version: StoreVersion
    let readings: PendingReadings
  }

  /// The maximum number of times that one upload sends a record without success, since other nodes may change
  /// it each time. The next upload sends it again.
  static let maxAttempts = 5

  /// The period in seconds before now whose readings are downloaded first if everything is downloaded, since
  /// people look at recent readings.
  static let recentSeconds: Int64 = 90 * 86400

  /// An upload of a store that was opened as `sync`.
  ///
  /// - Parameter remoteName: the name of the remote, which is stored with the ingest of pulled readings.
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

  package var nextStep: UploadStep { plan.current }

  /// Performs all steps of the upload.
  ///
  /// - Parameter progress: called after each step.
  /// - Throws: `Failure` if the store fails. If the remote fails, this is an ending and not an error.
  package func run(_ progress: (UploadSummary) -> Void = { _ in }) async throws -> UploadEnding {
    while true {
      if let ending = try await step() { return ending }
      progress(summary)
    }
  }

  /// Performs the next step. Returns the ending after the last step, otherwise nil.
  package func step() async throws -> UploadEnding? {
    if environment.isOutOfTime() { try plan.advance(after: .limitReached(.time)) }
    if environment.isOutOfBytes() { try plan.advance(after: .limitReached(.bytes)) }
    try renewZone()
    switch plan.current {
    case .begin: try plan.advance(after: try await begin())
    case .pushReadings(let limit): try plan.advance(after: try await pushReadings(limit))
    case .pushRecords(let phase, let limit): try plan.advance(after: try await pushRecords(phase, limit))
    case .setAside: try plan.advance(after: setAside())
    case .quarantine(let reason): try plan.advance(after: try quarantine(reason))
    case .pull(let limit): try plan.advance(after: try await download(limit))
    case .alignSite: try plan.advance(after: try await alignSite())
    case .pushAttachments: try plan.advance(after: try await pushAttachments())
    case .fetchAttachments: try plan.advance(after: try await fetchAttachments())
    case .requeueMissing: try plan.advance(after: try await requeueMissing())
    case .renewNode: try plan.advance(after: try renewNode())
    case .finish(let ending):
      return try finish(ending)
    }
    return nil
  }

  /// Reads the zones again, since another process or the last page of changes may have changed them.
  private func renewZone() throws {
    guard remote.moving != nil else { return }
    useZones(try store.timezone())
  }

  /// Uses these zones for everything that is sent from now on. They must be read in the transaction that
  /// selects the items: a later change of zone queues the sent items for a move.
  func useZones(_ now: LogbookZone) {
    guard remote.moving != nil, now != zone else { return }
    (zone, remote) = (now, remote.convertingTimes(in: now))
  }

  /// Sends a request, and returns the response or the error as a value.
  func ask<Answer>(
    _ request: () async throws(ServiceError) -> Answer
  ) async -> Result<Answer, ServiceError> {
    countRequest()
    return await Self.answer(request)
  }

  /// Notes that a request is sent, and drops `changesAhead`. Must be called before each request. After a
  /// request, the server's records may be newer than those in the dropped response, which would replace newer
  /// records by older ones.
  func countRequest() {
    hasAsked = true
    changesAhead = nil
  }

  /// The response to a request, or its error, as a value.
  static func answer<Answer>(
    _ request: () async throws(ServiceError) -> Answer
  ) async -> Result<Answer, ServiceError> {
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
    if try await isIdle() { return .exhausted }
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

  /// Finds the readings that a remote lacks after it lost its newest data. Queues these readings and all
  /// records again. After this, everything is pulled from the start. The pull replaces none of these records
  /// before they are sent, since it never overwrites a pending record.
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

  /// Stores how the upload ended.
  ///
  /// - Returns: the ending. If the remote asked to wait, it contains the time until the next attempt.
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
      case .complete: try store.storeSuccess(at: now, pushed: pushed, pulled: pulled, asked: asked)
      case .workLeft: break
      case .failed(var error):
        let known = try store.attempts()
        var backoff = Backoff(failures: known.failures, nextAttempt: known.next)
        backoff.postpone(after: error, now: now, jitter: jitter)
        if error == .purged { try store.storePurge(at: now) }
        if case .busy(let sentence, _) = error, let next = backoff.nextAttempt {
          error = .busy(sentence, retryAfterSeconds: Int(next - now))
        }
        try store.storeFailure(
          failures: backoff.failures, next: backoff.nextAttempt, Failure(error, host: host).message)
        return .failed(error)
      }
      return ending
    }
  }
}

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
