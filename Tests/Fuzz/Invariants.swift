// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Rules for everything that an import yields from any input.
enum Invariants {
  /// The years 1 to 9999, as in texts of times.
  private static let seconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
  private static let offsets: ClosedRange<Int32> = -86_400...86_400

  static func check(_ batch: IngestBatch) {
    for reading in batch.readings { check(reading, batch.devices) }
    for record in batch.records { check(record) }
    for rejection in batch.rejections {
      precondition(!rejection.reason.isEmpty, "a rejection without a reason")
      precondition(rejection.source.utf8.count <= Rejection.maxSourceBytes * 3, "a rejected row is too long")
    }
    precondition(batch.skipped.values.allSatisfy { $0 > 0 }, "nothing was counted as skipped")
  }

  private static func check(_ reading: Reading, _ devices: [Device]) {
    precondition(devices.indices.contains(Int(reading.device.number)), "a reading of no device")
    precondition(seconds.contains(reading.deviceTime.seconds), "a reading at no time")
    precondition(offsets.contains(Int32(reading.placement.utcOffset)), "an offset of more than a day")
    precondition(Reading.positions.contains(reading.position), "a position that no store takes")
    precondition(reading.line > 0, "a reading on no line")
    let number: Double? =
      switch reading.measurement {
      case .value(let quantity): quantity.number
      case .low(let limit, _), .high(let limit, _): limit
      }
    guard let number else { return }
    precondition(PlausibleAmounts.stated.contains(number), "a value that no store takes: \(number)")
    precondition(reading.measurement.valueBucket >= Measurement.highLevel, "a value without an identity")
  }

  private static func check(_ record: ImportedRecord) {
    precondition(seconds.contains(record.deviceTime.seconds), "a record at no time")
    precondition(offsets.contains(Int32(record.placement.utcOffset)), "an offset of more than a day")
    precondition(record.fields.fault == nil, "a record that no store takes")
    precondition(
      (try? RecordFields(json: record.fields.json)) != nil, "a record whose fields do not come back")
  }
}
