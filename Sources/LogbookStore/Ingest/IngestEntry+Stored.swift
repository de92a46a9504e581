// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook

extension IngestEntry {
  /// The results of the ingest.
  ///
  /// - Throws: `Failure` of category `inputOutput` for content that glucoport did not write.
  package func readCounts() throws -> IngestCounts { try IngestCounts(read(StoredCounts.self, from: counts)) }

  /// The decisions about the input of the ingest.
  ///
  /// - Throws: `Failure` of category `inputOutput` for content that glucoport did not write.
  package func readDecisions() throws -> [Decision] {
    try read([StoredDecision].self, from: decisions).map {
      guard let basis = Decision.Basis(rawValue: $0.basis) else {
        throw damage("unknown basis of a decision")
      }
      return Decision($0.subject, $0.value, basis)
    }
  }

  private func read<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      throw damage("counts or decisions have another form")
    }
  }

  private func damage(_ reason: String) -> Failure {
    Failure(.inputOutput, "the store is damaged: ingest (id \(id)): \(reason)")
  }
}

/// The counts with the member names of glucoport-json(5). The counts of an import that did not end may lack
/// any member.
private struct StoredCounts: Codable {
  struct Records: Codable {
    let new, known, withdrawn, repeated, updated, kept, deleted: Int?
  }

  let new, known, withdrawn, restored, repeated, changed, corrected, rejected: Int?
  let notTaken, newByKind, equalRows: [String: Int]?
  let records: Records?
  let skipped: [String: Int]?
  let ambiguousTimes, doubtfulTimes, periodItems, movedItems: Int?
  let firstTime, lastTime: String?
  let firstCounted, lastCounted: String?

  enum CodingKeys: String, CodingKey {
    case new, known, withdrawn, restored, repeated, changed, corrected, rejected
    case notTaken = "not_taken"
    case newByKind = "new_by_kind"
    case equalRows = "equal_rows"
    case records, skipped
    case ambiguousTimes = "ambiguous_times"
    case doubtfulTimes = "doubtful_times"
    case periodItems = "period_items"
    case movedItems = "moved_items"
    case firstTime = "first_time"
    case lastTime = "last_time"
    case firstCounted = "first_counted"
    case lastCounted = "last_counted"
  }
}

/// A decision as it is stored in JSON.
struct StoredDecision: Codable {
  let subject, value, basis: String

  /// Parses the decisions in the JSON of an ingest.
  ///
  /// - Throws: `Failure` of category `inputOutput` for content that another program wrote.
  static func decisions(_ json: String, ingest: Int64) throws -> [Decision] {
    let damage = Failure(
      .inputOutput, "the store is damaged: ingest (id \(ingest)): decisions have another form")
    do {
      return try JSONDecoder().decode([StoredDecision].self, from: Data(json.utf8)).map {
        guard let basis = Decision.Basis(rawValue: $0.basis) else { throw damage }
        return Decision($0.subject, $0.value, basis)
      }
    } catch {
      throw damage
    }
  }

  init(_ decision: Decision) {
    (subject, value, basis) = (decision.subject, decision.value, decision.basis.rawValue)
  }
}

extension IngestCounts: Encodable {
  /// The members of the object that glucoport-json(5) documents.
  package func encode(to encoder: any Encoder) throws { try StoredCounts(self).encode(to: encoder) }
}

extension StoredCounts {
  fileprivate init(_ counts: IngestCounts) {
    (new, known, repeated) = (counts.newReadings, counts.knownReadings, counts.repeatedReadings)
    (withdrawn, restored) = (counts.withdrawnReadings, counts.restoredReadings)
    (changed, corrected, rejected) = (counts.changedReadings, counts.correctedReadings, counts.rejected)
    (notTaken, newByKind, equalRows) = (counts.notTaken, counts.newByKind, counts.equalRows)
    records = Records(
      new: counts.newRecords, known: counts.knownRecords, withdrawn: counts.withdrawnRecords,
      repeated: counts.repeatedRecords, updated: counts.updatedRecords, kept: counts.keptRecords,
      deleted: counts.deletedRecords)
    skipped = counts.skipped
    (ambiguousTimes, doubtfulTimes) = (counts.ambiguousTimes, counts.doubtfulTimes)
    (periodItems, movedItems) = (counts.periodItems, counts.movedItems)
    firstTime = counts.firstTime.map { DeviceTime(seconds: $0).text }
    lastTime = counts.lastTime.map { DeviceTime(seconds: $0).text }
    firstCounted = counts.firstCounted.map { DeviceTime(seconds: $0).text }
    lastCounted = counts.lastCounted.map { DeviceTime(seconds: $0).text }
  }
}

extension IngestCounts {
  fileprivate init(_ stored: StoredCounts) {
    self.init()
    (newReadings, knownReadings) = (stored.new ?? 0, stored.known ?? 0)
    (withdrawnReadings, restoredReadings) = (stored.withdrawn ?? 0, stored.restored ?? 0)
    (repeatedReadings, changedReadings) = (stored.repeated ?? 0, stored.changed ?? 0)
    (correctedReadings, rejected) = (stored.corrected ?? 0, stored.rejected ?? 0)
    (ambiguousTimes, doubtfulTimes) = (stored.ambiguousTimes ?? 0, stored.doubtfulTimes ?? 0)
    (periodItems, movedItems) = (stored.periodItems ?? 0, stored.movedItems ?? 0)
    (newRecords, knownRecords) = (stored.records?.new ?? 0, stored.records?.known ?? 0)
    (repeatedRecords, updatedRecords) = (stored.records?.repeated ?? 0, stored.records?.updated ?? 0)
    withdrawnRecords = stored.records?.withdrawn ?? 0
    (keptRecords, deletedRecords) = (stored.records?.kept ?? 0, stored.records?.deleted ?? 0)
    (skipped, newByKind) = (stored.skipped ?? [:], stored.newByKind ?? [:])
    (notTaken, equalRows) = (stored.notTaken ?? [:], stored.equalRows ?? [:])
    firstTime = stored.firstTime.flatMap { DeviceTime(text: $0)?.seconds }
    lastTime = stored.lastTime.flatMap { DeviceTime(text: $0)?.seconds }
    firstCounted = stored.firstCounted.flatMap { DeviceTime(text: $0)?.seconds }
    lastCounted = stored.lastCounted.flatMap { DeviceTime(text: $0)?.seconds }
  }
}
