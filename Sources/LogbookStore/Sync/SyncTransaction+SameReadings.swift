// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// Readings of the store that the remote has in documents of other programs, from the table `same_as`.
struct SameReadings {
  private struct Document {
    let key: [UInt8]
    let isOnlyInForeignDocument: Bool
  }

  private var all: [ReadingKey: [Document]] = [:]

  /// The 16 bytes of the identity of each reading in the documents.
  var documents: Set<[UInt8]> { Set(all.values.joined().map(\.key)) }

  /// Whether the remote has the reading only in documents of other programs.
  func isHeldOnlyByOthers(_ key: ReadingKey) -> Bool {
    !all.isEmpty && all[key]?.contains { $0.isOnlyInForeignDocument } == true
  }

  /// All identities under which the remote has a reading.
  func identities(of key: ReadingKey, _ identity: [UInt8]) -> [[UInt8]] {
    guard let documents = all[key] else { return [identity] }
    return (documents.contains { $0.isOnlyInForeignDocument } ? [] : [identity]) + documents.map(\.key)
  }

  /// Whether the remote has the reading only under its own identity.
  func isAlone(_ key: ReadingKey, _ identity: [UInt8]) -> Bool {
    // Most stores have no readings in documents of other programs, so no reading is looked up.
    all.isEmpty || identities(of: key, identity) == [identity]
  }

  fileprivate mutating func insert(_ key: ReadingKey, _ document: [UInt8], isOnlyInForeignDocument: Bool) {
    all[key, default: []].append(Document(key: document, isOnlyInForeignDocument: isOnlyInForeignDocument))
  }
}

