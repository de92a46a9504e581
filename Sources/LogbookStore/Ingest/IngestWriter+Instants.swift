// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The times in another store's export for which the zones of this store yield another instant than the
/// export states.
package struct MovedTimes: Equatable, Sendable {
  /// The number of readings and records with such a time.
  package var count = 0
  /// The first such time, with both offsets and the zone of this store: `2026-03-01T07:10:33 was at +01:00,
  /// and is at …`. Empty without one.
  package var example = ""
}

extension IngestWriter {
  /// Counts the times of a batch for which the zones of this store yield another instant than the export
  /// states.
  ///
  /// An export of another store states the offsets that its store derived. This store ignores these offsets
  /// and derives its own. But if they differ, the export was written in another zone, and a person must know
  /// that. Repeated and skipped hours are not compared, since ticks may have decided their offsets.
  ///
  /// If both stores have the same base zone, a time with another offset has it from a statement about a
  /// period or an import. The export contains this statement, often after the times, so such a time does not
  /// move.
  func countMovedTimes(in batch: IngestBatch) throws {
    guard let input = source.zone, !input.placesReadings, !source.isMerge else { return }
    if let base = batch.records.first(where: { $0.guid == LogbookZones.baseGuid && !$0.deleted }) {
      state.baseOfExport = base.fields["zone"]
    }
    let readings = batch.readings.lazy.filter { $0.placement.source == .zone }
    let records = batch.records.lazy.filter { $0.placement.source == .zone }
    if readings.isEmpty && records.isEmpty { return }
    var placer = try ReadingPlacer(database, batch.devices)
    var zone = input.given ?? placer.all.zone()
    var base = LogbookZone(base: placer.all.base, periods: [])
    let sharesBase = input.given == nil && state.baseOfExport == .text(base.name)
    func countMovedTime(_ time: DeviceTime, _ stated: Placement, _ placed: Placement) {
      guard placed.source == .zone, stated.utcOffset != placed.utcOffset else { return }
      if sharesBase, base.placement(of: time).utcOffset != stated.utcOffset { return }
      state.counts.moved.count += 1
      guard state.counts.moved.count == 1 else { return }
      state.counts.moved.example =
        "\(time.text) was at \(DeviceTime.offsetText(stated.utcOffset)), and is at "
        + "\(DeviceTime.offsetText(placed.utcOffset)) in the zone \(zone.base.name)"
    }
    for reading in readings {
      let placed = input.given == nil ? placer.placement(of: reading) : zone.placement(of: reading.deviceTime)
      countMovedTime(reading.deviceTime, reading.placement, placed)
    }
    for record in records {
      countMovedTime(record.deviceTime, record.placement, zone.placement(of: record.deviceTime))
    }
  }
}
