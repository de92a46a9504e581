// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// What a page of changes holds: each item once, without what this very store wrote.
struct NightscoutPage {
  let writer: NightscoutWriter
  private(set) var readings = ReadingBatch()
  /// How many documents were not taken, by the reason.
  private(set) var notTaken: [String: Int] = [:]
  /// Places of the readings that other programs wrote.
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

  /// Counts a document that is not taken, or not all of it.
  mutating func refuse(_ reasons: [String]) {
    for reason in Set(reasons) { notTaken[reason, default: 0] += 1 }
  }

  /// Counts documents that are not taken for one reason.
  mutating func refuse(_ reason: String, _ count: Int) {
    if count > 0 { notTaken[reason, default: 0] += count }
  }

  /// A record that is gone without a trace.
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

  /// The last state of a record counts.
  private mutating func add(_ record: RemoteRecord) {
    if let place = places[record.guid] {
      order[place] = record
    } else {
      places[record.guid] = order.count
      order.append(record)
    }
  }

  /// Whether this run wrote the document last. What another run of the node wrote may be a copy's of the store; where it
  /// is this one's, it is known and changes nothing.
  private func isOwn(_ document: NightscoutDocument) -> Bool { NightscoutWriter(document.own) == writer }
}
