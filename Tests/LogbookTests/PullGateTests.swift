// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

/// Tests that a pull rejects items with implausible amounts.
@Suite struct PullGateTests {
  private static func reading(_ number: Double, _ kind: ReadingKind = .cbg) -> Reading {
    var reading = Reading(
      device: DeviceIndex(0), kind: kind, at: DeviceTime(seconds: 1_778_000_000 + Int64(number)),
      placement: Placement(utcOffset: 0, source: .stated),
      .value(Quantity(number, kind == .ketone ? .millimolesPerLitre : .milligramsPerDecilitre)), line: 0)
    reading.occurrenceIsStated = true
    return reading
  }

  private static func record(_ guid: String, _ kind: RecordKind, _ field: String, _ number: Double)
    -> RemoteRecord
  {
    let state = RecordState(
      kind: kind, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_778_000_000),
      placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields([field: .number(number)]),
      isDeleted: false)
    return RemoteRecord(guid: guid, revision: "r", state: state)
  }

  @Test func downloadedItemsWithImplausibleAmountsAreCountedAndTheRestAccepted() {
    let readings = [0, 100, 1_000_000, 120].map { Self.reading($0) } + [Self.reading(0, .ketone)]
    var page = ChangePage(
      readings: ReadingBatch(devices: [Device(vendor: "", model: "m", format: "f")], readings: readings),
      foreign: [1, 2, 3],
      records: [
        Self.record("a", .insulin, "units", 9_999.9), Self.record("b", .food, "carbs", 99_999),
        Self.record("c", .insulin, "units", 4),
      ], cursor: "c", hasMore: false)
    PullGate.filter(&page) { _ in nil }
    #expect(page.readings.readings.map { $0.measurement.quantity?.number } == [100, 120, 0])
    #expect(page.foreign == [0, 1], "places follow the readings that stay")
    #expect(page.records.map(\.guid) == ["c"])
    #expect(page.notTaken.values.reduce(0, +) == 4 && page.notTaken.count == 4)
  }

  /// A person typed the amount into this store with `--force`. The remote sends the record again, after an
  /// edit of another field.
  @Test func anImplausibleAmountThatIsAlreadyStoredIsAcceptedInADownload() {
    let typed = Self.record("a", .insulin, "units", 600)
    var edited = typed
    edited.state.fields["text"] = .text("edited")
    let known: [String: RecordState] = ["a": typed.state]
    var page = ChangePage(readings: ReadingBatch(), records: [edited], cursor: "c", hasMore: false)
    PullGate.filter(&page) { known[$0] }
    #expect(page.records == [edited] && page.notTaken.isEmpty)
    edited.state.fields["units"] = .number(601)
    page.records = [edited]
    PullGate.filter(&page) { known[$0] }
    #expect(page.records.isEmpty)
  }
}
