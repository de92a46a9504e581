// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// The command `latest`, which prints the newest glucose reading for status bars and other programs.
struct LatestCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "latest", "Show the newest glucose reading, its age and its trend.",
    """
    It is the newest visible sensor value or finger stick. The trend is calculated from the value of the \
    same sensor some minutes before. Without such a reading, the exit status is 66.
    """,
    examples: "glucoport latest", "glucoport latest --json --unit mmol/L")

  @OptionGroup var storeOptions: StoreOptions

  @OptionGroup var values: UnitOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    guard let latest = try LatestReading(in: store, now: Host.now()) else {
      throw Failure(
        .missingInput,
        "\(store.path): no sensor value or finger stick; 'glucoport import' stores some")
    }
    let unit = try values.unit ?? store.displayUnit() ?? latest.reading.measurement.unit
    try output.result(asJSON: json, LatestObject(latest, in: unit), orLines: [latest.line(in: unit)])
  }
}

/// The newest glucose reading of a store, with the trend of its sensor.
struct LatestReading {
  /// The direction in which glucose changes. The limits are those of Nightscout and Dexcom: 1, 2 and 3 mg/dL
  /// a minute.
  enum Trend: String {
    case risingFast = "rising-fast"
    case rising
    case risingSlowly = "rising-slowly"
    case steady
    case fallingSlowly = "falling-slowly"
    case falling
    case fallingFast = "falling-fast"

    /// - Parameter speed: the change in mg/dL per minute.
    init(speed: Double) {
      self =
        switch speed {
        case 3...: .risingFast
        case 2..<3: .rising
        case 1..<2: .risingSlowly
        case -1...1: .steady
        case -2 ..< -1: .fallingSlowly
        case -3 ..< -2: .falling
        default: .fallingFast
        }
    }

    var arrow: String {
      switch self {
      case .risingFast: "⇈"
      case .rising: "↑"
      case .risingSlowly: "↗"
      case .steady: "→"
      case .fallingSlowly: "↘"
      case .falling: "↓"
      case .fallingFast: "⇊"
      }
    }
  }

  /// The maximum time by which a reading may be ahead of this computer's clock, in seconds.
  private static let maxAheadSeconds: Int64 = 600
  /// The allowed time in seconds between the two values of a sensor from which a trend is calculated. Sensors
  /// send a value each 1, 5 or 15 minutes.
  private static let trendSeconds: ClosedRange<Int64> = 240...960
  /// The number of readings that are read first. It is enough for a trend even if several sensors send a
  /// value each minute.
  private static let readCount = 64

  let reading: StoredReading
  /// An earlier value of the same sensor, for the trend; nil without one.
  let earlier: StoredReading?
  /// The age of the reading in seconds. It is negative if the reading's clock is ahead.
  let age: Int64

  /// - Parameter now: the host's clock in UTC seconds.
  /// - Returns: nil if the store has neither a sensor value nor a finger stick.
  init?(in store: Store, now: Int64) throws {
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([.cbg, .smbg], [])
    filter.until = max(now, Release.date) + Self.maxAheadSeconds
    var (count, readings): (Int, [StoredReading]) = (Self.readCount, [])
    // The newest readings may all be tests with control solution. Then a larger number of readings is read.
    while true {
      filter.newest = count
      var found = 0
      readings.removeAll()
      try store.forEachItem(filter) { item in
        found += 1
        if case .reading(let reading) = item, !reading.marks.contains(.controlSolution) {
          readings.append(reading)
        }
      }
      if !readings.isEmpty || found < count { break }
      count *= 16
    }
    guard let newest = readings.last else { return nil }
    (reading, age) = (newest, now - newest.utc)
    earlier =
      newest.kind == .cbg
      ? readings.last {
        $0.deviceID == newest.deviceID && $0.kind == .cbg && Self.trendSeconds.contains(newest.utc - $0.utc)
      } : nil
  }

  /// The change since the earlier value, in this unit; nil unless both values are numbers.
  func change(in unit: GlucoseUnit) -> Double? {
    guard let later = reading.measurement.quantity, let earlier = earlier?.measurement.quantity else {
      return nil
    }
    return later.converted(to: unit).number - earlier.converted(to: unit).number
  }

  /// The trend; nil without an earlier value that is a number.
  var trend: Trend? {
    guard let earlier, let change = change(in: .milligramsPerDecilitre) else { return nil }
    return Trend(speed: change * 60 / Double(reading.utc - earlier.utc))
  }

  /// The value in this unit, as lists show it.
  func value(in unit: GlucoseUnit) -> String {
    switch reading.measurement {
    case .value(let quantity): quantity.displayed(in: unit)
    case .low: "LO"
    case .high: "HI"
    }
  }

  /// The reading on one line: value, unit, trend, age, kind and time.
  func line(in unit: GlucoseUnit) -> String {
    let arrow = trend.map { " \($0.arrow)" } ?? ""
    let kind = reading.kind == .cbg ? "sensor" : "finger stick"
    return "\(value(in: unit)) \(unit.name)\(arrow) · \(ageText) · \(kind) · \(instant(reading.utc))"
  }

  private var ageText: String {
    switch age {
    case ..<60: "now"
    case ..<7200: "\(age / 60) min ago"
    case ..<172_800: "\(age / 3600) h ago"
    default: "\(counted(Int(age / 86400), "day")) ago"
    }
  }
}

/// The newest reading as `latest --json` prints it; glucoport-json(5) documents its members.
private struct LatestObject: Encodable {
  let time: String
  let ageSeconds: Int64
  let kind: String
  let device: String
  let value: Double?
  let unit: String
  let range: String?
  let change: Double?
  let changeSeconds: Int64?
  let trend: String?

  init(_ latest: LatestReading, in unit: GlucoseUnit) {
    let reading = latest.reading
    time = instant(reading.utc)
    ageSeconds = latest.age
    kind = reading.kind.name
    device = deviceName(reading.device)
    value = reading.measurement.quantity.map { _ in Double(latest.value(in: unit)) ?? 0 }
    self.unit = unit.name
    range =
      switch reading.measurement {
      case .value: nil
      case .low: "low"
      case .high: "high"
      }
    // The difference is rounded, since it would otherwise show digits that no source stated.
    change = latest.change(in: unit).map { ($0 * 10).rounded() / 10 }
    changeSeconds = change == nil ? nil : latest.earlier.map { reading.utc - $0.utc }
    trend = latest.trend?.rawValue
  }
}
