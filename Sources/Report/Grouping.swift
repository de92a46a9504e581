// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// What statistics are grouped by.
package enum Grouping: String, CaseIterable, Sendable {
  case day, week, month, hour, weekday, device, kind

  /// The key of the group that contains a time: a number such as the day or the hour, by the clock that the
  /// device showed. Nil for groups without times.
  package func key(of time: DeviceTime) -> Int? {
    let day = Self.day(of: time)
    switch self {
    case .day: return day
    case .week: return day - Self.weekday(of: day)
    case .month:
      let parts = time.parts
      return parts.year * 12 + parts.month - 1
    case .hour: return Int(time.seconds - Int64(day) * 86400) / 3600
    case .weekday: return Self.weekday(of: day)
    case .device, .kind: return nil
    }
  }

  /// The name of the group with this key: `2026-05-06`, `2026-W19`, `2026-05`, `07`, `Monday`.
  package func name(of key: Int) -> String {
    switch self {
    case .day: Self.date(of: key)
    case .week: Self.week(from: key)
    case .month: String(Self.monthStart(key).text.prefix(7))
    case .hour: key < 10 ? "0\(key)" : "\(key)"
    case .weekday:
      ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][key]
    case .device: "\(key)"
    case .kind: ReadingKind.allCases.first { Int($0.rawValue) == key }?.name ?? "\(key)"
    }
  }

  /// The day of a time, in days since 1970-01-01.
  static func day(of time: DeviceTime) -> Int {
    Int((time.seconds >= 0 ? time.seconds : time.seconds - 86399) / 86400)
  }

  /// The instant at which a day begins, in UTC seconds. `offset` returns the UTC offset of a time.
  static func midnight(of day: Int, _ offset: (DeviceTime) -> Int32) -> Int64 {
    Int64(day) * 86400 - Int64(offset(DeviceTime(seconds: Int64(day) * 86400)))
  }

  /// The weekday from 0 for Monday to 6 for Sunday. Day 0, which is 1970-01-01, was a Thursday.
  private static func weekday(of day: Int) -> Int { ((day + 3) % 7 + 7) % 7 }

  private static func date(of day: Int) -> String {
    String(DeviceTime(seconds: Int64(day) * 86400).text.prefix(10))
  }

  private static func monthStart(_ key: Int) -> DeviceTime {
    DeviceTime(year: key / 12, month: key % 12 + 1, day: 1) ?? DeviceTime(seconds: 0)
  }

  /// The name of an ISO 8601 week, such as `2026-W19`. A week belongs to the year of its Thursday.
  private static func week(from monday: Int) -> String {
    let thursday = DeviceTime(seconds: Int64(monday + 3) * 86400)
    let year = thursday.parts.year
    guard let newYear = DeviceTime(year: year, month: 1, day: 1) else { return date(of: monday) }
    let number = (monday + 3 - day(of: newYear)) / 7 + 1
    return "\(date(of: Self.day(of: newYear)).prefix(4))-W\(number < 10 ? "0" : "")\(number)"
  }
}

/// Finds the group of a time. The group of the last hour is cached, since times come in order.
struct GroupFinder: Sendable {
  let grouping: Grouping
  private var hour = Int64.min
  private var key: Int?

  init(_ grouping: Grouping) { self.grouping = grouping }

  mutating func key(of time: DeviceTime) -> Int? {
    let hour = (time.seconds >= 0 ? time.seconds : time.seconds - 3599) / 3600
    if hour != self.hour { (self.hour, key) = (hour, grouping.key(of: time)) }
    return key
  }
}
