// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The content of a store, counted by kind and device, and what is pending.
package struct Overview: Sendable {
  /// The readings of one kind and device.
  package struct DeviceLine: Sendable {
    package let kind: ReadingKind
    /// The device that took the readings.
    package let device: Device
    /// The number of readings.
    package let readings: Int
    /// The number of pending readings, without the refused ones.
    package let pending: Int
    /// The number of readings that the remote refused permanently.
    package let refused: Int
    /// Civil seconds of the first shown time.
    package let firstTime: Int64
    /// Civil seconds of the last shown time.
    package let lastTime: Int64
  }

  /// The records of one kind.
  package struct RecordLine: Sendable {
    /// The kind of the records.
    package let kind: String
    /// The number of records, without tombstones.
    package let records: Int
    /// The number of pending records and tombstones, without the conflicted and refused ones.
    package let pending: Int
    /// The number of tombstones among the pending records.
    package let pendingDeletions: Int
    /// The number of records that the remote refused permanently.
    package let refused: Int

    /// Whether lists show records of this kind. They show neither statements about other records nor kinds
    /// that only newer programs know.
    package var isListed: Bool { RecordKind(rawValue: kind).map(RecordKind.listed.contains) ?? false }
  }

  /// The number of readings that a withdrawal hides.
  package let withdrawnReadings: Int
  /// The number of records that a withdrawal hides.
  package let withdrawnRecords: Int
  /// The numbers of documents on the remote Nightscout site that must be moved, since a change of zone
  /// changed their instants.
  package let siteMoves: SiteMoves.MoveCounts
  /// The IANA name of the logbook's zone.
  package let timezone: String
  /// The names of zones that the logbook states and that this system does not know.
  package let unknownZones: [String]
  /// The counts of readings by kind and device.
  package let lines: [DeviceLine]
  /// The counts of records by kind.
  package let recordLines: [RecordLine]
  /// The number of records in conflict, which a person must resolve.
  package let conflicts: Int
  /// The last ingests, newest first.
  package let ingests: [IngestEntry]

  /// The number of all readings.
  package var readings: Int { lines.reduce(0) { $0 + $1.readings } }
  /// The number of records that lists show, without tombstones.
  package var records: Int { recordLines.filter(\.isListed).reduce(0) { $0 + $1.records } }
  /// The number of pending readings.
  package var pendingReadings: Int { lines.reduce(0) { $0 + $1.pending } }
  /// The number of pending records.
  package var pendingRecords: Int { recordLines.reduce(0) { $0 + $1.pending } }
  /// The number of pending records that lists show.
  package var pendingListedRecords: Int { recordLines.filter(\.isListed).reduce(0) { $0 + $1.pending } }
  /// The number of pending tombstones of records that lists show.
  package var pendingDeletions: Int {
    recordLines.filter(\.isListed).reduce(0) { $0 + $1.pendingDeletions }
  }
  /// The number of pending readings and records.
  package var pending: Int { pendingReadings + pendingRecords }
  /// The number of readings and records that the remote refused permanently.
  package var refused: Int { refusedReadings + refusedRecords }
  /// The number of readings that the remote refused permanently.
  package var refusedReadings: Int { lines.reduce(0) { $0 + $1.refused } }
  /// The number of records that the remote refused permanently.
  package var refusedRecords: Int { recordLines.reduce(0) { $0 + $1.refused } }
}

/// The readings of one kind and device in `status --json`.
extension Overview.DeviceLine: Encodable {
  private enum CodingKeys: String, CodingKey {
    case kind, vendor, model, serial, readings, pending, refused, firstTime, lastTime
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind.name, forKey: .kind)
    try container.encode(device.vendor, forKey: .vendor)
    try container.encode(device.model, forKey: .model)
    try container.encode(device.serial, forKey: .serial)
    try container.encode(readings, forKey: .readings)
    try container.encode(pending, forKey: .pending)
    try container.encode(refused, forKey: .refused)
    try container.encode(DeviceTime(seconds: firstTime).text, forKey: .firstTime)
    try container.encode(DeviceTime(seconds: lastTime).text, forKey: .lastTime)
  }
}

/// The records of one kind in `status --json`. The members are in the order of the coding keys.
extension Overview.RecordLine: Encodable {
  private enum CodingKeys: String, CodingKey { case kind, records, pending, refused }
}

