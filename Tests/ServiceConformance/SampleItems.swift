// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Makes readings and records for tests.
package enum Sample {
  package static let sensor = Device(vendor: "Abbott", model: "Libre 3", serial: "S-1", format: "libreview")
  package static let meter = Device(vendor: "", model: "Meter", format: "generic")

  /// Sensor readings, one every five minutes. `count` is their number.
  package static func history(_ count: Int, from first: Int = 0, device: Device = sensor) -> ReadingBatch {
    let readings = (first..<first + count).map { number in
      reading(at: 1_700_000_000 + Int64(number) * 300, Double(40 + number % 360))
    }
    return ReadingBatch(devices: [device], readings: readings)
  }

  package static func reading(
    at seconds: Int64, _ value: Double, kind: ReadingKind = .cbg, device: Int32 = 0, occurrence: Int32 = 0
  ) -> Reading {
    var reading = Reading(
      device: DeviceIndex(device), kind: kind, at: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: 3600, source: .stated),
      .value(Quantity(value, .milligramsPerDecilitre)),
      line: 0)
    reading.occurrence = occurrence
    reading.occurrenceIsStated = true
    return reading
  }

  /// Readings of all shapes: with a tick, low, high, ketone, and scan.
  package static var everyShape: ReadingBatch {
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

  package static func note(_ text: String, isDeleted: Bool = false, kind: RecordKind = .note) -> RecordState {
    RecordState(
      kind: kind, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .stated),
      fields: isDeleted ? RecordFields() : RecordFields(["text": .text(text)]), isDeleted: isDeleted,
      provenance: Provenance(format: "test", source: "a < \"b\" & c"))
  }

  /// A placeholder for the id of the node. `Client.push` replaces it by the id of the client's node.
  package static let node = "00000000-0000-4000-8000-000000000000"

  package static func change(
    _ guid: String, _ version: Int, on base: String?, _ state: RecordState, node: String = Sample.node
  ) -> RecordChange {
    RecordChange(guid: guid, node: node, version: version, base: base, state: state)
  }

  /// Sensor readings with counters as positions. Every service accepts such readings.
  package static func numbered(_ count: Int) -> ReadingBatch {
    let device = Device(vendor: "Test", model: "Meter", serial: "S1", format: "test")
    let readings = (0..<count).map { index in
      var reading = Reading(
        device: DeviceIndex(0), kind: .cbg, tick: Int64(index),
        at: DeviceTime(seconds: 1_778_000_000 + Int64(index) * 300),
        placement: Placement(utcOffset: 7200, source: .stated),
        .value(Quantity(100 + Double(index % 90), .milligramsPerDecilitre)), line: 0)
      reading.occurrenceIsStated = true
      return reading
    }
    return ReadingBatch(devices: [device], readings: readings)
  }
}

extension ReadingBatch {
  /// A text for each reading and its device. Two readings are equal in all parts if their texts are equal.
  package var texts: [String] {
    readings.map { reading in
      let device = devices[Int(reading.device.number)]
      return "\(device) \(identity(reading).text) \(reading.deviceTime.text) \(reading.placement)"
        + " \(reading.measurement) \(reading.marks.names)"
    }
  }

  package func identity(_ reading: Reading) -> ReadingIdentity {
    ReadingIdentity(
      device: devices[Int(reading.device.number)], kind: reading.kind, positionKind: reading.positionKind,
      position: reading.position, valueBucket: reading.valueBucket, occurrence: Int64(reading.occurrence))
  }
}
