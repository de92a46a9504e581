// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The contents of a receiver's pages, collected in their order.
struct DexcomMemory {
  private var history: [MeterReading] = []
  private var calibrations: [MeterReading] = []
  private var records: [MeterRecord] = []
  private var skipped: [String: Int] = [:]
  private var rejections: [Rejection] = []
  /// The number of items read so far.
  private var count: Int64 = 0

  /// Adds the records of a page; nil means a page with a damaged header.
  mutating func add(_ page: DexcomPage?, _ partition: DexcomPartition) {
    guard let page else { return reject("a page with a damaged header") }
    guard let length = DexcomRecord.length(partition, revision: page.revision) else {
      for _ in 0..<page.count { reject("the record has the undocumented revision \(page.revision)") }
      return
    }
    for bytes in page.records(length: length) {
      guard let bytes else {
        reject("a record with a wrong checksum")
        continue
      }
      add(DexcomRecord(bytes, partition, revision: page.revision))
    }
  }

  /// All contents, with marks where their order shows a change of the clock.
  func contents(_ identity: MeterIdentity) -> MeterContents {
    var contents = MeterContents(identity)
    var history = history.sorted { ($0.tick ?? 0) < ($1.tick ?? 0) }
    var calibrations = calibrations
    history.markClockSetBack()
    calibrations.markClockSetBack()
    contents.readings = history + calibrations
    contents.records = records
    contents.skipped = skipped
    contents.rejections = rejections
    let changes = Self.clockChanges(history)
    if changes > 0 { contents.skipped["change of the clock"] = changes }
    return contents
  }
}

extension DexcomMemory {
  private mutating func add(_ record: DexcomRecord) {
    count += 1
    switch record {
    case .reading(let reading) where reading.kind == .cbg: history.append(reading)
    case .reading(let reading): calibrations.append(reading)
    case .record(let record): records.append(record)
    case .skipped(let name): skipped[name, default: 0] += 1
    case .rejected(let reason): rejections.append(Rejection(line: count, reason: reason))
    }
  }

  private mutating func reject(_ reason: String) { add(.rejected(reason)) }

  /// The number of times that the display's clock was set: its offset from the system's clock changed between two values.
  private static func clockChanges(_ history: [MeterReading]) -> Int {
    let distances = history.map { $0.deviceTime.seconds - ($0.tick ?? 0) }
    // Differences of seconds come from the measurement, not from the clock.
    return zip(distances, distances.dropFirst()).count { abs($0 - $1) >= 60 }
  }
}
