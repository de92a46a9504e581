// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Report

/// The items that figures leave out, because another source states them, too, or because a person chose
/// another source.
struct LeftOutListing {
  private let store: Store
  private let writer: TableWriter

  init(_ store: Store, _ writer: TableWriter) { (self.store, self.writer) = (store, writer) }

  /// Lists those that pass the filter, oldest first, each with the item that counts instead.
  func write(_ filter: ItemFilter, _ output: Output) throws {
    var lines: [String] = []
    func add(_ stored: StoredItem, _ reason: String) {
      lines.append("\(writer.line(stored))  \(reason)")
      // Without a range there can be many, and only the newest are needed.
      if let newest = filter.newest, lines.count >= 2 * newest { lines.removeFirst(lines.count - newest) }
    }
    let filledIn = try filledInSticks(filter, output)
    var rest = filledIn.filter { filter.holds(utc: $0.utc, shown: $0.deviceTime) }[...]
    func addFilledIn(before instant: Int64) {
      while let stick = rest.first, stick.utc <= instant {
        add(.reading(stick), "(left out: filled in from the sensor by a bolus calculator)")
        rest.removeFirst()
      }
    }
    try store.forEachCounted(filter, besides: Set(filledIn.map(\.address))) { stored, _, verdict in
      try output.checkReader()
      guard let reason = Self.reason(verdict) else { return }
      addFilledIn(before: stored.utc)
      add(stored, reason)
    }
    addFilledIn(before: .max)
    for line in lines.suffix(filter.newest ?? lines.count) { output.line(line) }
  }

  /// The finger sticks that a bolus calculator took from the sensor, also those around the range.
  private func filledInSticks(_ filter: ItemFilter, _ output: Output) throws -> [StoredReading] {
    var sticks = filter.withoutShownLimits
    (sticks.newest, sticks.recordKinds, sticks.includesWithdrawn) = (nil, [], false)
    sticks.readingKinds.formIntersection([.smbg])
    sticks.since = filter.since.map { $0 - CountingMargin.seconds }
    sticks.until = filter.until.map { $0 + CountingMargin.seconds }
    var first: Int64?
    try store.forEachItem(sticks) { item in
      guard first == nil, case .reading(let reading) = item, reading.marks.contains(.calculator) else {
        return
      }
      first = reading.utc
    }
    // Few stores have any, and only for them the values of sensors are read.
    guard let first else { return [] }
    sticks.since = first - FilledInSticks.reachSeconds
    (sticks.readingKinds, sticks.includesDevice) = ([.smbg, .cbg], nil)
    var (finder, found) = (FilledInSticks(), [StoredReading]())
    try store.forEachItem(sticks) { item in
      try output.checkReader()
      guard case .reading(let reading) = item, finder.isFilledIn(GlucoseReading(reading, device: 0)),
        filter.includesDevice?(reading.device) != false
      else { return }
      found.append(reading)
    }
    return found
  }

  private static func reason(_ verdict: CountVerdict) -> String? {
    switch verdict {
    case .counts: nil
    case .repeats(let id, let source):
      "(left out: \(SourceTitle.text(source)) has it, too, as \(Guid.isValid(id) ? String(id.prefix(8)) : "a reading"))"
    case .sensorValue(let sensor): "(left out: the own value of the sensor \(SourceTitle.text(sensor)))"
    case .notChosen: "(left out: another source was chosen)"
    }
  }
}
