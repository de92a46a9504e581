// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Readings of one batch in the order of the table's key, and with what settles their identity within the input.
///
/// Sorting first makes every insert an append to its part of the B-tree, five times faster than random places, and
/// brings readings of one identity next to each other.
struct BatchOrder {
  /// One device's readings of one kind on one axis.
  struct Series: Hashable, Comparable {
    let device: Int64
    let kind: ReadingKind
    let axis: Axis

    static func < (left: Self, right: Self) -> Bool {
      (left.device, left.kind.rawValue, left.axis.rawValue) < (
        right.device, right.kind.rawValue, right.axis.rawValue
      )
    }
  }

  private struct Key {
    let series: UInt32
    let index: UInt32
    let position: Int64

    @inline(__always) static func isBefore(_ left: Key, _ right: Key) -> Bool {
      if left.series != right.series { return left.series < right.series }
      if left.position != right.position { return left.position < right.position }
      return left.index < right.index
    }
  }

  /// A reading to store: where it stands in the batch, and its identity's settled parts.
  struct Item {
    let index: Int
    let level: Int64
    let occurrence: Int64
  }

  /// A reading to store, after those before it, and the series it belongs to.
  private(set) var items: [Item] = []
  /// Stretches of `items` of one series.
  private(set) var stretches: [(series: Series, items: Range<Int>)] = []
  /// Readings that equal another of the batch.
  private(set) var repeated = 0
  /// Readings with the identity of another of the batch, and another value.
  private(set) var changed: [Item] = []
  /// Different readings of one place, in the order of their occurrences. Which occurrence each one gets depends on
  /// what the store holds there.
  private(set) var together: [[Item]] = []
  private var keys: [Key] = []

  /// Orders a batch. `deviceIDs` maps the batch's device indexes to the store's ids.
  mutating func arrange(_ readings: [Reading], deviceIDs: [Int64]) {
    items.removeAll(keepingCapacity: true)
    stretches.removeAll(keepingCapacity: true)
    changed.removeAll(keepingCapacity: true)
    together.removeAll(keepingCapacity: true)
    repeated = 0
    makeKeys(readings, deviceIDs: deviceIDs)
    var start = 0
    while start < keys.count {
      var end = start + 1
      while end < keys.count, keys[end].series == keys[start].series,
        keys[end].position == keys[start].position
      {
        end += 1
      }
      let first = Int(keys[start].index)
      let before = items.count
      if end - start == 1 {
        items.append(
          Item(index: first, level: readings[first].level, occurrence: Int64(readings[first].occurrence)))
      } else {
        settle(keys[start..<end].map { Int($0.index) }, readings)
      }
      extend(with: series(of: readings[first], deviceIDs), from: before)
      start = end
    }
  }

  private mutating func makeKeys(_ readings: [Reading], deviceIDs: [Int64]) {
    // Ranks of the devices in the store's order, so that a key is three plain numbers.
    let distinct = Set(deviceIDs).sorted()
    let rankOfID = Dictionary(uniqueKeysWithValues: zip(distinct, 0...).map { ($0, UInt32($1)) })
    let rankOfDevice = deviceIDs.map { rankOfID[$0] ?? 0 }
    keys.removeAll(keepingCapacity: true)
    keys.reserveCapacity(readings.count)
    var isSorted = true
    for (index, reading) in readings.enumerated() {
      let series =
        rankOfDevice[Int(reading.device.number)] << 4 | UInt32(reading.kind.rawValue) << 1
        | UInt32(reading.axis.rawValue)
      let key = Key(series: series, index: UInt32(index), position: reading.position)
      if isSorted, let last = keys.last, !Key.isBefore(last, key) { isSorted = false }
      keys.append(key)
    }
    if !isSorted { keys.sort(by: Key.isBefore) }
  }

  private func series(of reading: Reading, _ deviceIDs: [Int64]) -> Series {
    Series(device: deviceIDs[Int(reading.device.number)], kind: reading.kind, axis: reading.axis)
  }

  private mutating func extend(with series: Series, from start: Int) {
    guard items.count > start else { return }
    if let last = stretches.last, last.series == series {
      stretches[stretches.count - 1].items = last.items.lowerBound..<items.count
    } else {
      stretches.append((series, start..<items.count))
    }
  }

  /// Settles readings of one series at one position, given in the input's order.
  private mutating func settle(_ group: [Int], _ readings: [Reading]) {
    var byLevel: [(level: Int64, distinct: [Int])] = []
    for index in group {
      let reading = readings[index]
      let place = byLevel.firstIndex { $0.level == reading.level } ?? byLevel.count
      if place == byLevel.count { byLevel.append((reading.level, [])) }
      let twin = byLevel[place].distinct.contains {
        let other = readings[$0]
        return reading.measurement.agrees(with: other.measurement)
          && (!reading.occurrenceIsStated || reading.occurrence == other.occurrence)
      }
      if twin { repeated += 1 } else { byLevel[place].distinct.append(index) }
    }
    for (level, distinct) in byLevel.sorted(by: { $0.level < $1.level }) { number(distinct, level, readings) }
  }

  /// Gives different values of one identity their occurrences: as stated; by size where the value is part of the
  /// identity and only its rounding fell together; by order where the shown time itself occurs twice.
  private mutating func number(_ distinct: [Int], _ level: Int64, _ readings: [Reading]) {
    let first = readings[distinct[0]]
    if first.occurrenceIsStated {
      var taken: Set<Int32> = []
      for index in distinct.sorted(by: { readings[$0].occurrence < readings[$1].occurrence }) {
        let item = Item(index: index, level: level, occurrence: Int64(readings[index].occurrence))
        if taken.insert(readings[index].occurrence).inserted {
          items.append(item)
        } else {
          changed.append(item)
        }
      }
      return
    }
    let valueIsPart = first.axis == .time && first.kind.valueIsPartOfIdentity
    guard valueIsPart || distinct.contains(where: { readings[$0].timeCanRepeat }) else {
      items.append(Item(index: distinct[0], level: level, occurrence: 0))
      changed += distinct.dropFirst().map { Item(index: $0, level: level, occurrence: 0) }
      return
    }
    let ordered =
      valueIsPart
      ? distinct.sorted {
        (readings[$0].measurement.quantity?.number ?? 0) < (readings[$1].measurement.quantity?.number ?? 0)
      } : distinct
    let numbered = ordered.enumerated().map { Item(index: $1, level: level, occurrence: Int64($0)) }
    if numbered.count > 1 { together.append(numbered) } else { items += numbered }
  }
}
