// SPDX-License-Identifier: Apache-2.0

/// Finger sticks that are copies of a sensor's values. Some programs collect the data of other programs, and
/// return all glucose values as finger sticks.
///
/// The rule: a finger stick from such a program is a copy if a sensor has the same value within a second.
/// This only applies if more than ten finger sticks of the program match in this way within a week before and
/// after.
///
/// A person may measure at the same second as a sensor and get the same value by chance. By chance, about 2 %
/// of values and 1 to 20 % of times match, so both match less than once in two weeks. Only the two weeks
/// around a finger stick decide about it, and not the requested period. Tidepool's viewer leaves out such
/// finger sticks by a similar rule (`filterDuplicateSMBGs` in `DataUtil.js`).
package struct SensorCopies: Hashable, Sendable {
  fileprivate struct Stick: Hashable, Sendable {
    let instant: Int64
    let measurement: Measurement
    /// The index of the sensor's source in `sensors`.
    let sensor: Int
  }

  /// The maximum difference, in seconds, between the time of a sensor's value and the time of its copy.
  static let windowSeconds: Int64 = 1
  /// The highest number of matching finger sticks in two weeks that can be chance.
  static let maxByChance = 10
  /// The time before and after a finger stick in which matches are counted, in seconds.
  static let spanSeconds: Int64 = 7 * 86400
  /// Readings must be read up to this distance outside a period, in seconds, to find all copies in the
  /// period.
  package static let marginSeconds = spanSeconds + windowSeconds

  /// The matching finger sticks by their source, in the order of time.
  private var sticks: [CountingSource: [Stick]] = [:]
  fileprivate var sensors: [CountingSource] = []

  /// An empty value: no finger stick is a copy.
  package init() {}

  fileprivate init(_ found: [CountingSource: [Stick]], _ sensors: [CountingSource]) {
    self.sensors = sensors
    for (source, sticks) in found {
      let frequent = Self.frequentSticks(sticks.sorted { $0.instant < $1.instant })
      if !frequent.isEmpty { self.sticks[source] = frequent }
    }
  }

  /// The source of the sensor whose value an item copies; nil for an item that is not a copy.
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

  /// Selects the finger sticks with more than ten matches within a week before and after, themselves
  /// included. `sticks` are the finger sticks that match a sensor's value.
  private static func frequentSticks(_ sticks: [Stick]) -> [Stick] {
    var (first, end) = (0, 0)
    return sticks.filter { stick in
      while sticks[first].instant < stick.instant - spanSeconds { first += 1 }
      while end < sticks.count, sticks[end].instant <= stick.instant + spanSeconds { end += 1 }
      return end - first > maxByChance
    }
  }
}

/// Finds the finger sticks that are copies of a sensor's values. Callers add readings in the order of time.
/// Memory grows with the number of finger sticks that match a sensor's value.
package struct SensorCopyFinder {
  private struct Glucose {
    let source: CountingSource
    let instant: Int64
    let measurement: Measurement
  }

  /// The maximum number of values within a second that are compared. A device has one value per second, so a
  /// larger number comes from a hostile input.
  private static let maxNear = 64

  private let rules: CountingRules
  private var sensors: [Glucose] = []
  private var sticks: [Glucose] = []
  private var found: [CountingSource: [SensorCopies.Stick]] = [:]
  private var places: [CountingSource: Int] = [:]
  private var sensorSources: [CountingSource] = []

  /// - Parameter rules: people's decisions. If a person decided that two sources count separately, neither
  ///   copies the other.
  package init(_ rules: CountingRules) { self.rules = rules }

  /// Adds the next value of a sensor, in the order of time.
  package mutating func addSensor(_ measurement: Measurement, _ source: CountingSource, at instant: Int64) {
    forget(before: instant)
    let value = Glucose(source: source, instant: instant, measurement: measurement)
    var rest: [Glucose] = []
    for stick in sticks {
      if isCopy(stick, of: value) { addCopy(stick, value) } else { rest.append(stick) }
    }
    sticks = rest
    if sensors.count < Self.maxNear { sensors.append(value) }
  }

  /// Adds the next finger stick, in the order of time.
  package mutating func addStick(_ measurement: Measurement, _ source: CountingSource, at instant: Int64) {
    guard source.mayRelaySensors else { return }
    forget(before: instant)
    let stick = Glucose(source: source, instant: instant, measurement: measurement)
    if let value = sensors.first(where: { isCopy(stick, of: $0) }) {
      addCopy(stick, value)
    } else if sticks.count < Self.maxNear {
      sticks.append(stick)
    }
  }

  /// All finger sticks found to be copies of a sensor's values.
  package consuming func finish() -> SensorCopies { SensorCopies(found, sensorSources) }

  private func isCopy(_ stick: Glucose, of value: Glucose) -> Bool {
    stick.measurement.isShown(like: value.measurement) && !rules.isSeparate(stick.source, value.source)
  }

  private mutating func addCopy(_ stick: Glucose, _ value: Glucose) {
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
