// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension UploadSession {
  /// Performs one request for the first download in the queue. Everything that is downloaded passes through
  /// this function.
  func download(_ limit: Int) async throws -> UploadEvent {
    lastSent = .nothing
    if pullProgress.isExhausted {
      try plan.advance(
        after: .workLeft("the remote has more changes than one run downloads; the next run continues"))
      return .exhausted
    }
    let (heldBack, canPush, done) = (heldBack, plan.canPushRecords, doneDownloads)
    let leavesOut = remote.removal != nil
    let choice = try store.sync { store -> Download?? in
      // The last page may have ended a withdrawal, so that removed records are visible again.
      if canPush, leavesOut { try store.requeueShownRecords() }
      if canPush, try store.hasPendingRecords(heldBack: heldBack, leavesOutWithdrawn: leavesOut) {
        return .none
      }
      return .some(try store.nextDownload(except: done))
    }
    // A record was edited since the last push, so local changes are sent first.
    guard let choice else { return .rolledBack }
    guard let download = choice else { return try hasShownReadings() ? .newItemsFirst : .exhausted }
    switch download.subject {
    case .logbook: return try await fetchLogbook(download)
    case .changes: return try await fetchChanges(download, limit)
    case .readings(let from, let until):
      return try await fetch(.readings(from: from, until: until), download, limit)
    case .records: return try await fetch(.records, download, limit)
    case .record(let guid): return try await fetch(.record(guid), download, limit)
    case .attachment: return try await fetchAwaited(download)
    }
  }

  /// Whether readings are pending after withdrawals were downloaded. These readings are visible on a site
  /// again: another store removed them there, or this store did.
  private func hasShownReadings() throws -> Bool {
    guard hasPulledWithdrawals, plan.canPushRecords else { return false }
    hasPulledWithdrawals = false
    let pending = try store.compare {
      try $0.pendingReadings(after: nil, limit: 1, leavesOutWithdrawn: true)
    }
    // These readings may come before the last one that this upload sent.
    if !pending.keys.isEmpty { lastReading = nil }
    return !pending.keys.isEmpty
  }

  private func fetchChanges(_ download: Download, _ limit: Int) async throws -> UploadEvent {
    guard let cursor = try store.sync({ try $0.cursor() }) else {
      return try await fetchFromStart(limit, download)
    }
    return try await fetchChanges(download, after: cursor, limit)
  }

  /// Queues downloads for all data of the remote, the most urgent first. If the remote does not support
  /// requests for parts of its data, all changes are pulled in order.
  private func fetchFromStart(_ limit: Int, _ download: Download) async throws -> UploadEvent {
    guard remote.parts != nil else { return try await fetchChanges(download, after: nil, limit) }
    switch await ask({ () async throws(ServiceError) in try await remote.logbook() }) {
    case .failure(let error): return .failed(error, items: 0)
    case .success(let logbook):
      guard let position = logbook.position else {
        return try await fetchChanges(download, after: nil, limit)
      }
      let now = environment.now()
      try store.sync { try $0.queueWhole(after: position, recent: now - Self.recentSeconds, at: now) }
      return .done
    }
  }

  private func fetchChanges(
    _ download: Download, after cursor: String?, _ limit: Int
  ) async throws -> UploadEvent {
    switch await changes(after: cursor, limit) {
    case .failure(let error): return .failed(error, items: 0)
    case .success(nil):
      // The download is removed from the queue only at the end of the upload, which writes to the store
      // anyway. This saves a transaction.
      doneDownloads.insert(download.id)
      finishedDownloads.insert(download.id)
      hasFetchedChanges = true
      return .done
    case .success(let page?):
      if let fault = pullProgress.fault(of: page, after: cursor, in: download.id) { return violation(fault) }
      let applied = try apply(page) { store in
        // No other process can have pulled, since this one holds the lock of uploads. But a restored backup
        // may have changed the cursor.
        guard try store.cursor() == cursor else { return false }
        try store.setCursor(page.cursor)
        // The positions of earlier pages can be older than the one that this store saw last, so they do not
        // replace it.
        if !page.hasMore {
          try store.setLastSeenPosition(page.cursor)
          try store.finish(download)
        }
        return true
      }
      guard applied else { return .rolledBack }
      pullProgress.count(page, in: download.id)
      if !page.hasMore {
        run.lastSeenPosition = page.cursor
        hasFetchedChanges = true
      }
      return .done
    }
  }

  /// The changes after the store's cursor. If they were requested before the upload began, and the upload has
  /// sent no request since, that response is used.
  private func changes(after cursor: String?, _ limit: Int) async -> Result<ChangePage?, ServiceError> {
    let ahead = changesAhead
    changesAhead = nil
    if let ahead, ahead.cursor == cursor, ahead.limit == limit { return ahead.answer }
    return await requestChanges(after: cursor, limit)
  }

  func requestChanges(after cursor: String?, _ limit: Int) async -> Result<ChangePage?, ServiceError> {
    await ask { () async throws(ServiceError) in
      try await remote.changes(after: cursor, limit: limit, run)
    }
  }

  private func fetch(_ part: ChangePart, _ download: Download, _ limit: Int) async throws -> UploadEvent {
    guard let parts = remote.parts else {
      return try refuse(
        download,
        "this remote returns no parts of a logbook; 'glucoport queue add changes' downloads everything")
    }
    let answer = await ask { () async throws(ServiceError) in
      try await parts.changes(of: part, after: download.position, limit: limit, run)
    }
    switch answer {
    case .failure(.refused(let reason)): return try refuse(download, reason)
    case .failure(let error): return .failed(error, items: 0)
    case .success(let page):
      if let fault = pullProgress.fault(of: page, after: download.position, in: download.id) {
        return violation(fault)
      }
      let applied = try apply(page) { store in
        guard try store.isQueued(download) else { return true }
        if page.hasMore {
          try store.setPosition(page.cursor, of: download)
        } else {
          try store.finish(download)
        }
        return true
      }
      guard applied else { return .rolledBack }
      pullProgress.count(page, in: download.id)
      return .done
    }
  }

  private func violation(_ reason: String) -> UploadEvent {
    .failed(.protocolViolation("\(remoteName): \(reason)"), items: 0)
  }

  /// Downloads the content that a person asked for, before all other contents.
  private func fetchAwaited(_ download: Download) async throws -> UploadEvent {
    let event = try await fetchAttachments()
    guard event == .exhausted else { return event }
    doneDownloads.insert(download.id)
    return .done
  }

  private func fetchLogbook(_ download: Download) async throws -> UploadEvent {
    let answer = await ask { () async throws(ServiceError) in try await remote.logbook() }
    switch answer {
    case .failure(let error): return .failed(error, items: 0)
    case .success(let logbook):
      try store.sync { store in
        try store.setLogbookName(logbook.name)
        try store.finish(download)
      }
      return .done
    }
  }

  private func refuse(_ download: Download, _ reason: String) throws -> UploadEvent {
    try store.sync { try $0.refuse(download, reason: reason) }
    summary.refused += 1
    summary.refusedDownloads += 1
    return .done
  }
}
