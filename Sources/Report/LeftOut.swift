// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Why a reading is in no figure. Records are left out only because of other sources.
package enum LeftOut: Int, CaseIterable, Sendable {
  /// A withdrawal in the store hides the reading.
  case withdrawn
  case controlSolution
  /// The reading was taken to calibrate a sensor.
  case calibration
  /// The clock of the device was wrong.
  case doubtfulTime
  /// A sensor value from a scan by a person. Scans repeat the sensor's history, but only at times when people
  /// look.
  case scan
  /// The values of another sensor are used at that time.
  case overlapping
  /// Another value of the same sensor is used at that instant.
  case repeated
  /// The value is not a number that a device can show.
  case unusable
  /// A pump's bolus calculator copied the value from the sensor. The value counts only for the sensor.
  case filledIn
  /// Another source states the same item, and the item of that source counts.
  case doubled
  /// A finger stick that is a sensor's own value, from a program that collects the data of other programs.
  case sensorCopy
  /// A program computed the meal from the fat and protein of another one.
  case computed
  /// A person chose another source for the item's kind and time.
  case otherSource

  /// The name in tables and JSON.
  package var name: String {
    switch self {
    case .withdrawn: "withdrawn"
    case .controlSolution: "control_solution"
    case .calibration: "calibration"
    case .doubtfulTime: "doubtful_time"
    case .scan: "scans"
    case .overlapping: "overlapping"
    case .repeated: "repeated"
    case .unusable: "unusable"
    case .filledIn: "filled_in"
    case .doubled: "doubled"
    case .sensorCopy: "sensor_copies"
    case .computed: "computed"
    case .otherSource: "other_source"
    }
  }

  /// Finds the first reason in the reading itself to leave it out; nil if there is none. Reasons that depend
  /// on other readings are not checked.
  init?(_ reading: GlucoseReading) {
    if reading.isWithdrawn {
      self = .withdrawn
    } else if reading.marks.contains(.controlSolution) {
      self = .controlSolution
    } else if reading.marks.contains(.calibration) {
      self = .calibration
    } else if reading.marks.contains(.doubtfulTime) {
      self = .doubtfulTime
    } else if reading.kind == .scan {
      self = .scan
    } else if reading.isFilledIn {
      self = .filledIn
    } else {
      return nil
    }
  }
}

/// The numbers of left-out readings and records, by reason.
package struct LeftOutCounts: Sendable {
  private var counts = [Int](repeating: 0, count: LeftOut.allCases.count)

  /// The number for this reason.
  package internal(set) subscript(reason: LeftOut) -> Int {
    get { counts[reason.rawValue] }
    set { counts[reason.rawValue] = newValue }
  }
}
