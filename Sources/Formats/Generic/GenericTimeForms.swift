// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects columns of times that mix two notations: times with and without an offset, or two notations of
/// dates.
///
/// A spreadsheet may expect the month first and open a file with the day first, or the reverse. It turns
/// 04/05 into a wrong date, and saves this date in another notation than that of the file. It cannot read a
/// date such as 13/04, so this date stays text. So the days in one notation are at most 12, and those in the
/// other notation are 13 or later. Up to a tenth of the dates may differ from this rule, since a person may
/// have typed or pasted some rows.
struct GenericTimeForms {
  private struct DateForm: Hashable {
    let separator: UInt8
    let hasLongYear: Bool
    let hasHalfDay: Bool
  }

  private struct DayHalves {
    var early = 0
    var late = 0

    /// Whether nearly all days are at most 12, or nearly all greater. A month has 12 early days and 16 to 19
    /// late ones, so a tenth is far from an even share.
    var areEarly: Bool { early > 0 && early >= late * 10 }
    var areLate: Bool { late >= minLate && late >= early * 10 }
  }

  /// The minimum number of dates after the 12th of a month for `areLate`. A single such date may be a typing
  /// error.
  private static let minLate = 2
  private static let maxForms = 8

  /// The first line with a month over 12 after the year, and a possible month in the place of the day.
  private var dayBeforeMonth: Int64?
  private var withOffset: Int64?
  private var withoutOffset: Int64?
  private var yearFirst = DayHalves()
  private var forms: [DateForm: DayHalves] = [:]

  /// The number of times of day with a dot between hours and minutes, and of those with a colon.
  private var (dots, colons) = (0, 0)
  /// The first time of day such as `7.75`, its line, and the number of such times.
  private var decimalHours: (text: String, line: Int64, count: Int)?

  private var zone: String?
  private var lastZone: [UInt8] = []
  private var lastSeason = Season.between
  private var offsets: [Int32: Set<Season>] = [:]
  /// Whether rows name different time zones.
  private(set) var hasSeveralZones = false

  /// Whether at least one time states its offset.
  var statesOffsets: Bool { withOffset != nil }

  /// The months that are winter or summer time in every zone that has summer time, north of the equator.
  private enum Season {
    case winter, summer, between

    init(_ seconds: Int64) {
      let day = (seconds / 86_400 % 1461 + 1461) % 1461 % 365
      // Winter is from 10 November to 5 March, and summer from May to 20 September.
      self = day >= 314 || day < 64 ? .winter : day >= 121 && day < 263 ? .summer : .between
    }
  }

  /// Notes the time zone that a row names, to find out whether all rows can be of one zone; see
  /// `hasSeveralZones`. A zone has at most two offsets, an hour apart. The larger offset is that of summer
  /// time, so it occurs only in the summer half of the year, north or south of the equator.
  mutating func observe(zone cell: Field, at seconds: Int64) {
    let (cell, season) = (cell.trimmed, Season(seconds))
    guard !cell.isEmpty, !hasSeveralZones, season != lastSeason || !cell.hasSameBytes(as: lastZone) else {
      return
    }
    (lastZone, lastSeason) = (Array(cell.bytes), season)
    let text = cell.text
    let winter = Self.nameInWinter(text)
    let name = ZonePlace.key(of: winter) ?? winter
    let summer: Int32 = winter == text ? 0 : 3600
    if let offset = name.withField(\.offsetInAnyForm) {
      offsets[offset + summer, default: []].insert(season)
      hasSeveralZones = zone != nil || !areOfOneZone
      return
    }
    hasSeveralZones = zone.map { $0 != name } ?? !offsets.isEmpty
    zone = name
    guard !hasSeveralZones else { return }
    namedSeasons[summer, default: []].insert(season)
    hasSeveralZones = !Self.areOfOneZone(namedSeasons)
  }

  /// The seasons in which rows name the zone. Those of the zone's winter name have the key 0, and those of
  /// its summer name the key 3600.
  private var namedSeasons: [Int32: Set<Season>] = [:]

  private var areOfOneZone: Bool { Self.areOfOneZone(offsets) }

  private static func areOfOneZone(_ offsets: [Int32: Set<Season>]) -> Bool {
    guard let least = offsets.min(by: { $0.key < $1.key }), let most = offsets.max(by: { $0.key < $1.key }),
      least.key != most.key
    else { return true }
    guard most.key - least.key <= 3600 else { return false }
    let isOfNorth = !most.value.contains(.winter) && !least.value.contains(.summer)
    return isOfNorth || !most.value.contains(.summer) && !least.value.contains(.winter)
  }

  /// The name that a zone has in winter: `EST` for `EDT`.
  private static func nameInWinter(_ name: String) -> String {
    if let winter = namesInWinter[name] { return winter }
    return name.replacing(" Daylight Time", with: " Standard Time").replacing(
      " Summer Time", with: " Standard Time")
  }

