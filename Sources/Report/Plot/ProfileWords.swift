// SPDX-License-Identifier: Apache-2.0

import Logbook

extension Profile {
  /// The profile in sentences, for screen readers: one for every third hour.
  package func words(_ glucose: GlucoseText) -> [String] {
    if let shortage { return ["24-hour profile: none (\(shortage.text))."] }
    let lines = stride(from: 0, to: points.count, by: points.count / 8).map { index -> String in
      let point = points[index]
      let time = "At \(clock(Int64(point.minute) * 60))"
      guard let values = point.percentiles else { return "\(time): too few readings." }
      let numbers = values.map(glucose.number)
      return
        "\(time): median \(numbers[2]), half of the readings from \(numbers[1]) to \(numbers[3]), nine of ten from \(numbers[0]) to \(numbers[4])."
    }
    return ["24-hour profile in \(glucose.unit.name):"] + lines
  }
}

/// `HH:MM` from seconds since midnight, or from civil seconds.
func clock(_ seconds: Int64) -> String {
  let minutes = ((seconds / 60) % 1440 + 1440) % 1440
  let (hour, minute) = (minutes / 60, minutes % 60)
  return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
}
