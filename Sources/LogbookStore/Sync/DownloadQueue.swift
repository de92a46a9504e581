// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The one place that writes the queue of downloads.
enum DownloadQueue {
  /// Queues a download. One that is there already keeps its place, and the higher of both priorities.
  static func add(
    _ subject: DownloadSubject, _ priority: DownloadPriority, at now: Int64, _ database: Database
  ) throws {
    try database.executeCached(
      sql: """
        INSERT INTO download (kind, subject, priority, queued_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (kind, subject) DO UPDATE SET priority = min(priority, excluded.priority), refusal = NULL,
          not_before = NULL
        """, arguments: [subject.kind, subject.text, priority.rawValue, now])
  }

  /// Ranges that are fetched before all others, oldest pin first.
  static func pinnedRanges(_ database: Database) throws -> [DownloadSubject] {
    try Row.fetchAll(database, sql: "SELECT first, last FROM pinned ORDER BY first, last")
      .map { .readings(from: $0[0], until: $0[1]) }
  }
}

// MARK: - What people do with it

extension Store {
  /// The queue in the order in which it is worked off; behind it what the remote refused.
  public func downloads() throws -> [Download] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: "SELECT \(Download.columns) FROM download ORDER BY refusal IS NOT NULL, priority, id"
      ).compactMap(Download.init)
    }
  }

  /// Queues a download for a later upload.
  ///
  /// - Parameter isPinned: for readings: whether this range goes before all others whenever everything is fetched anew.
  public func queueDownload(
    _ subject: DownloadSubject, _ priority: DownloadPriority, isPinned: Bool = false, at now: Int64
  ) throws {
    try write { database in
      try DownloadQueue.add(subject, priority, at: now, database)
      if isPinned, case .readings(let from, let until) = subject {
        try database.execute(sql: "INSERT OR IGNORE INTO pinned VALUES (?, ?)", arguments: [from, until])
      }
    }
  }

  /// Takes downloads off the queue, and their ranges off those that are pinned. A history that is no longer wanted counts
  /// as left out.
  ///
  /// - Throws: `Failure`: `missingInput` for a number that is not in the queue, `usage` for the records, without which
  ///   edits of others would be missed; nothing changes then.
  public func cancelDownloads(_ ids: [Int64]) throws {
    try write { database in
      for id in ids {
        let row = try Row.fetchOne(
          database, sql: "SELECT \(Download.columns) FROM download WHERE id = ?", arguments: [id])
        guard let download = row.flatMap(Download.init) else { throw Self.noDownload(id) }
        switch download.subject {
        case .records:
          throw Failure(.usage, "the records of the logbook are always fetched; nothing was cancelled")
        case .readings(from: .min, let until): try Self.set(.historyEnd, String(until), database)
        case .readings(let from, let until):
          try database.execute(
            sql: "DELETE FROM pinned WHERE first = ? AND last = ?", arguments: [from, until])
        case .logbook, .changes, .record, .attachment: break
        }
        try database.execute(sql: "DELETE FROM download WHERE id = ?", arguments: [id])
      }
    }
  }

  /// Lets downloads that the remote refused be tried once more.
  ///
  /// - Throws: `Failure` of category `missingInput` for a number that is not in the queue; nothing changes then.
  public func retryDownloads(_ ids: [Int64]) throws {
    try write { database in
      for id in ids {
        try database.execute(sql: "UPDATE download SET refusal = NULL WHERE id = ?", arguments: [id])
        guard database.changesCount == 1 else { throw Self.noDownload(id) }
      }
    }
  }

  /// The SHA-256 of an attachment's content; nil for any other record.
  public func contentDigest(of record: StoredRecord) throws -> String? {
    try read { database in
      try String.fetchOne(
        database,
        sql: "SELECT json_extract(fields, '$.sha256') FROM record WHERE guid = ? AND kind = 'attachment'",
        arguments: [record.guid])
    }
  }

  private static func noDownload(_ id: Int64) -> Failure {
    Failure(.missingInput, "there is no download \(id); 'glucoport queue list' shows the queue")
  }
}

// MARK: - What an upload does with it

extension SyncTransaction {
  /// The first of the queue, but for those that this run is done with. The content of attachments has a lane of its own,
  /// unless a person waits for it.
  public func nextDownload(except done: Set<Int64>) throws -> Download? {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT \(Download.columns) FROM download INDEXED BY download_by_priority WHERE refusal IS NULL
            AND (kind <> 'attachment' OR priority = 0)
          ORDER BY priority, id
          """))
    while let row = try rows.next() {
      if let download = Download(row), !done.contains(download.id) { return download }
    }
    return nil
  }

  /// Queues a download.
  public func queueDownload(
    _ subject: DownloadSubject, _ priority: DownloadPriority, at now: Int64
  ) throws {
    try DownloadQueue.add(subject, priority, at: now, database)
  }

  /// Queues everything that a remote has in parts: records, the pinned ranges, the recent readings, and the others last.
  /// What changes there from now on comes with the changes behind the cursor.
  ///
  /// - Parameters:
  ///   - cursor: the remote's position before any of it is fetched.
  ///   - recent: the shown time from which readings are recent.
  public func queueWhole(behind cursor: String, recent: Int64, at now: Int64) throws {
    try setCursor(cursor)
    try DownloadQueue.add(.records, .changed, at: now, database)
    for range in try DownloadQueue.pinnedRanges(database) {
      try DownloadQueue.add(range, .changed, at: now, database)
    }
    try DownloadQueue.add(.readings(from: recent, until: .max), .changed, at: now, database)
    if try Store.setting(.history, database) == StoreSetting.historyOnDemand {
      try Store.set(.historyEnd, String(recent), database)
    } else {
      try DownloadQueue.add(.readings(from: .min, until: recent), .idle, at: now, database)
    }
  }

  /// Queues the readings that were left out so far because history is fetched on demand.
  public func queueHistory(at now: Int64) throws {
    guard let end = try Store.setting(.historyEnd, database).flatMap({ Int64($0) }) else { return }
    try DownloadQueue.add(.readings(from: .min, until: end), .idle, at: now, database)
    try Store.clear(.historyEnd, database)
  }

  /// Lets every download begin anew, since the remote lost its positions.
  public func forgetPositions() throws {
    try database.executeCached(sql: "UPDATE download SET position = NULL")
  }

  /// Whether a download is still wanted: a person may have cancelled it while its page was on the way.
  public func isQueued(_ download: Download) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM download WHERE id = ?)"),
      arguments: [download.id]) ?? false
  }

  /// Keeps where the next page of a download begins.
  public func setPosition(_ position: String?, of download: Download) throws {
    try database.executeCached(
      sql: "UPDATE download SET position = ? WHERE id = ?", arguments: [position, download.id])
  }

  /// Takes a download off the queue.
  public func finish(_ download: Download) throws { try finishDownloads([download.id]) }

  /// Takes downloads off the queue.
  public func finishDownloads(_ ids: Set<Int64>) throws {
    for id in ids { try database.executeCached(sql: "DELETE FROM download WHERE id = ?", arguments: [id]) }
  }

  /// Keeps the remote's words: the download is not tried again before a retry on command.
  public func refuse(_ download: Download, reason: String) throws {
    try database.executeCached(
      sql: "UPDATE download SET refusal = ? WHERE id = ?",
      arguments: [String(reason.prefix(1000)), download.id])
  }
}
