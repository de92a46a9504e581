// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension Store {
  /// Runs `work` in a transaction that only reads, for a comparison with a remote.
  package func compare<Value>(_ work: (SyncTransaction) throws -> Value) throws -> Value {
    try read { try work(SyncTransaction($0, batch)) }
  }
}

/// A reading of the store, as `verify` compares it with a remote.
package struct HeldReading: Hashable, Sendable {
  /// The primary key of the reading's row in the store.
  package let key: ReadingKey
  /// The device that took the reading.
  package let device: Device
  /// What was measured.
  package let kind: ReadingKind
  /// The time that the device showed.
  package let deviceTime: DeviceTime
  /// Whether the store has marked it as uploaded.
  package let isUploaded: Bool
}

extension SyncTransaction {
  /// The digests of uploaded readings and the buckets of all readings (see `IdentityDigests`). Both are
  /// computed in one pass over the same state of the store.
  ///
  /// - Parameter whenFixed: called as soon as later changes of the store cannot affect the result.
  package func heldBuckets(
    whenFixed: () -> Void = {}
  ) throws -> (uploaded: IdentityDigests, held: HeldBuckets) {
    var (digests, held) = (IdentityDigests(), HeldBuckets(version: try version()))
    try database.inTransaction(.deferred) {
      // After its first read, the transaction does not see changes of other connections.
      held = HeldBuckets(version: try version())
      whenFixed()
      let same = try sameReadings()
      var documents = same.documents
      try forEachReading { key, isUploaded, identity in
        held.append(IdentityDigests.bucket(of: identity), isAlone: same.isAlone(key, identity))
        guard isUploaded, !same.isHeldOnlyByOthers(key) else { return }
        digests.insert(identity)
        documents.remove(identity)
      }
      for document in documents { digests.insert(document) }
      return .commit
    }
    return (digests, held)
  }

  /// The readings in these buckets of `IdentityDigests`, including pending ones, by identity. If a document
  /// of another program contains a reading, it is also listed by the identity in the document.
  ///
  /// - Parameter known: the buckets of all readings, from an earlier call.
  package func heldReadings(in buckets: Set<Int>, by known: HeldBuckets? = nil) throws -> [[UInt8]:
    HeldReading]
  {
    let same = try sameReadings()
    let mayBeWanted = known?.mayBe(in: buckets, try version())
    let statement = try RawStatement(
      keptBy: database,
      "SELECT partition, position, series, value_bucket, occurrence, uploaded, device_time FROM reading")
    var devices = try SeriesDevices(database)
    var keys = ReadingKeys()
    var held: [[UInt8]: HeldReading] = [:]
    var place = -1
    while try statement.step() {
      place += 1
      guard mayBeWanted?(place) ?? true else { continue }
      let key = statement.key(from: 0)
      let series = try devices.series(key.series)
      let device = devices.all[Int(series.device.number)]
      let identity = keys.key(of: key) { (device, series.kind, series.positionKind) }
      let reading = HeldReading(
        key: key, device: device, kind: series.kind,
        deviceTime: DeviceTime(seconds: try statement.seconds(6, in: key.place.name)),
        isUploaded: statement.integer(5) == 1)
      for name in same.identities(of: key, identity)
      where buckets.contains(IdentityDigests.bucket(of: name)) {
        // Two readings can have the same identity on the remote: one as its own identity, the other in a
        // document of another program. The reading with its own identity has precedence.
        if name == identity || held[name] == nil { held[name] = reading }
      }
    }
    return held
  }

  /// The digests of records in the states that the remote has, as far as the store knows them.
  package func knownRecordDigests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    try forEachRecord(in: nil) { record in
      if let known = record.lastSyncedState, !record.isUnjoinedBase { digests.insert(record.guid, known) }
    }
    return digests
  }

  /// The records in these buckets of `IdentityDigests`, by their ids.
  package func heldRecords(in buckets: Set<Int>) throws -> [String: SyncRecord] {
    var held: [String: SyncRecord] = [:]
    try forEachRecord(in: buckets) { if !$0.isUnjoinedBase { held[$0.guid] = $0 } }
    return held
  }

  /// The records whose content differs from the state on which store and remote last agreed, although the
  /// version is the same. Another program must have changed them.
  package func alteredRecords() throws -> [SyncRecord] {
    var altered: [SyncRecord] = []
    try forEachRecord(in: nil) { record in
      guard record.isUpToDate, !record.isUnjoinedBase, let base = record.base else { return }
      if !base.agrees(with: record.state) { altered.append(record) }
    }
    return altered.sorted { $0.guid < $1.guid }
  }

  private func forEachRecord(in buckets: Set<Int>?, _ body: (SyncRecord) -> Void) throws {
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT \(SyncRecord.columns) FROM record"))
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      let guid: String = try record[0]
      guard buckets?.contains(IdentityDigests.bucket(ofRecord: guid)) ?? true else { continue }
      body(try SyncRecord(row))
    }
  }
}

extension SyncRecord {
  /// Whether the record states the base zone and was never synced with a remote.
  package var isUnjoinedBase: Bool { guid == LogbookZones.baseGuid && revision == nil }

  /// Whether the record is neither pending nor in conflict.
  package var isUpToDate: Bool { !isPending && !isConflicted }

  /// The state that the remote has, as far as the store knows: the last one on which store and remote agreed.
  /// The record may have been edited after that. Its offset may also differ, if the zone of the logbook
  /// changed.
  package var lastSyncedState: RecordState? { base ?? (isUpToDate ? state : nil) }
}

/// A number that identifies the state of a store, as a connection sees it. It changes only if another
/// connection writes to the store.
package struct StoreVersion: Hashable, Sendable {
  fileprivate let number: Int64
}

extension SyncTransaction {
  /// The version of the state that the next read will see.
  package func version() throws -> StoreVersion {
    StoreVersion(number: try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA data_version")) ?? 0)
  }

  /// Whether no other connection has changed the store since this version.
  package func isUnchanged(since version: StoreVersion) throws -> Bool { try self.version() == version }
}

/// For each reading, in the order of the table, the number of its bucket of `IdentityDigests` in two bytes.
/// With these numbers, a comparison can process buckets in portions, which needs little memory. Without them,
/// each portion would compute the hashes of all readings again.
package struct HeldBuckets: Sendable {
  /// The number of readings in each bucket of `IdentityDigests`, including pending ones.
  package private(set) var counts = [Int](repeating: 0, count: IdentityDigests.bucketCount)
  private var numbers: [UInt16] = []
  /// The version of the store's state that was read.
  private let version: StoreVersion

  /// The number in `numbers` for a reading that the remote has under several identities. The buckets of such
  /// a reading are not stored, so the reading is always read.
  private static let several = UInt16.max

  init(version: StoreVersion) { self.version = version }

  mutating func append(_ bucket: Int, isAlone: Bool) {
    counts[bucket] += 1
    numbers.append(isAlone ? UInt16(bucket) : Self.several)
  }

  /// A function that returns whether the reading at an index of the table may be in these buckets. Nil if the
  /// store has changed since the numbers were read.
  func mayBe(in buckets: Set<Int>, _ present: StoreVersion) -> ((_ place: Int) -> Bool)? {
    guard present == version else { return nil }
    var isWanted = [Bool](repeating: false, count: Int(Self.several) + 1)
    for bucket in buckets { isWanted[bucket] = true }
    isWanted[Int(Self.several)] = true
    return { [numbers] place in !numbers.indices.contains(place) || isWanted[Int(numbers[place])] }
  }
}