extension SyncTransaction {
  /// All readings that the remote has in documents of other programs.
  func sameReadings() throws -> SameReadings {
    var same = SameReadings()
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT s.partition, a.position, a.series, a.value_bucket, a.occurrence, a.document, a.is_only_there
          FROM same_as AS a JOIN series AS s ON s.id = a.series
          """))
    while let row = try rows.next() {
      let stored = StoredRow(row, of: "same_as", key: 0..<5)
      let key = ReadingKey(
        partition: try stored[0], position: try stored[1], series: try stored[2], valueBucket: try stored[3],
        occurrence: try stored[4])
      let document: Data = try stored[5]
      same.insert(key, Array(document), isOnlyInForeignDocument: try stored[6])
    }
    return same
  }

  /// Stores that a document of another program contains this reading.
  ///
  /// - Parameter isOnlyInForeignDocument: whether the remote has no document that glucoport wrote for the
  ///   reading.
  func storeMatch(_ key: ReadingKey, as document: [UInt8], isOnlyInForeignDocument: Bool) throws {
    try database.executeCached(
      sql: """
        INSERT INTO same_as (series, position, value_bucket, occurrence, document, is_only_there)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
      arguments: [
        key.series, key.position, key.valueBucket, key.occurrence, Data(document), isOnlyInForeignDocument,
      ])
  }

  /// The store's readings which the remote has in the documents of this batch.
  package func readingsInDocuments(of batch: ReadingBatch) throws -> [ReadingKey] {
    guard try database.hasRow(in: "same_as") else { return [] }
    return try batch.readings.flatMap { reading in
      let document = ReadingIdentity(reading, batch.devices[Int(reading.device.number)]).key
      return try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT s.partition, a.position, a.series, a.value_bucket, a.occurrence
            FROM same_as AS a JOIN series AS s ON s.id = a.series WHERE a.document = ?
            """), arguments: [Data(document)]
      ).map { row in
        let stored = StoredRow(row, of: "same_as", key: 0..<5)
        return ReadingKey(
          partition: try stored[0], position: try stored[1], series: try stored[2],
          valueBucket: try stored[3], occurrence: try stored[4])
      }
    }
  }

  /// Removes the rows of `same_as` for these readings. The readings are sent again, and the remote's response
  /// then names the documents with these readings again.
  func removePairs(_ keys: [ReadingKey]) throws {
    guard try database.hasRow(in: "same_as") else { return }
    for key in keys {
      try database.executeCached(
        sql: "DELETE FROM same_as WHERE series = ? AND position = ? AND value_bucket = ? AND occurrence = ?",
        arguments: [key.series, key.position, key.valueBucket, key.occurrence])
    }
  }
}

// MARK: - Pulled readings

extension SyncTransaction {
  /// The batch without those readings of other programs that imports already stored. For these, the table
  /// `same_as` gets rows, which link reading and document.
  func withoutSame(
    _ batch: ReadingBatch, _ foreign: Set<Int>, _ pulled: inout PulledReadings
  ) throws -> ReadingBatch {
    var documents: [Int: [UInt8]] = [:]
    var known: Set<Int> = []
    for place in foreign.sorted() where batch.readings.indices.contains(place) {
      let reading = batch.readings[place]
      let document = ReadingIdentity(reading, batch.devices[Int(reading.device.number)]).key
      if try isStored(document) {
        known.insert(place)
        try restateReadingsInDocument(document, &pulled)
      } else {
        documents[place] = document
      }
    }
    let moments = try OwnReadings(database, at: documents.keys.map { batch.readings[$0] })
    var marked: [ReadingKey] = []
    for (place, document) in documents.sorted(by: { $0.key < $1.key }) {
      let reading = batch.readings[place]
      switch moments.match(reading, batch.devices[Int(reading.device.number)]) {
      case .none: break
      // An import stored the same reading. The table `same_as` gets a row, so that the reading stays visible
      // if the import is undone.
      case .itself(let own):
        for reading in own where !reading.isPulled {
          try storeMatch(reading.key, as: document, isOnlyInForeignDocument: true)
          if !reading.isUploaded { marked.append(reading.key) }
          if reading.isWithdrawn { pulled.restate(reading.key) }
        }
      case .other(let own): pulled.disputed.formUnion(own.map(\.key))
      case .same(let own):
        for reading in own {
          try storeMatch(reading.key, as: document, isOnlyInForeignDocument: !reading.isUploaded)
          if !reading.isUploaded { marked.append(reading.key) }
          if reading.isWithdrawn { pulled.restate(reading.key) }
        }
        known.insert(place)
      }
    }
    try UploadMarks(database: database).set(Set(marked))
    try storeOwnDocuments(batch, foreign)
    pulled.same += known.count
    guard !known.isEmpty else { return batch }
    var rest = batch
    rest.readings = batch.readings.enumerated().filter { !known.contains($0.offset) }.map(\.element)
    return rest
  }

  /// Stores that the remote has documents of these readings that glucoport wrote. Readings in documents of
  /// other programs (`foreign`) are left out.
  private func storeOwnDocuments(_ batch: ReadingBatch, _ foreign: Set<Int>) throws {
    guard try database.hasRow(in: "same_as WHERE is_only_there = 1") else { return }
    let devices = try batch.devices.map { try $0.storedID(database) }
    for (place, reading) in batch.readings.enumerated() where !foreign.contains(place) {
      try database.executeCached(
        sql: """
          UPDATE same_as SET is_only_there = 0
          WHERE series = (SELECT id FROM series WHERE device = ? AND kind = ? AND position_kind = ?)
            AND position = ? AND value_bucket = ? AND occurrence = ?
          """,
        arguments: [
          devices[Int(reading.device.number)], Int(reading.kind.rawValue), Int(reading.positionKind.rawValue),
          reading.position, reading.valueBucket, Int64(reading.occurrence),
        ])
    }
  }

  /// Adds to `pulled` the hidden readings that this document is known to contain.
  private func restateReadingsInDocument(_ document: [UInt8], _ pulled: inout PulledReadings) throws {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT a.series, a.position, a.value_bucket, a.occurrence FROM same_as AS a
          JOIN withdrawn AS w USING (series, position, value_bucket, occurrence)
          WHERE a.document = ? AND w.cause = 1
          """), arguments: [Data(document)])
    for row in rows {
      let row = StoredRow(row, of: "same_as")
      let point = SeriesPoint(position: try row[1], valueBucket: try row[2], occurrence: try row[3])
      pulled.restated[try row[0], default: []].append(point)
    }
  }

  private func isStored(_ document: [UInt8]) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM same_as WHERE document = ?)"),
      arguments: [Data(document)]) ?? false
  }
}
