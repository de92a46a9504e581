// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// How far back figures go: whole days (`14d`), weeks (`4w`), or hours (`36h`).
struct SpanArgument: ExpressibleByArgument {
  private enum Unit: Character { case hours = "h", days = "d", weeks = "w" }

  private let number: Int64
  private let unit: Unit

  static let fortnight = SpanArgument(number: 14, unit: .days)

  private init(number: Int64, unit: Unit) { (self.number, self.unit) = (number, unit) }

  init?(argument: String) {
    guard let unit = argument.last.flatMap(Unit.init), argument.dropLast().allSatisfy(\.isASCII),
      let number = Int64(argument.dropLast()), number > 0, number <= 100_000
    else { return nil }
    self.init(number: number, unit: unit)
  }

  /// The first instant of a span that ends at this time: hours before it, or midnight of the first of so many days of
  /// which its day is the last.
  func start(before end: DeviceTime, at instant: Int64, _ zone: LogbookZone) -> Int64 {
    if unit == .hours { return instant - number * 3600 }
    let days = unit == .weeks ? number * 7 : number
    let today = (end.seconds >= 0 ? end.seconds : end.seconds - 86399) / 86400
    let midnight = DeviceTime(seconds: (today - days + 1) * 86400)
    var zone = zone
    return midnight.seconds - Int64(zone.place(midnight).utcOffset)
  }
}
