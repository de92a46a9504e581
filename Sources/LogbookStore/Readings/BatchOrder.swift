// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The readings of one batch in the order of the table's primary key. Equal readings are removed. Different
/// readings with the same identity get different numbers in `occurrence`.
struct BatchOrder {
  private struct PrimaryKey {
    let partition: Int64
    let position: Int64
    let series: UInt32
    let index: UInt32

    @inline(__always) static func isBefore(_ left: PrimaryKey, _ right: PrimaryKey) -> Bool {
      if left.partition != right.partition { return left.partition < right.partition }
      if left.position != right.position { return left.position < right.position }
      if left.series != right.series { return left.series < right.series }
      return left.index < right.index
    }
  }

  /// A reading to store: its index in the batch, and the parts of its identity that are known after ordering
  /// the batch.
  struct Item {
    let valueBucket: Int64
    let occurrence: Int64
    // Numbers of 32 bits save memory, since a batch has as many items as readings.
    private let shortIndex: UInt32
    private let shortSeries: UInt32

    init(index: Int, series: Int, valueBucket: Int64, occurrence: Int64) {
      (self.valueBucket, self.occurrence) = (valueBucket, occurrence)
      (shortIndex, shortSeries) = (UInt32(index), UInt32(series))
    }

    var index: Int { Int(shortIndex) }
    /// The index of the reading's series in the writer's `SeriesTable`.
    var series: Int { Int(shortSeries) }
  }

  /// The readings to store, in the order of the table's primary key.
  private(set) var items: [Item] = []
  /// The number of readings that are equal to an earlier one of the batch, and so are not stored.
  private(set) var repeated = 0
  /// Readings that have another value, but the same stated identity or tick as an earlier reading of the
  /// batch.
  private(set) var changed: [Item] = []
  /// Groups of different readings whose identities are equal except for the occurrence, a number from 0. They
  /// are in the order of these numbers. The number under which a reading is stored also depends on the
  /// readings that are already stored with this identity.
  private(set) var together: [[Item]] = []
  /// The indexes in the batch of readings with the same tick as an earlier reading of another day.
  private(set) var restarted: [Int] = []
  private var keys: [PrimaryKey] = []

  /// Sorts the readings of a batch in the order of the stored readings, and adds each series that `table`
  /// lacks.
  mutating func arrange(_ readings: [Reading], in table: inout SeriesTable) throws {
    items.removeAll(keepingCapacity: true)
    changed.removeAll(keepingCapacity: true)
    together.removeAll(keepingCapacity: true)
    restarted.removeAll(keepingCapacity: true)
    repeated = 0
    // Adds the series in an order in which most readings are appended to the table. For a small batch, this
    // order has little effect on speed.
    if readings.count > BatchTable.capacity { try table.addSeries(of: readings) }
    try makeKeys(readings, in: &table)
    // While an array grows, its old and its new memory exist at the same time, so the memory is reserved
    // before.
    items.reserveCapacity(keys.count)
    var start = 0
    while start < keys.count {
      let key = keys[start]
      var end = start + 1
      while end < keys.count, keys[end].position == key.position, keys[end].series == key.series {
        end += 1
      }
      let first = Int(key.index)
      if end - start == 1 {
        items.append(
          Item(
            index: first, series: Int(key.series), valueBucket: readings[first].valueBucket,
            occurrence: Int64(readings[first].occurrence)))
      } else {
        identify(keys[start..<end].map { Int($0.index) }, series: Int(key.series), readings)
      }
      start = end
    }
  }

  private mutating func makeKeys(_ readings: [Reading], in table: inout SeriesTable) throws {
    keys.removeAll(keepingCapacity: true)
    keys.reserveCapacity(readings.count)
    var isSorted = true
    for (index, reading) in readings.enumerated() {
      let series = try table.index(of: reading)
      let key = PrimaryKey(
        partition: table.all[series].partition, position: reading.position, series: UInt32(series),
        index: UInt32(index))
      if isSorted, let last = keys.last, !PrimaryKey.isBefore(last, key) { isSorted = false }
      keys.append(key)
    }
    if !isSorted { sortKeys() }
  }

