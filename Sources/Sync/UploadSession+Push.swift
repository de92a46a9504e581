// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension UploadSession {
  /// The size of a request in bytes that no working remote refuses as too large.
  static let fewBytes = 16 * 1024

  /// Sends the next pending readings, and marks exactly the acknowledged ones. An import may have added other
  /// readings between them.
  func pushReadings(_ limit: Int) async throws -> UploadEvent {
    let pending = try selectReadings(limit)
    lastSent = .readings(pending.keys)
    guard let last = pending.keys.last else { return .exhausted }
    countRequest()
    let (remote, run) = (remote, run)
    async let request = Self.answer { () async throws(ServiceError) in
      try await remote.store(pending.batch, run)
    }
    try readAhead(after: pending, limit)
    switch await request {
    case .failure(let error):
      readingsAhead = nil
      // A single reading is never too large. In this case, the remote or a proxy accepts no request at all,
      // so no reading is the cause.
      let isAtFault = error != .tooLarge || pending.keys.count > 1
      return .failed(error, items: isAtFault ? pending.keys.count : 0)
    case .success(let answer):
      let now = environment.now()
      try store.sync { store in
        try store.markUploaded(pending, except: answer.refused, sameAs: answer.sameAs, at: now)
        try store.endTransfer(.readings)
        try store.setLastSeenPosition(answer.position)
      }
      updateLastSeen(position: answer.position)
      lastReading = last
      summary.pushedReadings += answer.stored
      summary.knownReadings += answer.known
      summary.differingReadings += answer.differing.count
      disputed.formUnion(answer.disputed.filter(pending.keys.indices.contains).map { pending.keys[$0] })
      summary.disputedReadings = disputed.count
      summary.refused += answer.refused.count
      return .done
    }
  }

  /// Selects the next pending readings, and marks them as being sent.
  private func selectReadings(_ limit: Int) throws -> PendingReadings {
    let (after, began) = (lastReading, environment.now())
    let leavesOutWithdrawn = remote.removal != nil
    let ahead = readingsAhead
    readingsAhead = nil
    return try store.sync { store in
      let pending =
        if let ahead, ahead.after == after, ahead.limit == limit, try store.isUnchanged(since: ahead.version)
        {
          ahead.readings
        } else {
          try store.pendingReadings(after: after, limit: limit, leavesOutWithdrawn: leavesOutWithdrawn)
        }
      try store.beginTransfer(of: pending.keys, at: began)
      return pending
    }
  }

  /// Reads the next batch while the response to a full batch is awaited. The batch is used only if no other
  /// connection has changed the store. Otherwise the store might select other readings.
  private func readAhead(after pending: PendingReadings, _ limit: Int) throws {
    // On a site, the response may change which readings come next, so nothing is read ahead.
    guard pending.keys.count == limit, remote.moving == nil, remote.removal == nil else { return }
    readingsAhead = try store.compare { store in
      let version = try store.version()
      return ReadingsAhead(
        after: pending.keys.last, limit: limit, version: version,
        readings: try store.pendingReadings(after: pending.last, limit: limit))
    }
  }

  /// Sends the next pending records. Each change is stored before it is sent.
  func pushRecords(_ phase: PushPhase, _ limit: Int) async throws -> UploadEvent {
    let (heldBack, node, began) = (heldBack, run.node, environment.now())
    let removal = remote.removal
    let (records, changes, zone) = try store.sync { store in
      if removal != nil { try store.requeueShownRecords() }
      let records = try store.pendingRecords(
        phase, limit: limit, heldBack: heldBack, leavesOutWithdrawn: removal != nil)
      try store.beginTransfer(.records, of: records.map(\.guid), at: began)
      let zone = records.isEmpty ? nil : try store.timezone(of: records.map(\.guid))
      return (records, try records.map { try store.prepare($0, node: node) }, zone)
    }
    lastSent = .records(records)
    guard let zone else { return .exhausted }
    useZones(zone)
    let answer = await ask { () async throws(ServiceError) in try await remote.apply(changes, run) }
    switch answer {
    case .failure(let error):
      let isAtFault = error != .tooLarge || changes.count > 1 || changes[0].json.utf8.count > Self.fewBytes
      return .failed(error, items: isAtFault ? records.count : 0)
    case .success(let answer):
      try apply(records, answer)
      return .done
    }
  }

  private func apply(_ records: [SyncRecord], _ answer: RecordAnswer) throws {
    let before = summary
    summary = try store.sync { store in
      var summary = before
      for (sent, verdict) in zip(records, answer.verdicts) {
        // The record is read again, since it may have been edited during the request.
        guard let record = try store.record(sent.guid) else { continue }
        let action = try store.checkingNesting(of: RecordRules.action(for: verdict, on: record), on: record)
        try store.apply(action, on: record)
        summary.count(action)
      }
      try store.endTransfer(.records)
      try store.setLastSeenPosition(answer.position)
      return summary
    }
    updateLastSeen(position: answer.position)
    for (sent, verdict) in zip(records, answer.verdicts) {
      if case .accepted = verdict {
        // If the record was edited during the request, the attempts are counted again for the new version.
        attempts[sent.guid] = nil
        continue
      }
      attempts[sent.guid, default: 0] += 1
      if attempts[sent.guid, default: 0] >= Self.maxAttempts { try holdBack(sent.guid) }
    }
  }

  private func updateLastSeen(position: String?) {
    if let position { run.lastSeenPosition = position }
  }

  private func holdBack(_ guid: String) throws {
    heldBack.insert(guid)
    summary.setAside += 1
    try plan.advance(
      after: .workLeft("records change faster on the remote than they can be synced; the next run continues"))
  }

  /// Leaves the only item of the last request for the next upload.
  func setAside() -> UploadEvent {
    switch lastSent {
    case .nothing: break
    case .readings(let keys):
      lastReading = keys.last
      summary.setAside += keys.count
    case .records(let records):
      heldBack.formUnion(records.map(\.guid))
      summary.setAside += records.count
    }
    return .done
  }

  /// Stores the remote's reason for refusing the only item of the last request.
  func quarantine(_ reason: String) throws -> UploadEvent {
    let now = environment.now()
    switch lastSent {
    case .nothing: break
    case .readings(let keys):
      try store.sync { try $0.quarantine(keys, reason: reason, at: now) }
      lastReading = keys.last
      summary.refused += keys.count
    case .records(let records):
      try store.sync { store in
        for sent in records {
          guard let record = try store.record(sent.guid) else { continue }
          try store.apply(RecordRules.action(for: .refused(reason: reason), on: record), on: record)
        }
      }
      summary.refused += records.count
    }
    return .done
  }
}

extension UploadSummary {
  /// Counts the action that a response caused.
  fileprivate mutating func count(_ action: RecordAction) {
    switch action {
    case .acknowledge: pushedRecords += 1
    case .adopt: pulledRecords += 1
    case .merge: merged += 1
    case .markConflicted: conflicts += 1
    case .quarantine: refused += 1
    case .leave, .forgetSent, .rollBack: break
    }
  }
}
