// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a meter holds, as the batch that a store takes: times placed by the logbook's zone, and judged by the clock.
struct MeterBatch {
  private(set) var batch = IngestBatch()
  private var zone: LogbookZone
  private let times: PlausibleTimes
  private let device: Device

  /// - Parameter now: the host's clock in UTC seconds; nil where it is not to be trusted.
  init(_ contents: MeterContents, zone: LogbookZone, now: Int64?) {
    self.zone = zone
    times = PlausibleTimes(now: now)
    device = contents.identity.device
    batch.devices = [device]
    batch.rejections = contents.rejections
    batch.skipped = contents.skipped
    for (index, reading) in contents.readings.enumerated() { add(reading, line: Int64(index) + 1) }
    for (index, record) in contents.records.enumerated() { add(record, line: Int64(index) + 1) }
  }

  private mutating func add(_ source: MeterReading, line: Int64) {
    let placement =
      source.utcOffset.map { Placement(utcOffset: $0, source: .stated) } ?? zone.place(source.deviceTime)
    var marks = source.marks
    if !times.contains(source.deviceTime.seconds - Int64(placement.utcOffset)) { marks.insert(.doubtfulTime) }
    let first = DeviceIndex(0)
    batch.readings.append(
      source.tick.map {
        Reading(
          device: first, kind: source.kind, tick: $0, at: source.deviceTime, placement: placement,
          source.measurement, marks: marks, line: line)
      }
        ?? Reading(
          device: first, kind: source.kind, at: source.deviceTime, placement: placement, source.measurement,
          marks: marks, line: line))
  }

  /// An id of a meter's record is one of this meter only.
  private mutating func add(_ source: MeterRecord, line: Int64) {
    let owner = device.serial.isEmpty ? device.model : device.serial
    batch.records.append(
      ImportedRecord(
        kind: source.kind, at: source.deviceTime, placement: zone.place(source.deviceTime),
        fields: source.fields, sourceID: source.sourceID.isEmpty ? "" : "\(owner) \(source.sourceID)",
        owner: owner, line: line))
  }
}
