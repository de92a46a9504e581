// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The store's readings at the same seconds as readings that other programs wrote on a remote.
struct OwnReadings {
  struct Own {
    let key: ReadingKey
    let reading: Reading
    let device: Device
    let isUploaded: Bool
    /// Whether a withdrawal hides the reading.
    let isWithdrawn: Bool
    /// Whether a pull stored the reading, and not an import. For such a reading, the store does not note
    /// which documents contain it.
    let isPulled: Bool
  }

  /// What the store has for a reading that another program wrote.
  enum Match {
    /// The store has no reading of the same kind and second, except from documents of other programs.
    case none
    /// The store has the same reading, with the same identity.
    case itself([Own])
    /// The store has a reading with the same measurement, which is not from a document of another program.
    case same([Own])
    /// The store has only readings with other values, which are not from documents of other programs.
    case other([Own])
  }

  /// The maximum difference between a shown time and its instant, in seconds.
  private static let maxOffsetSeconds: Int64 = 86_400

  private var all: [Int64: [Own]] = [:]

  /// Reads the store's readings at the seconds of these readings.
  init(_ database: Database, at readings: [Reading]) throws {
    let seconds = Set(readings.map(Self.instantSeconds(of:)))
    guard let first = seconds.min(), let last = seconds.max() else { return }
    let times = (first: first - Self.maxOffsetSeconds, last: last + Self.maxOffsetSeconds)
    let kinds = Set(readings.map(\.kind))
    var devices = try SeriesDevices(database)
    let pulled = try Set(
      Int64.fetchAll(database.cachedStatement(sql: "SELECT id FROM ingest WHERE \(UndoPlan.isPulled)")))
    for partition in try Self.partitions(database, kinds, times) {
      let statement = try RawStatement(
        keptBy: database,
        """
        SELECT r.partition, r.position, r.series, r.value_bucket, r.occurrence, \(SyncTransaction.readingColumns),
          r.uploaded, \(Withdrawn.reading), r.ingest
        FROM reading AS r WHERE r.partition = ?1 AND r.position >= ?2 AND r.position <= ?3
          AND r.device_time >= ?4 AND r.device_time <= ?5
        """)
      statement.bind(partition.number, at: 1)
      statement.bind(partition.first, at: 2)
      statement.bind(partition.last, at: 3)
      statement.bind(times.first, at: 4)
      statement.bind(times.last, at: 5)
      while try statement.step() {
        guard seconds.contains(statement.integer(5) &- statement.integer(6)) else { continue }
        let key = statement.key(from: 0)
        let series = try devices.series(key.series)
        let reading = try statement.reading(at: key.place, of: series, from: 5)
        all[Self.instantSeconds(of: reading), default: []].append(
          Own(
            key: key, reading: reading, device: devices.all[Int(series.device.number)],
            isUploaded: statement.integer(13) == 1, isWithdrawn: statement.integer(14) == 1,
            isPulled: pulled.contains(statement.integer(15))))
      }
    }
  }

  /// What the store has for a reading that another program wrote.
  func match(_ reading: Reading, _ device: Device) -> Match {
    let there = all[Self.instantSeconds(of: reading)] ?? []
    let identity = ReadingIdentity(reading, device)
    let itself = there.filter { ReadingIdentity($0.reading, $0.device) == identity }
    if !itself.isEmpty { return .itself(itself) }
    // Readings from documents of other programs are not compared with each other. So two such documents stay
    // two readings, whichever is downloaded first.
    let own = there.filter { $0.reading.kind.isSame(as: reading.kind) && $0.device.format != device.format }
    let same = own.filter { $0.reading.measurement.isSame(as: reading.measurement) }
    return same.isEmpty ? (own.isEmpty ? .none : .other(own)) : .same(same)
  }

  private static func instantSeconds(of reading: Reading) -> Int64 {
    reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
  }

  private struct Partition {
    let number: Int64
    let first: Int64
    let last: Int64
  }

