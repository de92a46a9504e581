// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Compares the sensor values of an input with those that other imports stored around the same times, to find
/// values of another person. A table without a device, and an export that states no person, may be of another
/// person. Two sensors rarely measure at equal times, so it is not enough to compare values at equal times.
///
/// A value is compared with a straight line between the stored values before and after it. Values at equal
/// times are compared as well, so that a longer export of the stored sensor is never refused.
struct SensorComparison {
  /// A value in mg/dL.
  private struct ComparedValue {
    let instant: Int64
    let value: Double
  }

  /// The maximum time between two stored values between which a line is drawn, in seconds. Sensors store a
  /// value at least every 15 minutes.
  private static let longestStep: Int64 = 1200
  /// The maximum number of compared values, which a sensor yields in two weeks. The rest of the input is not
  /// compared.
  private static let maxPairs = 4032
  /// The maximum number of stored rows that are read for one input, so that a long import does not slow down.
  private static let maxRows = 16_000

  private let database: Database
  private let ingest: Int64
  /// Whether the input is a table, whose device is unknown. For an export, stricter bounds apply: see
  /// `areOfTwoPersonsForDays`.
  private let isTable: Bool
  /// The compared values of an export, in the order in which the export states them.
  private var compared: [ComparedValue] = []
  /// The instants between which the store has sensor values of other imports.
  private let instants: ClosedRange<Int64>
  private var rows = 0
  private var pairs = SensorPairs()
  /// The SQL query for the stored values of one partition, whose positions are instants or shown times.
  private static let nearby = """
    SELECT r.device_time, coalesce(r.stated_offset, r.derived_offset), r.value, r.unit, r.ingest, \(Withdrawn.reading)
    FROM reading AS r WHERE r.partition = ?1 AND r.position BETWEEN ?2 AND ?3 ORDER BY r.position LIMIT ?4
    """

  /// - Returns: nil if there is nothing to compare: for a meter, and if the store has no sensor.
  init?(_ database: Database, ingest: Int64, _ source: IngestSource) throws {
    isTable = source.isTable
    guard isTable || source.isExport, !source.acceptsPerson else { return nil }
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT min(first_time), max(last_time) FROM series WHERE kind = ? AND partition IN (?, ?)"),
      arguments: [Self.kind, Self.kind, -Self.kind])
    guard let row = row.map({ StoredRow($0, of: "series") }), let first = try row[0] as Int64?,
      let last = try row[1] as Int64?, first <= last
    else { return nil }
    (self.database, self.ingest) = (database, ingest)
    instants = first - PositionSpan.maxOffset...last + PositionSpan.maxOffset
  }

  private static let kind = Int64(ReadingKind.cbg.rawValue)

  /// Whether the input's values so far are those of another person's sensor.
  mutating func findsOther(in batch: [Reading], of devices: [Device]) throws -> Bool {
    guard pairs.count < Self.maxPairs, rows < Self.maxRows else { return false }
    let device = isTable ? devices.firstIndex(of: .ofUnknownTable) : nil
    if isTable, device == nil { return false }
    let own = batch.filter {
      $0.kind == .cbg && !$0.occurrenceIsStated && (device == nil || Int($0.device.number) == device)
    }.compactMap { reading in
      reading.measurement.quantity.map {
        ComparedValue(instant: reading.instant, value: $0.converted(to: .milligramsPerDecilitre).number)
      }
    }.filter { instants.contains($0.instant) }.sorted { $0.instant < $1.instant }
    guard let first = own.first, let last = own.last else { return false }
    let stored = try stored(first.instant - Self.longestStep...last.instant + Self.longestStep)
    compare(own, stored)
    return isTable ? pairs.areOfTwoPersons : try pairs.areOfTwoPersonsForDays && !areMoved()
  }

  /// Whether the input's values follow the stored values if the times of the input are moved by some hours.
  /// If so, both are of one person, and the clock of one device is wrong by hours.
  private mutating func areMoved() throws -> Bool {
    let values = compared.sorted { $0.instant < $1.instant }
    guard let first = values.first, let last = values.last else { return false }
    rows = 0
    let stored = try stored(first.instant...last.instant)
    return Self.shifts.contains { shift in
      var pairs = SensorPairs()
      Self.compare(values.lazy.map { ComparedValue(instant: $0.instant + shift, value: $0.value) }, stored) {
        pairs.add($0.value, $1, at: $0.instant)
      }
      return pairs.count * 2 >= values.count && pairs.correlation >= Self.minCorrelation
    }
  }

  /// The differences between two clocks that are tried, in seconds: multiples of a quarter of an hour, since
  /// zones differ by such multiples.
  private static let shifts = stride(from: -14 * 3600 as Int64, through: 14 * 3600, by: 900)
  /// The minimum correlation of an input's moved values with the stored values. With this correlation or a
  /// higher one, both count as values of one person.
  private static let minCorrelation = 0.8

  /// The visible sensor values of other imports in the order of time. Rows above `maxRows` are left out.
  private mutating func stored(_ times: ClosedRange<Int64>) throws -> [ComparedValue] {
    let slack = PositionSpan.maxOffset
    let (first, last) = (times.lowerBound - slack, times.upperBound + slack)
    var values: [ComparedValue] = []
    for (partition, scale) in [(Self.kind, 1 as Int64), (-Self.kind, 1000)] {
      let found = try Row.fetchAll(
        database.cachedStatement(sql: Self.nearby),
        arguments: [partition, first * scale, last * scale, max(0, Self.maxRows - rows)])
      rows += found.count
      for row in found {
        let row = StoredRow(row, of: "reading")
        guard let value: Double = try row[2], try row[4] != ingest, try row[5] == 0 as Int64 else { continue }
        let unit: GlucoseUnit = try row[3] == 0 as Int64 ? .milligramsPerDecilitre : .millimolesPerLitre
        let (time, offset): (Int64, Int64) = (try row[0], try row[1])
        values.append(
          ComparedValue(
            instant: time - offset,
            value: Quantity(value, unit).converted(to: .milligramsPerDecilitre).number))
      }
    }
    return values.sorted { $0.instant < $1.instant }
  }

  private mutating func compare(_ own: [ComparedValue], _ stored: [ComparedValue]) {
    Self.compare(own, stored) { value, other in
      guard pairs.count < Self.maxPairs else { return }
      pairs.add(value.value, other, at: value.instant)
      if !isTable { compared.append(value) }
    }
  }

  /// Passes each value with the stored value at the same instant. If there is none, the value of the line
  /// between the stored values before and after it is passed.
  private static func compare(
    _ own: some Sequence<ComparedValue>, _ stored: [ComparedValue], _ body: (ComparedValue, Double) -> Void
  ) {
    var next = 0
    for value in own {
      while next < stored.count, stored[next].instant < value.instant { next += 1 }
      guard next < stored.count else { return }
      let equal = stored[next...].prefix { $0.instant == value.instant }
      if let nearest = equal.min(by: { abs($0.value - value.value) < abs($1.value - value.value) }) {
        body(value, nearest.value)
      } else if next > 0, case let before = stored[next - 1],
        case let step = stored[next].instant - before.instant, step <= longestStep
      {
        let part = Double(value.instant - before.instant) / Double(step)
        body(value, before.value + (stored[next].value - before.value) * part)
      }
    }
  }
}

