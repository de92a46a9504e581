// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Removes documents of hidden items, and moves documents after a change of zone. Both happen after the pull,
/// on a remote that stores only instants. A server does not allow changing the time of a document. So a move
/// removes the document and sends it again. The store records each move first, so that the next upload can
/// complete it after an interruption.
extension UploadSession {
  /// The maximum number of readings that one step moves. Each reading takes one request.
  private static let maxMoved = 100
  /// The number of requests for moving a record: finding its documents, marking its document, creating the
  /// new one, clearing and deleting the old one.
  static let requestsOfRecord = 8

  func alignSite() async throws -> UploadEvent {
    guard let moving = remote.moving, let removal = remote.removal else { return .exhausted }
    lastSent = .nothing
    if let event = try await removeHidden(removal) { return event }
    // The numbers are shown while the work is running.
    let counts = try store.siteMoves()
    (summary.readingsToMove, summary.recordsToMove) = (counts.readings, counts.records)
    guard moves.left > 0 else { return try endMoves() }
    if let event = try await moveReadings(moving, removal) { return event }
    return try await moveRecord()
  }

  /// Ends the moves of this upload. Remaining moves are left for the next upload.
  private func endMoves() throws -> UploadEvent {
    if summary.readingsToMove + summary.recordsToMove > 0 { try plan.advance(after: .workLeft(Self.isLeft)) }
    return .exhausted
  }

  private static let isLeft = "some documents on the site are still to be moved; the next run continues"

  // MARK: Readings

  /// Moves the next readings; nil if none are left.
  private func moveReadings(
    _ moving: any MovingService, _ removal: any RemovalService
  ) async throws -> UploadEvent? {
    guard mayRemove else { return nil }
    let (progress, limit) = (moves, min(moves.left, Self.maxMoved))
    let (found, isLater) = try store.sync { store in
      let isLater = try progress.isLater ?? store.moveLater()
      let found = try store.pendingMoves(after: progress.lastReading, limit: limit, isDescending: isLater)
      return (found, isLater)
    }
    let batch = MoveBatch(found)
    guard !batch.keys.isEmpty else { return nil }
    let run = run
    let answer = await ask { () async throws(ServiceError) in
      try await moving.instants(of: batch.readings, run)
    }
    switch answer {
    case .failure(let error): return .failed(error, items: 0)
    case .success(let instants):
      moves.isLater = isLater
      let event = try await move(batch, from: instants, removal)
      if case .failed = event { return event }
      moves.lastReading = found.readings.last
      moves.left -= batch.keys.count
      return event
    }
  }

  /// Removes documents with wrong instants. Then sends these readings again, and readings whose document an
  /// earlier upload removed.
  private func move(
    _ batch: MoveBatch, from instants: [[Int64]], _ removal: any RemovalService
  ) async throws -> UploadEvent {
    let known = batch.step(instants)
    let step = try store.sync { store in
      let done = batch.part(known.done)
      try store.endMoves(of: done.keys, placedBy: done.batch.readings.map(\.placement.utcOffset))
      try store.markPresentOnRemote(known.present.map { batch.keys[$0] })
      let places = known.toChange
      let begun = batch.part(places)
      return known.changing(
        Set(
          try store.beginMoves(of: begun.keys, placedBy: begun.batch.readings.map(\.placement.utcOffset))
            .map { places[$0] }))
    }
    if step != known { try plan.advance(after: .workLeft(Self.isLeft)) }
    let run = run
    if !step.toRemove.isEmpty {
      let (removed, _) = batch.part(step.toRemove)
      switch await ask({ () async throws(ServiceError) in try await removal.remove(removed, run) }) {
      case .failure(let error): return .failed(error, items: 0)
      case .success(false):
        mayRemove = false
        try plan.advance(
          after: .workLeft("the login may not move readings; add api:entries:delete to its role"))
        return .done
      case .success(true): break
      }
    }
    guard !step.toSend.isEmpty else { return .done }
    let (sent, keys) = batch.part(step.toSend)
    switch await ask({ () async throws(ServiceError) in try await remote.store(sent, run) }) {
    case .failure(let error): return .failed(error, items: 0)
    case .success(let answer):
      try apply(keys, sent, answer)
      return .done
    }
  }

  private func apply(_ keys: [ReadingKey], _ sent: ReadingBatch, _ answer: ReadingAnswer) throws {
    let now = environment.now()
    let refused = Dictionary(
      answer.refused.filter { keys.indices.contains($0.item) }.map { ($0.item, $0.reason) }
    ) { first, _ in first }
    try store.sync { store in
      for (item, reason) in refused.sorted(by: { $0.key < $1.key }) {
        try store.refuseMoves(of: [keys[item]], reason: reason, at: now)
      }
      try store.markUploaded(
        keys, except: refused.map { RefusedItem(item: $0.key, reason: $0.value) }, sameAs: answer.sameAs,
        at: now)
      try store.endMoves(of: keys, placedBy: sent.readings.map(\.placement.utcOffset))
      try store.setLastSeenPosition(answer.position)
    }
    if let position = answer.position { run.lastSeenPosition = position }
    summary.movedReadings += keys.count - refused.count
    summary.refused += refused.count
  }

  // MARK: Records

