// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Collects a page of changes. Each reading and each record is in the page once. Items that this run wrote
/// itself are left out.
struct NightscoutPage {
  let writer: NightscoutWriter
  private(set) var readings = ReadingBatch()
  /// The number of rejected documents, by reason.
  private(set) var notTaken: [String: Int] = [:]
  /// The indices of readings that other programs wrote.
  private(set) var foreign: Set<Int> = []
  private var places: [String: Int] = [:]
  private var identities: Set<ReadingIdentity> = []
  private var devices: [Device: Int] = [:]
  private var order: [RemoteRecord] = []

  init(writer: NightscoutWriter) { self.writer = writer }

  var isEmpty: Bool { readings.readings.isEmpty && order.isEmpty }
  var records: [RemoteRecord] { order }

  mutating func add(_ reading: Reading, _ device: Device, of document: NightscoutDocument) {
    guard !isOwn(document), identities.insert(ReadingIdentity(reading, device)).inserted else { return }
    var reading = reading
    let place = devices[device] ?? readings.devices.count
    if place == readings.devices.count { readings.devices.append(device) }
    devices[device] = place
    reading.device = DeviceIndex(Int32(place))
    if !document.holdsOwnReading { foreign.insert(readings.readings.count) }
    readings.readings.append(reading)
  }

  mutating func add(_ record: NightscoutRecord, of document: NightscoutDocument) {
    if record.isOwn, isOwn(document) { return }
    add(record.remote)
  }

  /// Counts a document that was rejected completely or in part.
  mutating func refuse(_ reasons: [String]) {
    for reason in Set(reasons) { notTaken[reason, default: 0] += 1 }
  }

  /// Counts several documents that were rejected for the same reason.
  mutating func refuse(_ reason: String, _ count: Int) {
    if count > 0 { notTaken[reason, default: 0] += count }
  }

  /// Adds the tombstone of a record whose document was removed without a tombstone on the site.
  mutating func add(tombstoneOf guid: String, _ seen: NightscoutCursor.Seen) {
    guard let kind = RecordKind(rawValue: seen.kind) else { return }
    let state = RecordState(
      kind: kind, entryGuid: nil, deviceTime: DeviceTime(seconds: seen.seconds),
      placement: Placement(utcOffset: seen.offset, source: .stated), fields: RecordFields(), isDeleted: true)
    let path = NightscoutRevision(seen.revision, guid: guid).path
    add(
      RemoteRecord(guid: guid, revision: NightscoutRevision(state, path: path).text(guid: guid), state: state)
    )
  }

  /// Adds a record, or replaces an earlier state of the same record.
  private mutating func add(_ record: RemoteRecord) {
    if let place = places[record.guid] {
      order[place] = record
    } else {
      places[record.guid] = order.count
      order.append(record)
    }
  }

  /// Whether this run wrote the document last. A document of another run of the same node is not left out,
  /// since a copy of the store may have written it. If this store wrote it, the store already knows it.
  private func isOwn(_ document: NightscoutDocument) -> Bool { NightscoutWriter(document.own) == writer }
}
