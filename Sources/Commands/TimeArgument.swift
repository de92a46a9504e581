// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// A point in time as people type it: `2026-05-06`, `2026-05-06T18:30`, `today`, `yesterday`, `14d`, `36h`.
struct TimeArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    guard Self.isValid(argument) else { return nil }
    text = argument
  }

  /// The instant in UTC seconds, read in the logbook's zone.
  func instant(zone: LogbookZone, now: Int64) -> Int64 {
    var zone = zone
    let today = (now + Int64(zone.offset(atUTC: now))) / 86400 * 86400
    switch text {
    case "now": return now
    case "today": return Self.utc(today, &zone)
    case "yesterday": return Self.utc(today - 86400, &zone)
    default: break
    }
    if let span = Self.span(text) { return now - span }
    return Self.utc(DeviceTime(text: text)?.seconds ?? today, &zone)
  }

  private static func utc(_ civil: Int64, _ zone: inout LogbookZone) -> Int64 {
    civil - Int64(zone.place(DeviceTime(seconds: civil)).utcOffset)
  }

  private static func isValid(_ text: String) -> Bool {
    ["now", "today", "yesterday"].contains(text) || span(text) != nil || DeviceTime(text: text) != nil
  }

  /// `14d`, `36h` or `90m` in seconds.
  private static func span(_ text: String) -> Int64? {
    guard let number = Int64(text.dropLast()), number >= 0, number < 1_000_000 else { return nil }
    return switch text.last {
    case "d": number * 86400
    case "h": number * 3600
    case "m": number * 60
    default: nil
    }
  }
}