  private static let namesInWinter = [
    "CEST": "CET", "MESZ": "MEZ", "WEST": "WET", "EEST": "EET", "BST": "GMT", "EDT": "EST", "CDT": "CST",
    "MDT": "MST", "PDT": "PST", "AEDT": "AEST", "NZDT": "NZST",
  ]

  /// Adds whether the time of a row states its offset.
  @inline(__always) mutating func observe(hasOffset: Bool, line: Int64) {
    if hasOffset {
      if withOffset == nil { withOffset = line }
    } else if withoutOffset == nil {
      withoutOffset = line
    }
  }

  /// Adds the notation of the date in a cell.
  mutating func observe(_ cell: Field) {
    if cell.count >= 10, cell[4] &- 0x30 > 9, cell[4] == cell[7], cell[9] &- 0x30 <= 9 {
      // Nearly all cells have this notation: `2026-05-06`.
      return observeYearFirst(
        isLate: cell[8] > UInt8(ascii: "1") || (cell[8] == UInt8(ascii: "1") && cell[9] > 0x32))
    }
    guard let date = cell.genericDate else { return }
    switch date.form {
    case .decided(_, let day):
      guard cell.count > 4, cell.bytes.prefix(4).allSatisfy({ $0 &- 0x30 <= 9 }) else { return }
      observeYearFirst(isLate: day > 12)
    case .open(let first, let second, let separator):
      let hasHalfDay = cell.ambiguousTime?.hasHalfDay ?? false
      let form = DateForm(
        separator: separator, hasLongYear: date.length >= 8 && cell.hasLongYear(date),
        hasHalfDay: hasHalfDay)
      add(form, isLate: max(first, second) > 12)
    }
  }

  /// Adds a cell of the column of times of day. A number such as `7.75` shows that the column counts hours.
  /// There, 7.50 is half past seven.
  mutating func observe(clock cell: Field, line: Int64) {
    guard cell.count >= 4, cell.count <= 8 else { return }
    if cell.bytes.contains(UInt8(ascii: ":")) { return colons += 1 }
    guard let time = cell.timeOfDay, cell.bytes.contains(UInt8(ascii: ".")) else { return }
    dots += 1
    guard time.hour < 24, time.minute > 59 else { return }
    if decimalHours == nil { decimalHours = (cell.text, line, 0) }
    decimalHours?.count += 1
  }

  /// Adds a cell that is not a time, such as `2026-13-05 07:30`.
  mutating func observe(unread cell: Field, line: Int64) {
    guard dayBeforeMonth == nil, cell.count >= 10, cell[4] &- 0x30 > 9, cell[4] == cell[7],
      [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy({ cell[$0] &- 0x30 <= 9 })
    else { return }
    func number(_ place: Int) -> Int { Int(cell[place] &- 0x30) * 10 + Int(cell[place + 1] &- 0x30) }
    if (13...31).contains(number(5)), (1...12).contains(number(8)) { dayBeforeMonth = line }
  }

  private mutating func observeYearFirst(isLate: Bool) {
    if isLate { yearFirst.late += 1 } else { yearFirst.early += 1 }
  }

  private mutating func add(_ form: DateForm, isLate: Bool) {
    guard forms[form] != nil || forms.count < Self.maxForms else { return }
    if isLate {
      forms[form, default: DayHalves()].late += 1
    } else {
      forms[form, default: DayHalves()].early += 1
    }
  }

  /// The reason why the times cannot be read; nil if they can be read.
  var fault: String? {
    if let withOffset, let withoutOffset {
      return
        "some times state an offset, such as Z (line \(withOffset)), and others none (line \(withoutOffset)), so "
        + "that hours may be between them; write all of them in one way"
    }
    if let dayBeforeMonth {
      return
        "the dates seem to have the day before the month (line \(dayBeforeMonth)); write them as year, month, day"
    }
    if let decimalHours, decimalHours.count > 1, dots > colons {
      return
        "the times of day seem to be hours with decimals, such as \(decimalHours.text) (line \(decimalHours.line)); "
        + "write them as hours and minutes, such as 7:45 for 7.75"
    }
    let all = forms.values + [yearFirst]
    return all.contains(where: \.areEarly) && all.contains(where: \.areLate)
      ? "the dates have two forms, one for the days to 12 and one for the later ones: a spreadsheet exchanged day and "
        + "month in a part of them; export the data again and import that file unopened" : nil
  }
}

extension Field {
  /// Whether the date at the start has a year of four digits.
  fileprivate func hasLongYear(_ date: GenericDate) -> Bool {
    let digits = slice(0, date.length).bytes.reversed().prefix { $0 &- 0x30 <= 9 }.count
    return digits == 4
  }
}