  /// The partitions and positions at which the store may have readings of these kinds at these times. A
  /// device's counts do not follow from times, so all readings of series with counts are read.
  private static func partitions(
    _ database: Database, _ kinds: Set<ReadingKind>, _ times: (first: Int64, last: Int64)
  ) throws -> [Partition] {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT DISTINCT partition, position_kind, is_instant, kind FROM series WHERE first_time <= ? AND last_time >= ?
          """), arguments: [times.last, times.first])
    return try rows.compactMap { row in
      let series = StoredRow(row, of: "series")
      let kind: ReadingKind = try series.code(3)
      guard kinds.contains(where: { $0.isSame(as: kind) }) else { return nil }
      let (number, isInstant): (Int64, Bool) = (try series[0], try series[2])
      if try series.code(1) == PositionKind.time {
        return Partition(number: number, first: times.first, last: times.last)
      }
      if isInstant { return Partition(number: number, first: times.first * 1000, last: times.last * 1000) }
      return Partition(number: number, first: .min, last: .max)
    }
  }
}

/// The primary key of a reading's row in its store. It has no meaning in other stores.
package struct ReadingKey: Hashable, Sendable {
  let partition: Int64
  let position: Int64
  let series: Int64
  let valueBucket: Int64
  let occurrence: Int64

  /// The columns of the key without the partition.
  var place: StoredPlace {
    StoredPlace(series: series, position: position, valueBucket: valueBucket, occurrence: occurrence)
  }
}

extension ReadingKey: Comparable {
  /// The order of the table `reading`.
  package static func < (left: Self, right: Self) -> Bool {
    (left.partition, left.position, left.series, left.valueBucket, left.occurrence) < (
      right.partition, right.position, right.series, right.valueBucket, right.occurrence
    )
  }
}

/// A batch of pending readings, with the primary keys of their rows.
package struct PendingReadings: Sendable {
  /// The readings with their devices. Readings of one series are adjacent.
  package let batch: ReadingBatch
  /// The primary keys of the rows of the readings, in the order of the batch.
  package let keys: [ReadingKey]
  /// The last reading in the order of the store, after which the next batch begins. Nil if there is none.
  package let last: ReadingKey?
  /// The keys in the order of the table; empty if the readings were selected in the reverse order.
  let inStoreOrder: [ReadingKey]
  /// The version of the store from which the readings were selected; nil if there is none.
  let version: StoreVersion?

  init(
    batch: ReadingBatch = ReadingBatch(), keys: [ReadingKey] = [], last: ReadingKey? = nil,
    inStoreOrder: [ReadingKey] = [], version: StoreVersion? = nil
  ) {
    (self.batch, self.keys, self.last) = (batch, keys, last)
    (self.inStoreOrder, self.version) = (inStoreOrder, version)
  }
}

/// The result of storing readings from a remote.
package struct PulledReadings: Hashable, Sendable {
  /// The ingest of the pulled readings; nil if no reading was new.
  package var ingest: Int64?
  /// The number of new readings. Known readings with another value are not counted: they are listed as
  /// changed at the source.
  package var new = 0
  /// The number of readings that the store already had from its imports.
  package var same = 0
  /// The number of hidden readings that are visible again because the remote states them.
  package var shown = 0
  /// Readings of this store that differ from the remote's value at the same instant. Both values are kept.
  package var disputed: Set<ReadingKey> = []

  /// Hidden readings that documents of other programs state, by the ids of their series.
  var restated: [Int64: [SeriesPoint]] = [:]

  init(ingest: Int64?) { self.ingest = ingest }
}

extension PulledReadings {
  /// Adds a hidden reading that a document of another program states to `restated`.
  mutating func restate(_ key: ReadingKey) {
    restated[key.series, default: []].append(
      SeriesPoint(position: key.position, valueBucket: key.valueBucket, occurrence: key.occurrence))
  }
}
