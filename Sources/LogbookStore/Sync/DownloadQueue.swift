// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The only code that writes the queue of downloads.
enum DownloadQueue {
  /// Queues a download. If it is already queued, it keeps its number and gets the higher of the two
  /// priorities.
  ///
  /// - Returns: false if there is nothing to fetch, since the store has the complete content.
  @discardableResult
  static func add(
    _ subject: DownloadSubject, _ priority: DownloadPriority, at now: Int64, _ database: Database
  ) throws -> Bool {
    if case .attachment(let digest) = subject {
      let isWhole = try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT held = size FROM blob WHERE digest = ?"), arguments: [digest])
      if isWhole == true { return false }
    }
    try database.executeCached(
      sql: """
        INSERT INTO download (kind, subject, priority, queued_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (kind, subject) DO UPDATE SET priority = min(priority, excluded.priority), refusal = NULL,
          not_before = NULL
        """, arguments: [subject.kind, subject.text, priority.rawValue, now])
    return true
  }

  /// The shown time, in civil seconds, before which readings may be missing. It is set from the first pull
  /// until these readings are downloaded; nil otherwise.
  static func historyEnd(_ database: Database) throws -> Int64? {
    try Store.value(of: .historyEnd, database) {
      Int64($0).flatMap { StoredBounds.seconds.contains($0) ? $0 : nil }
    }
  }

  /// Whether records are missing, since a person cancelled their download.
  static func leavesOutRecords(_ database: Database) throws -> Bool {
    try Store.setting(.recordsLeftOut, database) != nil
  }

  /// The queued ranges of readings, including refused ranges.
  static func ranges(_ database: Database) throws -> [Range<Int64>] {
    try Row.fetchAll(database, sql: "SELECT \(Download.columns) FROM download WHERE kind = 'readings'")
      .compactMap {
        guard case .readings(let from, let until) = try Download($0).subject else { return nil }
        return from..<max(from, until)
      }
  }

  /// The ranges of readings that a person wants before all others, in the order of their times.
  static func pinnedRanges(_ database: Database) throws -> [DownloadSubject] {
    try Row.fetchAll(database, sql: "SELECT first, last FROM pinned ORDER BY first, last")
      .map { row in
        let row = StoredRow(row, of: "pinned", key: 0..<2)
        return .readings(from: try row[0], until: try row[1])
      }
  }
}

// MARK: - Changes by people

extension Store {
  /// The queue in the order of processing, followed by the refused downloads.
  package func downloads() throws -> [Download] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: "SELECT \(Download.columns) FROM download ORDER BY refusal IS NOT NULL, priority, id"
      ).map(Download.init)
    }
  }

  /// Queues a download for a later upload.
  ///
  /// - Parameter isPinned: for readings, whether this range is downloaded before all others whenever all data
  ///   of the remote is downloaded again.
  /// - Returns: false if there is nothing to fetch, since the store has the complete content.
  @discardableResult
  package func queueDownload(
    _ subject: DownloadSubject, _ priority: DownloadPriority, isPinned: Bool = false, at now: Int64
  ) throws -> Bool {
    try write { database in
      guard try DownloadQueue.add(subject, priority, at: now, database) else { return false }
      if isPinned, case .readings(let from, let until) = subject {
        try database.execute(sql: "INSERT OR IGNORE INTO pinned VALUES (?, ?)", arguments: [from, until])
      }
      return true
    }
  }

  /// The ranges of readings that are downloaded before all others whenever all data of the remote is
  /// downloaded again. They are in the order of their times.
  package func pinnedRanges() throws -> [DownloadSubject] { try read(DownloadQueue.pinnedRanges) }

  /// Removes downloads from the queue, and ranges from the list of pinned ranges. If a person cancels the
  /// download of the history or the records before it is complete, these items count as left out. Later
  /// changes of other nodes are still downloaded.
  ///
  /// - Parameter pins: the numbers of pinned ranges to remove, which are indexes in `pinnedRanges` from 1 on.
  /// - Throws: `Failure` of category `missingInput` for a number that is not in the queue. Then nothing
  ///   changes.
  package func cancelDownloads(_ ids: [Int64], pins: [Int] = []) throws {
    try write { database in
      let pinned = try DownloadQueue.pinnedRanges(database)
      for place in pins {
        guard pinned.indices.contains(place - 1) else {
          throw Failure(
            .missingInput, "no range p\(place) is pinned; 'glucoport queue list' shows the pinned ranges")
        }
        try Self.unpin(pinned[place - 1], database)
      }
      for id in ids {
        let row = try Row.fetchOne(
          database, sql: "SELECT \(Download.columns) FROM download WHERE id = ?", arguments: [id])
        guard let download = try row.map(Download.init) else { throw Self.noDownload(id) }
        switch download.subject {
        case .records: try Self.set(.recordsLeftOut, "1", database)
        case .readings: try Self.unpin(download.subject, database)
        case .logbook, .changes, .record, .attachment: break
        }
        try database.execute(sql: "DELETE FROM download WHERE id = ?", arguments: [id])
      }
    }
  }

  /// Queues downloads again that the remote refused.
  ///
  /// - Returns: the numbers of the downloads that were refused.
  /// - Throws: `Failure` of category `missingInput` for a number that is not in the queue. Then nothing
  ///   changes.
  @discardableResult
  package func retryDownloads(_ ids: [Int64]) throws -> Set<Int64> {
    try write { database in
      var refused: Set<Int64> = []
      for id in ids {
        let isThere = try Bool.fetchOne(
          database, sql: "SELECT EXISTS (SELECT 1 FROM download WHERE id = ?)", arguments: [id])
        guard isThere == true else { throw Self.noDownload(id) }
        try database.execute(
          sql: "UPDATE download SET refusal = NULL WHERE id = ? AND refusal IS NOT NULL", arguments: [id])
        if database.changesCount > 0 { refused.insert(id) }
      }
      return refused
    }
  }

  /// The SHA-256 of an attachment's content; nil for other records, and for an attachment without a valid
  /// digest.
  package func contentDigest(of record: StoredRecord) throws -> String? {
    try read { database in
      try String.fetchOne(
        database, sql: "SELECT \(StoredField.digest) FROM record WHERE guid = ? AND kind = 'attachment'",
        arguments: [record.guid])
    }.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func unpin(_ range: DownloadSubject, _ database: Database) throws {
    guard case .readings(let from, let until) = range else { return }
    try database.execute(sql: "DELETE FROM pinned WHERE first = ? AND last = ?", arguments: [from, until])
  }

  private static func noDownload(_ id: Int64) -> Failure {
    Failure(.missingInput, "no download has number \(id); 'glucoport queue list' shows the queue")
  }
}

