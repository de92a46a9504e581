// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the pages of a receiver hold, gathered in their order.
struct DexcomMemory {
  private var history: [MeterReading] = []
  private var calibrations: [MeterReading] = []
  private var records: [MeterRecord] = []
  private var skipped: [String: Int] = [:]
  private var rejections: [Rejection] = []
  /// Items so far, in the order in which they are read.
  private var count: Int64 = 0

  /// Takes the records of a page; nil for a page whose header is damaged.
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

  /// All that was taken, with what its order says about the clock.
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

  /// How often the display's clock was set: its distance from the system's changed between two values.
  private static func clockChanges(_ history: [MeterReading]) -> Int {
    let distances = history.map { $0.deviceTime.seconds - ($0.tick ?? 0) }
    // Seconds of difference come from the measurement, not from the clock.
    return zip(distances, distances.dropFirst()).count { abs($0 - $1) >= 60 }
  }
}
