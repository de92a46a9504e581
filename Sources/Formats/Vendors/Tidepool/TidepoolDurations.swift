// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines the unit of the durations of basal rates and extended boluses. Tidepool's data model, and with
/// it the API, has milliseconds. The export of the web app has minutes (config.json of
/// tidepool-org/node-data-tools), under the same name in JSON.
///
/// In the data model a duration is a whole number of milliseconds, and at most 7 days (data/types/basal of
/// tidepool-org/platform). So a fraction cannot be milliseconds, and a larger number cannot be minutes. All
/// other durations are held until such a value occurs, or until the end of the input.
struct TidepoolDurations {
  /// The unit of a duration.
  enum Unit {
    case milliseconds, minutes
  }

  /// A record whose duration is not yet known.
  private struct Held {
    var record: ImportedRecord
    let duration: Double
  }

  /// The largest duration in minutes: 7 days. As milliseconds it would be 10 seconds.
  private static let maxMinutes = 10_080.0
  /// The maximum number of held records. A longer list of short whole numbers shows that they are minutes.
  private static let maxHeld = 1000

  private var unit: Unit?
  private var held: [Held] = []

  /// Durations whose unit is stated or must be determined.
  init(_ unit: Unit? = nil) { self.unit = unit }

  /// Adds a record with a duration, or holds it until the unit is known.
  ///
  /// - Parameter duration: the number in the input.
  mutating func add(_ record: ImportedRecord, _ duration: Double, into out: inout BatchBuilder) {
    if unit == nil { determine(by: duration, into: &out) }
    if let unit {
      out.add(Self.record(record, duration, unit))
    } else if duration == 0 {
      out.add(Self.record(record, duration, .minutes))
    } else {
      held.append(Held(record: record, duration: duration))
      if held.count >= Self.maxHeld { finish(into: &out) }
    }
  }

  /// Determines the unit by the held durations, and adds their records. Pumps count in whole seconds, so
  /// several thousands of milliseconds are a whole number of thousands. A number of minutes seldom is one.
  mutating func finish(into out: inout BatchBuilder) {
    guard !held.isEmpty else { return }
    let seconds = held.count { $0.duration.remainder(dividingBy: 1000) == 0 }
    release(as: 2 * seconds > held.count ? .milliseconds : .minutes, into: &out)
  }

  private mutating func determine(by duration: Double, into out: inout BatchBuilder) {
    if duration > Self.maxMinutes {
      release(as: .milliseconds, into: &out)
    } else if duration != duration.rounded() {
      release(as: .minutes, into: &out)
    }
  }

  private mutating func release(as unit: Unit, into out: inout BatchBuilder) {
    self.unit = unit
    for held in held { out.add(Self.record(held.record, held.duration, unit)) }
    held = []
  }

  /// The record with its duration in minutes with two decimals.
  private static func record(_ record: ImportedRecord, _ duration: Double, _ unit: Unit) -> ImportedRecord {
    // The minutes of the export and the milliseconds of the API must give equal numbers.
    let milliseconds = unit == .minutes ? (duration * 60_000).rounded() : duration
    var record = record
    record.fields["minutes"] = .number((milliseconds / 600).rounded() / 100)
    return record
  }
}