// MARK: - Changes by an upload

extension SyncTransaction {
  /// The first queued download that is not in `done`. The contents of attachments that no person asked for
  /// are left out, since the upload fetches them separately.
  package func nextDownload(except done: Set<Int64>) throws -> Download? {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT \(Download.columns) FROM download INDEXED BY download_by_priority WHERE refusal IS NULL
            AND (kind <> 'attachment' OR priority = 0)
          ORDER BY priority, id
          """))
    while let row = try rows.next() {
      let download = try Download(row)
      if !done.contains(download.id) { return download }
    }
    return nil
  }

  package func queueDownload(
    _ subject: DownloadSubject, _ priority: DownloadPriority, at now: Int64
  ) throws {
    try DownloadQueue.add(subject, priority, at: now, database)
  }

  /// Queues all data of a remote: first records, then the pinned ranges, the recent readings, and last the
  /// other readings. Later changes are pulled with the cursor.
  ///
  /// - Parameters:
  ///   - cursor: the remote's position before any of the data is downloaded.
  ///   - recent: the shown time, in civil seconds, from which readings count as recent.
  package func queueWhole(after cursor: String, recent: Int64, at now: Int64) throws {
    try setCursor(cursor)
    try DownloadQueue.add(.records, .changed, at: now, database)
    for range in try DownloadQueue.pinnedRanges(database) {
      try DownloadQueue.add(range, .changed, at: now, database)
    }
    try DownloadQueue.add(.readings(from: recent, until: .max), .changed, at: now, database)
    try Store.set(.historyEnd, String(recent), database)
    if try Store.setting(.history, database) != StoreSetting.historyOnDemand { try queueHistory(at: now) }
  }

  /// Queues the readings and records that were left out earlier.
  package func queueHistory(at now: Int64) throws {
    if try DownloadQueue.leavesOutRecords(database) {
      try DownloadQueue.add(.records, .changed, at: now, database)
    }
    guard let end = try DownloadQueue.historyEnd(database) else { return }
    try DownloadQueue.add(.readings(from: .min, until: end), .idle, at: now, database)
  }

  /// Makes every download start again from its beginning, since the remote no longer accepts the stored
  /// positions.
  package func forgetPositions() throws {
    try database.executeCached(sql: "UPDATE download SET position = NULL")
  }

  /// Whether a download is still queued. A person may have cancelled it while its page was requested.
  package func isQueued(_ download: Download) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM download WHERE id = ?)"),
      arguments: [download.id]) ?? false
  }

  /// Stores the position at which the next page of a download begins.
  package func setPosition(_ position: String?, of download: Download) throws {
    try database.executeCached(
      sql: "UPDATE download SET position = ? WHERE id = ?", arguments: [position, download.id])
  }

  /// Removes a completed download from the queue.
  package func finish(_ download: Download) throws {
    if case .readings(from: .min, let until) = download.subject,
      let end = try DownloadQueue.historyEnd(database),
      end <= until
    {
      try Store.clear(.historyEnd, database)
    }
    if download.subject == .records { try Store.clear(.recordsLeftOut, database) }
    try finishDownloads([download.id])
  }

  /// The remote's items that this store does not have yet, because their download is queued or was left out.
  package func unfetched() throws -> UnfetchedItems {
    var items = UnfetchedItems(ranges: try DownloadQueue.ranges(database))
    if let end = try DownloadQueue.historyEnd(database) { items.ranges.append(.min..<end) }
    items.includesRecords =
      try DownloadQueue.leavesOutRecords(database)
      || Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM download WHERE kind = 'records')")
        ?? false
    return items
  }

  /// Removes downloads from the queue.
  package func finishDownloads(_ ids: Set<Int64>) throws {
    for id in ids { try database.executeCached(sql: "DELETE FROM download WHERE id = ?", arguments: [id]) }
  }

  /// Stores why the remote refused a download. It is not tried again until a person retries it.
  package func refuse(_ download: Download, reason: String) throws {
    try database.executeCached(
      sql: "UPDATE download SET refusal = ? WHERE id = ?",
      arguments: [String(reason.prefix(1000)), download.id])
  }
}

/// The items of a remote that a store does not have yet.
package struct UnfetchedItems: Hashable, Sendable {
  /// The ranges of missing readings, by shown times in civil seconds.
  package internal(set) var ranges: [Range<Int64>]
  /// Whether records are missing, since their first download is not complete.
  package internal(set) var includesRecords = false

  /// Whether a reading with this shown time may be missing because it is in one of these ranges.
  package func includesReading(at seconds: Int64) -> Bool { ranges.contains { $0.contains(seconds) } }
}
