// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import TestServers
import Testing

@testable import Sync

/// Makes items whose offsets follow from the zones of the logbook, and checks at which instants the site has
/// them.
extension SiteScene {
  /// Sensor readings, one every five minutes, whose source states no offsets.
  static func derived(_ values: [Double], from second: Int64 = start) -> [Reading] {
    values.enumerated().map { place, value in
      Reading(
        device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: second + Int64(place) * 300),
        placement: Placement(utcOffset: 0, source: .zone),
        .value(Quantity(value, .milligramsPerDecilitre)), line: 1)
    }
  }

  /// Adds a dose whose offset follows from the zones of the logbook.
  @discardableResult
  func addDose(_ name: String, _ units: Double, at second: Int64 = start) throws -> String {
    let guid = Digest.uuid(of: ["dose", name, String(second), String(units)])
    _ = try editor(name).add(
      RecordDraft(
        kind: .insulin, at: DeviceTime(seconds: second), placement: Placement(utcOffset: 0, source: .zone),
        fields: RecordFields(["subtype": .text("rapid"), "units": .number(units)])), guid: guid)
    return guid
  }

  @discardableResult
  func setZone(_ name: String, _ zone: String, at second: Int64 = 5) throws -> ZoneChange {
    _ = try store(name)
    return try editing(name).setTimezone(LogbookZone(name: zone), at: second)
  }

  func readings(_ name: String) throws -> [StoredReading] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var readings: [StoredReading] = []
    try store(name).forEachItem(filter) { if case .reading(let reading) = $0 { readings.append(reading) } }
    return readings
  }

  /// The records that lists of a store show, including hidden records.
  func records(_ name: String) throws -> [StoredRecord] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var records: [StoredRecord] = []
    try store(name).forEachItem(filter) { if case .record(let record) = $0 { records.append(record) } }
    return records
  }

  func setHidden(_ name: String, _ guid: String, _ isHidden: Bool) throws {
    let record = try #require(records(name).first { $0.guid == guid })
    try WithdrawalEditor(editing(name), at: Self.clock / 1000).set(record, isHidden: isHidden, reason: "")
  }

  /// Some of the request numbers from 1 to `count`. A test kills an upload at each of these requests.
  static func places(of count: Int) -> [Int] { Seeds.share(of: 1...max(1, count), every: 5) }

  /// Uploads until an upload has completed all work.
  func finish(_ name: String) async throws {
    for _ in 0..<100 {
      if try await upload(name, { $0.joinsZones = true }).ending == .complete { return }
    }
    Issue.record("it does not end")
  }

  /// The valid entries that glucoport wrote on the site: their times in seconds, by `identifier`.
  func ownEntries() -> [String: [Int64]] {
    var found: [String: [Int64]] = [:]
    for entry in site.documents("entries") where entry["isValid"] != false && entry["glucoport"] != nil {
      found[entry["identifier"]?.text ?? "", default: []].append(Int64((entry["date"]?.number ?? 0) / 1000))
    }
    return found
  }

  /// The valid treatments with doses and meals that glucoport wrote on the site: their times in seconds, by
  /// the id of the record.
  func ownTreatments() -> [String: [Int64]] {
    var found: [String: [Int64]] = [:]
    for document in validTreatments
    where ["Correction Bolus", "Carb Correction"].contains(document["eventType"]?.text) {
      for part in document["glucoport"]?["parts"]?.array ?? [] {
        found[part["guid"]?.text ?? "", default: []].append(Int64((document["date"]?.number ?? 0) / 1000))
      }
    }
    return found
  }

  var validTreatments: [NightscoutDocument] {
    site.documents("treatments").filter { $0["isValid"] != false }
  }

  /// Checks that the site has each visible item of the store exactly once and at the right instant, and no
  /// other documents of glucoport.
  func expectInPlace(_ name: String, _ comment: Comment = "") throws {
    let entries = try readings(name).filter { !$0.isWithdrawn }.map { ($0.identity.uuid, [$0.utc]) }
    let (entriesHere, entriesThere) = (Dictionary(entries) { $0 + $1 }, ownEntries())
    #expect(entriesHere == entriesThere, comment)
    let records = try records(name).filter { !$0.isWithdrawn }.map { record in
      (record.guid, [record.deviceTime.seconds - Int64(record.placement.utcOffset)])
    }
    let (recordsHere, recordsThere) = (Dictionary(records) { $0 + $1 }, ownTreatments())
    #expect(recordsHere == recordsThere, comment)
    #expect(try store(name).siteMoves() == .init(readings: 0, records: 0), comment)
    #expect(try store(name).overview(ingests: 0).pending == 0, comment)
  }
}