  /// Sorts the keys. In most inputs, only few readings are out of order. These are removed, sorted, and
  /// merged with the others, which takes a fifth of the time of sorting all.
  private mutating func sortKeys() {
    var late: [PrimaryKey] = []
    var end = 0
    for place in keys.indices {
      let key = keys[place]
      if end > 0, !PrimaryKey.isBefore(keys[end - 1], key) {
        late.append(key)
      } else {
        keys[end] = key
        end += 1
      }
    }
    late.sort(by: PrimaryKey.isBefore)
    for place in keys.indices.reversed() {
      guard let last = late.last else { return }
      if end > 0, PrimaryKey.isBefore(last, keys[end - 1]) {
        keys[place] = keys[end - 1]
        end -= 1
      } else {
        keys[place] = late.removeLast()
      }
    }
  }

  /// Determines the identities of readings of one series at one position. `group` lists them in the order of
  /// the input.
  private mutating func identify(_ group: [Int], series: Int, _ readings: [Reading]) {
    var byBucket: [(valueBucket: Int64, distinct: [Int])] = []
    let shown = readings[group[0]].deviceTime.seconds
    for index in group {
      let reading = readings[index]
      if CounterReset.isAnother(reading, thanShownAt: shown) {
        restarted.append(index)
        continue
      }
      let place = byBucket.firstIndex { $0.valueBucket == reading.valueBucket } ?? byBucket.count
      if place == byBucket.count { byBucket.append((reading.valueBucket, [])) }
      let twin = byBucket[place].distinct.contains {
        let other = readings[$0]
        return reading.measurement.agrees(with: other.measurement)
          && reading.isControlTest == other.isControlTest && !Self.areTwoPasses(reading, other)
          && (!reading.occurrenceIsStated || reading.occurrence == other.occurrence)
      }
      if twin { repeated += 1 } else { byBucket[place].distinct.append(index) }
    }
    for (valueBucket, distinct) in byBucket.sorted(by: { $0.valueBucket < $1.valueBucket }) {
      number(distinct, series: series, valueBucket, readings)
    }
  }

  /// Whether two sensor values have the same shown time, but different instants, as in the hour that clocks
  /// repeat in autumn.
  private static func areTwoPasses(_ one: Reading, _ other: Reading) -> Bool {
    one.kind == .cbg && one.positionKind == .time && one.placement.utcOffset != other.placement.utcOffset
  }

  /// Assigns different occurrence numbers to different readings of one identity. Numbers that the input
  /// states are kept. Finger sticks and ketones are numbered by size, with control tests last. Their values
  /// are equal after rounding, or the source has one instant for several strips. Two sensor values at one
  /// shown time are numbered in the order of the input. In a repeated hour, values with a stated offset come
  /// last. A sensor has only one reading at a tick, so the others are listed as changed.
  private mutating func number(_ distinct: [Int], series: Int, _ valueBucket: Int64, _ readings: [Reading]) {
    let first = readings[distinct[0]]
    if first.occurrenceIsStated {
      var taken: Set<Int32> = []
      for index in distinct.sorted(by: { readings[$0].occurrence < readings[$1].occurrence }) {
        let item = Item(
          index: index, series: series, valueBucket: valueBucket,
          occurrence: Int64(readings[index].occurrence))
        if taken.insert(readings[index].occurrence).inserted {
          items.append(item)
        } else {
          changed.append(item)
        }
      }
      return
    }
    guard first.positionKind == .time || first.kind.valueIsPartOfIdentity else {
      items.append(Item(index: distinct[0], series: series, valueBucket: valueBucket, occurrence: 0))
      changed += distinct.dropFirst().map {
        Item(index: $0, series: series, valueBucket: valueBucket, occurrence: 0)
      }
      return
    }
    let ordered =
      first.kind.valueIsPartOfIdentity
      ? distinct.sorted { Self.isSmaller(readings[$0], readings[$1]) }
      : distinct.filter { readings[$0].placement.source != .stated }
        + distinct.filter { readings[$0].placement.source == .stated }
    let numbered = ordered.enumerated().map {
      Item(index: $1, series: series, valueBucket: valueBucket, occurrence: Int64($0))
    }
    if numbered.count > 1 { together.append(numbered) } else { items += numbered }
  }

  private static func isSmaller(_ one: Reading, _ other: Reading) -> Bool {
    if one.isControlTest != other.isControlTest { return other.isControlTest }
    return (one.measurement.quantity?.number ?? 0) < (other.measurement.quantity?.number ?? 0)
  }
}
