// SPDX-License-Identifier: Apache-2.0

/// Finger sticks that are a sensor's own values, which a program that gathers the data of others passes on as finger sticks.
///
/// The rule: a finger stick of such a program is a sensor's value if a sensor has the same value within a second, and if
/// more than ten finger sticks of the program are so within a week before and after it. A person who measures at the very
/// second of a sensor and gets its value does so by chance: by 2 % of values and 1 to 20 % of times, less than once in two
/// weeks. So what becomes of a finger stick depends on the two weeks around it, and not on the period that is asked for.
/// Tidepool's viewer drops finger sticks that repeat a sensor in the same way (`filterDuplicateSMBGs` in `DataUtil.js`).
package struct SensorCopies: Hashable, Sendable {
  fileprivate struct Stick: Hashable, Sendable {
    let instant: Int64
    let measurement: Measurement
    /// The place of the sensor's source.
    let sensor: Int
  }

  /// How far apart two programs may note one value, in seconds.
  static let windowSeconds: Int64 = 1
  /// As many equal values are no sign yet.
  static let maxByChance = 10
  /// How far equal values before and after a finger stick are counted, in seconds.
  static let spanSeconds: Int64 = 7 * 86400
  /// How far beyond the items of a period readings are needed, in seconds.
  package static let marginSeconds = spanSeconds + windowSeconds

  /// By the source of the finger sticks, in the order of time.
  private var sticks: [CountingSource: [Stick]] = [:]
  fileprivate var sensors: [CountingSource] = []

  /// None.
  package init() {}

  fileprivate init(_ found: [CountingSource: [Stick]], _ sensors: [CountingSource]) {
    self.sensors = sensors
    for (source, sticks) in found {
      let frequent = Self.frequent(sticks.sorted { $0.instant < $1.instant })
      if !frequent.isEmpty { self.sticks[source] = frequent }
    }
  }

  /// The source of the sensor whose value an item is; nil for any other item.
  func sensor(of item: CountableItem) -> CountingSource? {
    guard item.kind == .smbg, let sticks = sticks[item.source], case .measured(let measurement) = item.amount
    else { return nil }
    var (low, high) = (0, sticks.count)
    while low < high {
      let middle = (low + high) / 2
      if sticks[middle].instant < item.instant { low = middle + 1 } else { high = middle }
    }
    while low < sticks.count, sticks[low].instant == item.instant {
      if sticks[low].measurement == measurement { return sensors[sticks[low].sensor] }
      low += 1
    }
    return nil
  }

  /// Those with more than ten within a week before and after.
  private static func frequent(_ sticks: [Stick]) -> [Stick] {
    var (first, end) = (0, 0)
    return sticks.filter { stick in
      while sticks[first].instant < stick.instant - spanSeconds { first += 1 }
      while end < sticks.count, sticks[end].instant <= stick.instant + spanSeconds { end += 1 }
      return end - first > maxByChance
    }
  }
}

/// Finds them. Readings pass through in the order of time; what is kept grows with the finger sticks that equal a sensor's
/// value.
package struct SensorCopyFinder {
  private struct Glucose {
    let source: CountingSource
    let instant: Int64
    let measurement: Measurement
  }

  /// A device has one value in a second. Beyond this, an input of millions in one second is no longer compared.
  private static let maxNear = 64

  private let rules: CountingRules
  private var sensors: [Glucose] = []
  private var sticks: [Glucose] = []
  private var found: [CountingSource: [SensorCopies.Stick]] = [:]
  private var places: [CountingSource: Int] = [:]
  private var sensorSources: [CountingSource] = []

  /// - Parameter rules: what people decided: of sources of which both count, none repeats the other.
  package init(_ rules: CountingRules) { self.rules = rules }

  /// Takes the next value of a sensor.
  package mutating func addSensor(_ measurement: Measurement, _ source: CountingSource, at instant: Int64) {
    forget(before: instant)
    let value = Glucose(source: source, instant: instant, measurement: measurement)
    var rest: [Glucose] = []
    for stick in sticks {
      if isCopy(stick, of: value) { note(stick, value) } else { rest.append(stick) }
    }
    sticks = rest
    if sensors.count < Self.maxNear { sensors.append(value) }
  }

  /// Takes the next finger stick.
  package mutating func addStick(_ measurement: Measurement, _ source: CountingSource, at instant: Int64) {
    guard source.mayRelaySensors else { return }
    forget(before: instant)
    let stick = Glucose(source: source, instant: instant, measurement: measurement)
    if let value = sensors.first(where: { isCopy(stick, of: $0) }) {
      note(stick, value)
    } else if sticks.count < Self.maxNear {
      sticks.append(stick)
    }
  }

  /// The finger sticks that are a sensor's own values.
  package consuming func finish() -> SensorCopies { SensorCopies(found, sensorSources) }

  private func isCopy(_ stick: Glucose, of value: Glucose) -> Bool {
    stick.measurement.isShown(like: value.measurement) && !rules.isSeparate(stick.source, value.source)
  }

  private mutating func note(_ stick: Glucose, _ value: Glucose) {
    let place = places[value.source] ?? sensorSources.count
    if place == sensorSources.count {
      sensorSources.append(value.source)
      places[value.source] = place
    }
    found[stick.source, default: []].append(
      SensorCopies.Stick(instant: stick.instant, measurement: stick.measurement, sensor: place))
  }

  private mutating func forget(before instant: Int64) {
    func isPast(_ value: Glucose) -> Bool { instant - value.instant > SensorCopies.windowSeconds }
    sensors.removeAll(where: isPast)
    sticks.removeAll(where: isPast)
  }
}