  private func moveRecord() async throws -> UploadEvent {
    let last = moves.lastRecord
    let (found, zone) = try store.sync { store in
      let found = try store.pendingMoves(after: last, limit: 1).first
      return (found, try store.timezone(of: found.map { [$0.guid] } ?? []))
    }
    guard let record = found else { return .exhausted }
    // The remote compares its document with the instant in this request. So the instant must be computed with
    // the zone that was read together with the record.
    useZones(zone)
    guard let moving = remote.moving else { return .exhausted }
    let (change, run) = (record.whole(from: run.node), run)
    let answer = await ask { () async throws(ServiceError) in try await moving.move(change, run) }
    switch answer {
    case .failure(.refused(let reason)):
      try plan.advance(after: .workLeft("records are not moved on the site: \(reason)"))
      return .exhausted
    case .failure(let error): return .failed(error, items: 0)
    case .success(let verdict):
      moves.lastRecord = record.guid
      moves.left -= Self.requestsOfRecord
      switch verdict {
      case _ where record.state.isDeleted: try store.sync { try $0.endMove(of: record, revision: nil) }
      // If the record is pending or in conflict, only leftovers of an interrupted move are removed. The
      // record's document moves when the record is sent or its conflict is resolved.
      case _ where record.isPending || record.isConflicted: break
      case .accepted(let revision):
        try store.sync { try $0.endMove(of: record, revision: revision) }
        if revision != record.revision { summary.movedRecords += 1 }
      case .refused: try store.sync { try $0.endMove(of: record, revision: nil) }
      // The next pull downloads the change of the other node, and the next upload moves the result.
      case .conflict(_, let state, _):
        if state.isDeleted {
          try store.sync { try $0.endMove(of: record, revision: nil) }
        } else {
          try plan.advance(after: .workLeft(Self.isLeft))
        }
      }
      return .done
    }
  }
}

/// The readings of one step `alignSite` whose documents on the site may be at wrong instants.
struct MoveBatch {
  /// The readings. The shown time of a reading and the UTC offset of its placement are the instant at which
  /// its document must be.
  let readings: ReadingBatch
  let keys: [ReadingKey]
  /// The primary keys of readings that must be sent even if the remote has no document of them.
  private let mustSend: Set<ReadingKey>

  init(_ found: PendingMoves) {
    (readings, keys, mustSend) = (found.readings.batch, found.readings.keys, found.owed)
  }

  /// What to do with the readings of a step, which are given by their indexes.
  struct MoveStep: Hashable {
    /// The indexes of the readings that are complete, since nothing is left to move.
    var done: [Int] = []
    /// Those indexes of `done` whose readings have a document on the remote.
    var present: [Int] = []
    /// The indexes of the readings with a document at a wrong instant, or with several documents.
    var toRemove: [Int] = []
    /// The indexes of the readings that must be sent, since they have no document after the removal.
    var toSend: [Int] = []

    /// The indexes of the readings for which documents are removed or created.
    var toChange: [Int] { Set(toRemove + toSend).sorted() }

    /// The same step, in which only these readings are removed or sent.
    func changing(_ places: Set<Int>) -> MoveStep {
      var step = self
      step.toRemove.removeAll { !places.contains($0) }
      step.toSend.removeAll { !places.contains($0) }
      return step
    }
  }

  /// Decides what the next step does with each reading of the batch.
  ///
  /// - Parameter instants: for each reading, the instants of its documents on the remote.
  func step(_ instants: [[Int64]]) -> MoveStep {
    Self.step(readings: readings.readings, mustSend: { mustSend.contains(keys[$0]) }, instants: instants)
  }

  /// Decides what the next step does with each of these readings.
  ///
  /// - Parameter mustSend: returns whether a reading must be sent even if the remote has no document of it.
  static func step(readings: [Reading], mustSend: (Int) -> Bool, instants: [[Int64]]) -> MoveStep {
    var step = MoveStep()
    for (place, reading) in readings.enumerated() {
      let target = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
      let found = instants.indices.contains(place) ? instants[place] : []
      switch found.count {
      case 1 where found[0] == target:
        step.done.append(place)
        step.present.append(place)
      case 0 where mustSend(place): step.toSend.append(place)
      // The document was deleted on the remote, or the reading is in a document of another program.
      case 0: step.done.append(place)
      case 1:
        step.toRemove.append(place)
        step.toSend.append(place)
      // A removal deletes one of the documents, but it is unknown which one. So the next upload checks again.
      default: step.toRemove.append(place)
      }
    }
    return step
  }

  /// The readings at these indexes, with their keys.
  func part(_ places: [Int]) -> (batch: ReadingBatch, keys: [ReadingKey]) {
    (
      ReadingBatch(devices: readings.devices, readings: places.map { readings.readings[$0] }),
      places.map { keys[$0] }
    )
  }
}

extension SyncRecord {
  /// The record as a change that the remote already has. It is not an edit, and the record does not become
  /// pending.
  func whole(from node: String) -> RecordChange {
    RecordChange(guid: guid, node: node, version: version, base: revision, state: state)
  }
}

/// The progress of removing and moving documents in an upload.
struct MoveProgress {
  /// The number of removals that this upload may still make.
  var removalsLeft: Int
  /// The number of moves that this upload may still make.
  var left: Int
  /// Whether documents move to later instants; nil before the first move. If so, the last items are moved
  /// first, so that no document moves to a time that another document still has.
  var isLater: Bool?
  /// The last reading that was handled.
  var lastReading: ReadingKey?
  /// The guid of the last record that was handled.
  var lastRecord = ""

  init(left: Int, removalsLeft: Int) { (self.left, self.removalsLeft) = (left, removalsLeft) }
}

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
