// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds sensor values that a file states twice in the hour that clocks repeat in autumn. The second of two
/// equal values gets the later offset.
///
/// Most exports are sorted by shown time, so two equal values of one time look like a repeated row. A file in
/// the order of measurement has all times of that hour twice. Its shown times go back once in the hour, or
/// forward if the newest rows come first. Then both values are measurements.
///
/// At least one shown time must have different values in the two passes. Otherwise the second pass may be a
/// repeated block of rows, which has equal values only.
struct AutumnPasses {
  /// The minimum number of values of a pass through the repeated hour.
  private static let minValues = 2

  private let zone: LogbookZone
  /// For each device, the indexes of its consecutive readings in the repeated hour. A reading of the device
  /// at any other time ends the list.
  private var runs: [DeviceIndex: [Int]] = [:]

  /// - Parameter zone: the zone by which the instants of the readings were computed.
  init(_ zone: LogbookZone) { self.zone = zone }

  /// Assigns the later offset to the equal values of the second passes in a batch. All rows of an hour are in
  /// one batch.
  mutating func assignOffsets(to readings: inout [Reading]) {
    for index in readings.indices where Self.mayRepeat(readings[index]) {
      let device = readings[index].device
      if readings[index].placement.source == .zoneOverlap {
        runs[device, default: []].append(index)
      } else if !runs.isEmpty, let run = runs.removeValue(forKey: device) {
        assignOffsets(to: run, in: &readings)
      }
    }
    for run in runs.values { assignOffsets(to: run, in: &readings) }
    runs.removeAll(keepingCapacity: true)
  }

  /// Whether a reading belongs to a sensor's history and is identified only by its shown time.
  @inline(__always)
  private static func mayRepeat(_ reading: Reading) -> Bool {
    reading.kind == .cbg && reading.positionKind == .time && !reading.occurrenceIsStated
  }

  private func assignOffsets(to run: [Int], in readings: inout [Reading]) {
    guard let (first, second) = passes(run, readings) else { return }
    let firstByTime = Dictionary(
      first.map { (readings[$0].deviceTime.seconds, $0) }, uniquingKeysWith: { one, _ in one })
    let pairs = second.compactMap { index in
      firstByTime[readings[index].deviceTime.seconds].map { (first: $0, second: index) }
    }
    let equal = pairs.filter { readings[$0.first].measurement.agrees(with: readings[$0.second].measurement) }
    guard equal.count < pairs.count else { return }
    for (_, index) in equal {
      let reading = readings[index]
      readings[index].placement = Placement(
        utcOffset: TickClock.offsetOfSecondOccurrence(reading.deviceTime, reading.placement, zone),
        source: .stated)
    }
  }

  /// The readings of the first and of the second pass; nil if the times do not run through the hour twice.
  private func passes(_ run: [Int], _ readings: [Reading]) -> (first: [Int], second: [Int])? {
    let times = run.map { readings[$0].deviceTime.seconds }
    let steps = zip(times.dropFirst(), times).map(-)
    let isAscending = steps.count { $0 > 0 } * 2 > steps.count
    let forward = steps.map { isAscending ? $0 : -$0 }
    guard let turn = forward.firstIndex(where: { $0 < 0 }), forward[turn] <= -TickClock.setBackSeconds,
      forward.enumerated().allSatisfy({ $0.offset == turn || $0.element > 0 })
    else { return nil }
    let (early, late) = (Array(run[...turn]), Array(run[(turn + 1)...]))
    guard early.count >= Self.minValues, late.count >= Self.minValues else { return nil }
    return isAscending ? (early, late) : (late, early)
  }
}
