// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Behind the pull, removing documents of what is hidden here, and moving documents on a remote that knows only instants,
/// after a change of zone. The server lets nobody change the time of a document: it is removed and sent again. What was
/// begun is kept in the store before, so that a run that dies in between leaves nothing behind that the next one would
/// not finish.
extension UploadSession {
  /// Readings in one step. Each is a request of its own, and the rest of them are few.
  private static let maxMoved = 100
  /// The requests of a record: its documents are looked for, its document is marked, written anew, made blank and deleted.
  static let requestsOfRecord = 8

  func moveDocuments() async throws -> UploadEvent {
    guard let moving = remote.moving, let removal = remote.removal else { return .exhausted }
    lastSent = .nothing
    if let event = try await removeHidden(removal) { return event }
    // The count is shown before the work, and while it goes on.
    let counts = try store.siteMoves()
    (summary.readingsToMove, summary.recordsToMove) = (counts.readings, counts.records)
    guard moves.left > 0 else { return leaveMoves() }
    if let event = try await moveReadings(moving, removal) { return event }
    return try await moveRecord()
  }

  /// The next run goes on.
  private func leaveMoves() -> UploadEvent {
    if summary.readingsToMove + summary.recordsToMove > 0 { plan.leaveWork(Self.isLeft) }
    return .exhausted
  }

  private static let isLeft = "some documents on the site are still to be moved; the next run continues"

  // MARK: Readings

  /// Nil where none are left.
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

  /// Removes what stands elsewhere, and sends it and what is missing since an earlier run.
  private func move(
    _ batch: MoveBatch, from instants: [[Int64]], _ removal: any RemovalService
  ) async throws -> UploadEvent {
    let known = batch.step(instants)
    let step = try store.sync { store in
      let done = batch.part(known.done)
      try store.endMoves(of: done.keys, placedBy: done.batch.readings.map(\.placement.utcOffset))
      try store.markThere(known.there.map { batch.keys[$0] })
      let places = known.toChange
      let begun = batch.part(places)
      return known.changing(
        Set(
          try store.beginMoves(of: begun.keys, placedBy: begun.batch.readings.map(\.placement.utcOffset))
            .map { places[$0] }))
    }
    if step != known { plan.leaveWork(Self.isLeft) }
    let run = run
    if !step.toRemove.isEmpty {
      let (removed, _) = batch.part(step.toRemove)
      switch await ask({ () async throws(ServiceError) in try await removal.remove(removed, run) }) {
      case .failure(let error): return .failed(error, items: 0)
      case .success(false):
        mayRemove = false
        plan.leaveWork("the login may not move readings; add api:entries:delete to its role")
        return .done
      case .success(true): break
      }
    }
    guard !step.toSend.isEmpty else { return .done }
    let (sent, keys) = batch.part(step.toSend)
    switch await ask({ () async throws(ServiceError) in try await remote.store(sent, run) }) {
    case .failure(let error): return .failed(error, items: 0)
    case .success(let answer):
      try settle(keys, sent, answer)
      return .done
    }
  }

  private func settle(_ keys: [ReadingKey], _ sent: ReadingBatch, _ answer: ReadingAnswer) throws {
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
    // The instant of the request is the one that is compared when it is answered.
    place(by: zone)
    guard let moving = remote.moving else { return .exhausted }
    let (change, run) = (record.whole(from: run.node), run)
    let answer = await ask { () async throws(ServiceError) in try await moving.move(change, run) }
    switch answer {
    case .failure(.refused(let reason)):
      plan.leaveWork("records are not moved on the site: \(reason)")
      return .exhausted
    case .failure(let error): return .failed(error, items: 0)
    case .success(let verdict):
      moves.lastRecord = record.guid
      moves.left -= Self.requestsOfRecord
      switch verdict {
      case _ where record.state.isDeleted: try store.sync { try $0.endMove(of: record, revision: nil) }
      // Only what interrupted moves left is removed until it is sent, or a person decided.
      case _ where record.isPending || record.isConflicted: break
      case .accepted(let revision):
        try store.sync { try $0.endMove(of: record, revision: revision) }
        if revision != record.revision { summary.movedRecords += 1 }
      case .refused: try store.sync { try $0.endMove(of: record, revision: nil) }
      // The pull brings what others made of it, and the next run moves that.
      case .conflict(_, let state, _):
        if state.isDeleted {
          try store.sync { try $0.endMove(of: record, revision: nil) }
        } else {
          plan.leaveWork(Self.isLeft)
        }
      }
      return .done
    }
  }
}

/// Readings whose documents are to be moved, as one step takes them.
struct MoveBatch {
  /// The readings, as they are placed here.
  let readings: ReadingBatch
  /// Their keys.
  let keys: [ReadingKey]
  /// Those that the remote gets even where it has no document.
  private let owed: Set<ReadingKey>

  init(_ found: PendingMoves) {
    (readings, keys, owed) = (found.readings.batch, found.readings.keys, found.owed)
  }

  /// What is done with each, by its place.
  struct Step: Hashable {
    /// Nothing is left to do.
    var done: [Int] = []
    /// Of those the ones that the remote has.
    var there: [Int] = []
    /// A document stands elsewhere, or the reading is there twice.
    var toRemove: [Int] = []
    /// It is nowhere, once the document is removed.
    var toSend: [Int] = []

    /// Those whose document changes.
    var toChange: [Int] { Set(toRemove + toSend).sorted() }

    /// The step with the changes of these places alone.
    func changing(_ places: Set<Int>) -> Step {
      var step = self
      step.toRemove.removeAll { !places.contains($0) }
      step.toSend.removeAll { !places.contains($0) }
      return step
    }
  }

  /// - Parameter instants: where each reading stands on the remote.
  func step(_ instants: [[Int64]]) -> Step {
    Self.step(readings: readings.readings, isOwed: { owed.contains(keys[$0]) }, instants: instants)
  }

  /// - Parameter isOwed: whether the remote gets the reading of this place even where it has no document.
  static func step(readings: [Reading], isOwed: (Int) -> Bool, instants: [[Int64]]) -> Step {
    var step = Step()
    for (place, reading) in readings.enumerated() {
      let target = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
      let found = instants.indices.contains(place) ? instants[place] : []
      switch found.count {
      case 1 where found[0] == target:
        step.done.append(place)
        step.there.append(place)
      case 0 where isOwed(place): step.toSend.append(place)
      // Somebody deleted it there, or another program's document holds it.
      case 0: step.done.append(place)
      case 1:
        step.toRemove.append(place)
        step.toSend.append(place)
      // A removal takes one of them, nobody knows which: the next run looks again.
      default: step.toRemove.append(place)
      }
    }
    return step
  }

  /// Some of the readings, with their keys.
  func part(_ places: [Int]) -> (batch: ReadingBatch, keys: [ReadingKey]) {
    (
      ReadingBatch(devices: readings.devices, readings: places.map { readings.readings[$0] }),
      places.map { keys[$0] }
    )
  }
}

extension SyncRecord {
  /// The record as it is, for a remote that has it. It is no edit, and nothing of it is pending.
  func whole(from node: String) -> RecordChange {
    RecordChange(guid: guid, node: node, version: version, base: revision, state: state)
  }
}