/// One import, as `log` lists it.
package struct IngestEntry: Sendable {
  /// The number that commands use.
  package let id: Int64
  /// The path of the input, `-` for standard input, or another name; see `IngestSource.name`.
  package let source: String
  /// The id of the format.
  package let format: String
  /// SHA-256 of the input in hexadecimal; nil if the import did not end.
  package let digest: String?
  /// When the import began, in UTC seconds of its host.
  package let startedAt: Int64
  /// When the import ended, in UTC seconds of its host; nil if it did not end.
  package let finishedAt: Int64?
  /// Whether the import is undone.
  package let isUndone: Bool
  /// `running`, `whole`, `truncated` or `failed`.
  package let outcome: String
  /// The counts as JSON, with the names of glucoport-json(5).
  package let counts: String
  /// The decisions about the input, as a JSON list.
  package let decisions: String
  /// The number of readings that the import stored.
  package let new: Int
  /// The number of readings that were already in the store.
  package let known: Int
  /// The numbers of records that the import stored, that it found in the store, and that it changed.
  package let records: (new: Int, known: Int, updated: Int)
  /// The number of rejected items.
  package let rejected: Int
  /// The meter that was read; nil for an export.
  package let meter: Device?
  /// The meter's firmware; nil if it reported none.
  package let firmware: String?
  /// What the meter's and the host's clock showed at one moment, and how far the meter's was ahead of the
  /// logbook's local time, in seconds. Nil for an export, and for a meter without a clock.
  package let clock: (comparison: ClockComparison, difference: Int64)?

  static let columns = """
    id, source, format, digest, started_at, finished_at, outcome, counts, decisions,
    coalesce(json_extract(counts, '$.new'), 0), coalesce(json_extract(counts, '$.known'), 0),
    coalesce(json_extract(counts, '$.rejected'), 0), firmware, clock_meter, clock_host, clock_difference,
    (SELECT vendor FROM device WHERE device.id = meter), (SELECT model FROM device WHERE device.id = meter),
    (SELECT serial FROM device WHERE device.id = meter), (SELECT device.format FROM device WHERE device.id = meter),
    \(ImportContribution.isUndone),
    coalesce(json_extract(counts, '$.records.new'), 0), coalesce(json_extract(counts, '$.records.known'), 0),
    coalesce(json_extract(counts, '$.records.updated'), 0)
    """

  init(_ row: Row) throws {
    let row = StoredRow(row, of: "ingest")
    id = try row[0]
    source = try row[1]
    format = try row[2]
    digest = try row[3]
    startedAt = try row.seconds(4)
    finishedAt = try row.optionalSeconds(5)
    outcome = try row[6]
    isUndone = try row[20]
    counts = try row[7]
    decisions = try row[8]
    new = try row.count(9)
    known = try row.count(10)
    records = (try row.count(21), try row.count(22), try row.count(23))
    rejected = try row.count(11)
    firmware = try row[12]
    if let meter = try row.optionalSeconds(13), let host = try row.optionalSeconds(14),
      let difference = try row.optionalSeconds(15)
    {
      clock = (ClockComparison(meter: DeviceTime(seconds: meter), host: host), difference)
    } else {
      clock = nil
    }
    let vendor: String? = try row[16]
    meter = try vendor == nil ? nil : Device(row, from: 16)
  }
}

extension Overview.DeviceLine {
  fileprivate init(_ row: Row) throws {
    let row = StoredRow(row, of: "series", key: 0..<2)
    (kind, device, readings) = (try row.code(1), try Device(row, from: 6), try row.count(2))
    let unsent = try row.count(3)
    refused = try row.count(10)
    let withdrawn = try row.count(11)
    (pending, firstTime, lastTime) = (unsent - refused - withdrawn, try row.seconds(4), try row.seconds(5))
  }
}

extension Overview.RecordLine {
  fileprivate init(_ row: Row) throws {
    let row = StoredRow(row, of: "record")
    (kind, records, pending, refused) = (try row[0], try row.count(1), try row.count(2), try row.count(3))
    pendingDeletions = try row.count(4)
  }
}

