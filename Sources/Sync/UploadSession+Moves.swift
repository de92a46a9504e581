// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Removes documents of hidden items, and after a change of zone moves documents on a remote that stores only instants.
/// Both follow the pull. The server forbids changing the time of a document, so a move removes the document and sends
/// it again. Each move is first recorded in the store, so that the next run completes it if this one dies.
extension UploadSession {
  /// The number of readings in one step. Each takes one request.
  private static let maxMoved = 100
  /// The number of requests for a record: find its documents, mark its document, create the new one, clear and delete
  /// the old one.
  static let requestsOfRecord = 8

  func alignSite() async throws -> UploadEvent {
    guard let moving = remote.moving, let removal = remote.removal else { return .exhausted }
    lastSent = .nothing
    if let event = try await removeHidden(removal) { return event }
    // The counts are shown before and during the work.
    let counts = try store.siteMoves()
    (summary.readingsToMove, summary.recordsToMove) = (counts.readings, counts.records)
    guard moves.left > 0 else { return try leaveMoves() }
    if let event = try await moveReadings(moving, removal) { return event }
    return try await moveRecord()
  }

  /// Leaves the remaining moves for the next run.
  private func leaveMoves() throws -> UploadEvent {
    if summary.readingsToMove + summary.recordsToMove > 0 { try plan.note(.workLeft(Self.isLeft)) }
    return .exhausted
  }

  private static let isLeft = "some documents on the site are still to be moved; the next run continues"

  // MARK: Readings

  /// Nil if there are none left.
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

  /// Removes misplaced documents, then sends these readings and those missing since an earlier run.
  private func move(
    _ batch: MoveBatch, from instants: [[Int64]], _ removal: any RemovalService
  ) async throws -> UploadEvent {
    let known = batch.step(instants)
    let step = try store.sync { store in
      let done = batch.part(known.done)
      try store.endMoves(of: done.keys, placedBy: done.batch.readings.map(\.placement.utcOffset))
      try store.markPresentOnRemote(known.there.map { batch.keys[$0] })
      let places = known.toChange
      let begun = batch.part(places)
      return known.changing(
        Set(
          try store.beginMoves(of: begun.keys, placedBy: begun.batch.readings.map(\.placement.utcOffset))
            .map { places[$0] }))
    }
    if step != known { try plan.note(.workLeft(Self.isLeft)) }
    let run = run
    if !step.toRemove.isEmpty {
      let (removed, _) = batch.part(step.toRemove)
      switch await ask({ () async throws(ServiceError) in try await removal.remove(removed, run) }) {
      case .failure(let error): return .failed(error, items: 0)
      case .success(false):
        mayRemove = false
        try plan.note(.workLeft("the login may not move readings; add api:entries:delete to its role"))
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
    // The answer is compared with the instant in the request, so the zone must be the same.
    place(by: zone)
    guard let moving = remote.moving else { return .exhausted }
    let (change, run) = (record.whole(from: run.node), run)
    let answer = await ask { () async throws(ServiceError) in try await moving.move(change, run) }
    switch answer {
    case .failure(.refused(let reason)):
      try plan.note(.workLeft("records are not moved on the site: \(reason)"))
      return .exhausted
    case .failure(let error): return .failed(error, items: 0)
    case .success(let verdict):
      moves.lastRecord = record.guid
      moves.left -= Self.requestsOfRecord
      switch verdict {
      case _ where record.state.isDeleted: try store.sync { try $0.endMove(of: record, revision: nil) }
      // Until a pending record is sent or a conflict is resolved, only leftovers of interrupted moves are removed.
      case _ where record.isPending || record.isConflicted: break
      case .accepted(let revision):
        try store.sync { try $0.endMove(of: record, revision: revision) }
        if revision != record.revision { summary.movedRecords += 1 }
      case .refused: try store.sync { try $0.endMove(of: record, revision: nil) }
      // The pull will fetch the changes of others, and the next run moves the result.
      case .conflict(_, let state, _):
        if state.isDeleted {
          try store.sync { try $0.endMove(of: record, revision: nil) }
        } else {
          try plan.note(.workLeft(Self.isLeft))
        }
      }
      return .done
    }
  }
}

/// Readings whose documents must be moved, for one step.
struct MoveBatch {
  /// The readings with their current offsets.
  let readings: ReadingBatch
  let keys: [ReadingKey]
  /// The keys of readings to send even if the remote has no document of them.
  private let owed: Set<ReadingKey>

  init(_ found: PendingMoves) {
    (readings, keys, owed) = (found.readings.batch, found.readings.keys, found.owed)
  }

  /// The actions, by indices of readings.
  struct Step: Hashable {
    /// The move is complete.
    var done: [Int] = []
    /// Of these, the readings that the remote has.
    var there: [Int] = []
    /// The document is at another time, or there are two.
    var toRemove: [Int] = []
    /// There is no document after the removal.
    var toSend: [Int] = []

    /// The readings whose documents change.
    var toChange: [Int] { Set(toRemove + toSend).sorted() }

    /// The step with only the changes of these readings.
    func changing(_ places: Set<Int>) -> Step {
      var step = self
      step.toRemove.removeAll { !places.contains($0) }
      step.toSend.removeAll { !places.contains($0) }
      return step
    }
  }

  /// - Parameter instants: the instants of each reading's documents on the remote.
  func step(_ instants: [[Int64]]) -> Step {
    Self.step(readings: readings.readings, isOwed: { owed.contains(keys[$0]) }, instants: instants)
  }

  /// - Parameter isOwed: whether to send the reading even if the remote has no document of it.
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
      // It was deleted on the remote, or is in another program's document.
      case 0: step.done.append(place)
      case 1:
        step.toRemove.append(place)
        step.toSend.append(place)
      // A removal deletes one of them, and it is unknown which, so the next run checks again.
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
  /// The unchanged record as a change, for a remote that has it. It is not an edit, and nothing becomes pending.
  func whole(from node: String) -> RecordChange {
    RecordChange(guid: guid, node: node, version: version, base: revision, state: state)
  }
}

/// The progress of removing and moving documents in a run.
struct MoveProgress {
  /// The remaining number of removals in this run.
  var removalsLeft: Int
  /// The remaining number of moves in this run.
  var left: Int
  /// Whether the moves lead to later instants, so that the last items are moved first; nil before the first move.
  var isLater: Bool?
  /// The last reading examined.
  var lastReading: ReadingKey?
  /// The last record examined.
  var lastRecord = ""

  init(left: Int, removalsLeft: Int) { (self.left, self.removalsLeft) = (left, removalsLeft) }
}
