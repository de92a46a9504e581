// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI

/// Readings and records for tests.
enum Sample {
  static let sensor = Device(vendor: "Abbott", model: "Libre 3", serial: "S-1", format: "libreview")
  static let meter = Device(vendor: "", model: "Meter", format: "generic")

  /// Sensor history of so many readings, five minutes apart.
  static func history(_ count: Int, from first: Int = 0, device: Device = sensor) -> ReadingBatch {
    let readings = (first..<first + count).map { number in
      reading(at: 1_700_000_000 + Int64(number) * 300, Double(40 + number % 360))
    }
    return ReadingBatch(devices: [device], readings: readings)
  }

  static func reading(
    at seconds: Int64, _ value: Double, kind: ReadingKind = .cbg, device: Int32 = 0, occurrence: Int32 = 0
  ) -> Reading {
    var reading = Reading(
      device: DeviceIndex(device), kind: kind, at: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: 3600, source: .zone), .value(Quantity(value, .milligramsPerDecilitre)),
      line: 0)
    reading.occurrence = occurrence
    reading.occurrenceIsStated = true
    return reading
  }

  /// One reading of each shape that there is.
  static var everyShape: ReadingBatch {
    var tick = Reading(
      device: DeviceIndex(0), kind: .cbg, tick: 123_456_789_012, at: DeviceTime(seconds: 1_700_000_001),
      placement: Placement(utcOffset: -12600, source: .ticks), .low(below: 40, .milligramsPerDecilitre),
      line: 0
    )
    tick.occurrenceIsStated = true
    let high = Reading(
      device: DeviceIndex(1), kind: .smbg, at: DeviceTime(seconds: -5),
      placement: Placement(utcOffset: 0, source: .stated), .high(above: nil, .millimolesPerLitre),
      marks: [.manual, .doubtfulTime], line: 0)
    let ketone = Reading(
      device: DeviceIndex(1), kind: .ketone, at: DeviceTime(seconds: 1_700_000_002),
      placement: Placement(utcOffset: 7200, source: .zoneOverlap),
      .value(Quantity(0.6, .millimolesPerLitre)), line: 0)
    let scan = reading(at: 1_700_000_003, 99.5, kind: .scan, device: 0, occurrence: 2)
    return ReadingBatch(devices: [sensor, meter], readings: [tick, high, ketone, scan])
  }

  static func note(_ text: String, isDeleted: Bool = false, kind: RecordKind = .note) -> RecordState {
    RecordState(
      kind: kind, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .zone),
      fields: isDeleted ? RecordFields() : RecordFields(["text": .text(text)]), isDeleted: isDeleted)
  }

  /// Stands for the client that pushes.
  static let node = "00000000-0000-4000-8000-000000000000"

  static func change(
    _ guid: String, _ version: Int, on base: String?, _ state: RecordState, node: String = Sample.node
  ) -> RecordChange {
    RecordChange(guid: guid, node: node, version: version, base: base, state: state)
  }
}

/// A client of a storage: a node with its run and its cursor.
struct Client: Sendable {
  let storage: any ServerStorage
  let login: Login
  var run: RunStamp
  var cursor: String?

  init(_ stand: Stand, as login: Login? = nil) {
    storage = stand.storage
    self.login = login ?? stand.writer
    run = RunStamp(node: Self.uuid(), number: 1, id: Self.uuid())
  }

  static func uuid() -> String { UUID().uuidString.lowercased() }

  @discardableResult
  func push(_ batch: ReadingBatch) async throws -> ReadingAnswer {
    try await storage.store(batch, login, run)
  }

  @discardableResult
  func push(_ changes: RecordChange...) async throws -> [RecordVerdict] {
    // A change names the node that first sent it.
    let own = changes.map { change in
      change.node == Sample.node
        ? RecordChange(
          guid: change.guid, node: run.node, version: change.version, base: change.base, state: change.state)
        : change
    }
    return try await storage.apply(own, login, run).verdicts
  }

  /// Pushes one change, which is accepted; gives its revision.
  func revision(_ change: RecordChange) async throws -> String {
    guard case .accepted(let revision)? = try await push(change).first else { throw Refused() }
    return revision
  }

  /// The next page, behind which the cursor stands then; nil when nothing changed.
  mutating func pull(limit: Int = Wire.maxReadings) async throws -> ChangePage? {
    let page = try await storage.changes(after: cursor, limit: limit, login, run)
    if let page { cursor = page.cursor }
    return page
  }

  /// Every page.
  mutating func pullAll(limit: Int = Wire.maxReadings) async throws -> [ChangePage] {
    var pages: [ChangePage] = []
    while let page = try await pull(limit: limit) { pages.append(page) }
    return pages
  }

  struct Refused: Error {}
}

extension ReadingBatch {
  /// Each reading with its device, as text that is equal where all parts are.
  var texts: [String] {
    readings.map { reading in
      let device = devices[Int(reading.device.number)]
      return "\(device) \(identity(reading).text) \(reading.deviceTime.text) \(reading.placement)"
        + " \(reading.measurement) \(reading.marks.names)"
    }
  }

  func identity(_ reading: Reading) -> ReadingIdentity {
    ReadingIdentity(
      device: devices[Int(reading.device.number)], kind: reading.kind, positionKind: reading.positionKind,
      position: reading.position, valueBucket: reading.valueBucket, occurrence: Int64(reading.occurrence))
  }
}