extension Store {
  /// The content of the store by kind and device. It is read from stored counters, so the time does not grow
  /// with the number of readings.
  package func overview(ingests: Int) throws -> Overview {
    try read { database in
      let withdrawn = try Self.withdrawnItems(database)
      let zones = try LogbookZones(database)
      return Overview(
        withdrawnReadings: withdrawn.readings, withdrawnRecords: withdrawn.records,
        siteMoves: try SiteMoves.counts(database), timezone: zones.base.name,
        unknownZones: zones.unknownNames,
        lines: try Row.fetchAll(
          database,
          sql: """
            SELECT s.device, s.kind, sum(s.readings), sum(s.pending), min(s.first_time), max(s.last_time),
              \(Device.storedColumns),
              sum((SELECT count(*) FROM refusal WHERE refusal.series = s.id)), sum(\(Withdrawn.unsent))
            FROM series AS s JOIN device AS d ON d.id = s.device WHERE s.readings > 0
            GROUP BY s.kind, s.device ORDER BY s.kind, s.device
            """
        ).map(Overview.DeviceLine.init),
        recordLines: try Row.fetchAll(
          database,
          sql: """
            SELECT kind, count(*) FILTER (WHERE deleted = 0), count(*) FILTER (WHERE \(Self.isPending)),
              count(*) FILTER (WHERE \(RecordCondition.isRefused)),
              count(*) FILTER (WHERE deleted = 1 AND \(Self.isPending))
            FROM record GROUP BY kind
            HAVING kind NOT IN (\(Self.statements)) OR count(*) FILTER (WHERE \(Self.isPending)) > 0
              OR count(*) FILTER (WHERE \(RecordCondition.isRefused)) > 0
            ORDER BY kind
            """
        ).map(Overview.RecordLine.init),
        conflicts: try Int.fetchOne(
          database,
          sql: """
            SELECT (SELECT count(*) FROM record INDEXED BY record_conflicted WHERE conflict IS NOT NULL)
              + (SELECT count(*) FROM record INDEXED BY record_deleted WHERE \(RecordCondition.isOrphaned))
            """) ?? 0,
        ingests: try Self.ingests(database, limit: ingests))
    }
  }

  /// The SQL condition for a pending record. Hidden records are never sent to a Nightscout site, and do not
  /// count as pending there.
  private static let isPending = """
    \(RecordCondition.isPending) AND NOT (\(SiteSchema.isConnected) AND \(Withdrawn.recordIsUnsent))
    """

  /// The kinds that lists do not show, as SQL. The overview has a line for such a kind only if some of its
  /// records are pending or refused.
  private static let statements = RecordKind.known.filter { !RecordKind.listed.contains($0) }
    .map { "'\($0.rawValue)'" }.joined(separator: ", ")

  /// The newest ingests, newest first. The ingest of typed readings is left out, since each typed entry is a
  /// separate action. Rows that only store the age of an export are left out, too.
  package func ingests(limit: Int) throws -> [IngestEntry] {
    try read { try Self.ingests($0, limit: limit) }
  }

  /// The ingest with this number; nil if there is none.
  package func ingest(_ id: Int64) throws -> IngestEntry? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT \(IngestEntry.columns) FROM ingest WHERE id = ?", arguments: [id]
      )
      .map(IngestEntry.init)
    }
  }

  /// The rejections that are stored with an ingest.
  package func rejections(of ingest: Int64) throws -> [Rejection] {
    try read { database in
      try Row.fetchAll(
        database, sql: "SELECT line, reason FROM rejection WHERE ingest = ? ORDER BY line, reason",
        arguments: [ingest]
      ).map { row in
        let row = StoredRow(row, of: "rejection")
        return Rejection(line: try row[0], reason: try row[1])
      }
    }
  }

  /// When the last ingest ended, by its host's clock; nil if none has ended.
  package func lastSuccess() throws -> Int64? {
    try read { database in
      try StoredRow.seconds(
        database.cachedStatement(sql: "SELECT max(finished_at) AS finished_at FROM ingest"), of: "ingest")
    }
  }

  private static func ingests(_ database: Database, limit: Int) throws -> [IngestEntry] {
    try Row.fetchAll(
      database,
      sql: """
        SELECT \(IngestEntry.columns) FROM ingest WHERE NOT \(UndoPlan.isTyped) AND NOT (\(ExportOrigin.isOrigin("ingest"))) ORDER BY id DESC LIMIT ?
        """, arguments: [limit]
    ).map(IngestEntry.init)
  }
}