/// The values of two sensors at the same instants. They show whether two persons wore the sensors.
///
/// The limits below were measured with the public series of 21 persons, moved to the same dates in pairs.
/// They are those of Hall 2018, and of five persons with diabetes of type 2. For two persons, 93 to 98 % of
/// all periods of 24 hours correlate by less than 0.5 and differ by more than 10 % on average. This is true
/// for only 0 to 2 % of the periods of a person's series and its copy with bias (15 %), noise (10 %) and lag.
/// Within a few hours, an average difference of more than 40 % shows two persons.
struct SensorPairs {
  /// The minimum duration of the pairs, in seconds. If two exports overlap for a shorter time, nothing is
  /// concluded.
  private static let minSeconds: Int64 = 3600
  private static let minCount = 6
  /// The minimum duration, in seconds, for which the correlation reliably shows whether both sensors measured
  /// the same person.
  private static let reliableSeconds: Int64 = 12 * 3600
  /// The maximum time between two successive pairs that is added to the compared duration, in seconds.
  private static let longestGap: Int64 = 1200

  private(set) var count = 0
  private var seconds: Int64 = 0
  private var last: Int64?
  private var sums = (one: 0.0, other: 0.0, ones: 0.0, others: 0.0, product: 0.0)
  private var differences = 0.0

  /// Adds the values of both sensors at an instant, in mg/dL. Must be called in the order of time.
  mutating func add(_ one: Double, _ other: Double, at instant: Int64) {
    count += 1
    if let last, instant > last { seconds += min(instant - last, Self.longestGap) }
    last = instant
    sums.one += one
    sums.other += other
    sums.ones += one * one
    sums.others += other * other
    sums.product += one * other
    differences += abs(one - other) / max(1, (one + other) / 2)
  }

  /// Whether the values differ so much that two persons wore the sensors.
  var areOfTwoPersons: Bool {
    guard count >= Self.minCount, seconds >= Self.minSeconds else { return false }
    let difference = differences / Double(count)
    if difference > 0.4 { return true }
    return correlation < 0.5 && difference > (seconds >= Self.reliableSeconds ? 0.1 : 0.25)
  }

  /// Whether the values of two days or more differ so much that two persons wore the sensors, even if a
  /// sensor failed for a day. Two sensors may disagree for hours after they were put on.
  ///
  /// The limits were measured with public series of 3 persons with diabetes of type 1 and of about 100
  /// others. For two persons with diabetes, 90 to 94 % of the periods of 2 and 3 days are recognised as
  /// different persons. For the opposite test, the bias, noise, lag and low values at night of two sensors
  /// were added to one person's values. None of 500 such pairs of sensors is wrongly recognised as worn by
  /// two persons, if the person has diabetes. For other persons, with flat curves and poor sensors, 2.5 % of
  /// the pairs are.
  var areOfTwoPersonsForDays: Bool {
    seconds >= Self.secondsOfDays && correlation < 0.3 && differences / Double(count) > 0.25
  }
  private static let secondsOfDays: Int64 = 48 * 3600

  /// The correlation of both sensors, from -1 to 1; 0 if the values of one of them are constant.
  var correlation: Double {
    let count = Double(count)
    let spread = { (sum: Double, squares: Double) in max(0, squares - sum * sum / count) }
    let both = spread(sums.one, sums.ones) * spread(sums.other, sums.others)
    return both > 0 ? (sums.product - sums.one * sums.other / count) / both.squareRoot() : 0
  }
}

extension Device {
  /// The device for readings of a table that names no device.
  static let ofUnknownTable = Device(vendor: "Generic", model: "unknown", format: "generic")
}

extension Reading {
  fileprivate var instant: Int64 { deviceTime.seconds - Int64(placement.utcOffset) }
}
