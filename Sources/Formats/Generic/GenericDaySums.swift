// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Recognises sums of a day among the doses or carbohydrates of a table. These are rows that repeat the sum
/// of the other rows of their day, and columns whose amounts are running totals.
///
/// One such day may be chance, as a basal dose of 12 U after two boluses of 6 U. So at least two days with
/// different sums are necessary.
struct GenericDaySums {
  private static let secondsPerDay: Int64 = 86_400
  /// The number of days that are compared at most.
  private static let maxDays = 1 << 14
  /// The minimum number of amounts in a day, so that one of them can be a sum of others.
  private static let minOfDay = 3
  private static let minDays = 2
  /// The minimum number of steps from one amount of a day to the next that show running totals.
  private static let minRises = 3
  /// The minimum number of days with one amount each that show totals of days.
  private static let minTotals = 3
  /// The minimum number of rows with three amounts that show a column of sums.
  private static let minRows = 10
  /// The minimum number of different sums in such rows.
  private static let minWholes = 5
  /// The difference of a sum that is rounded to the whole units of a pen.
  private static let rounding = 0.55
  private static let tolerance = 0.011

  /// The amounts of a day.
  private struct AmountsOfDay {
    var count = 0
    var sum = 0.0
    /// The largest amount of rows that do not name an insulin. A row with the name of an insulin is a dose.
    var largest = 0.0
    var last: (seconds: Int64, amount: Double)?
    var rises = 0
    var falls = 0

    mutating func observe(_ amount: Double, at seconds: Int64, isNamed: Bool) {
      count += 1
      sum += amount
      if !isNamed { largest = max(largest, amount) }
      if let last, last.seconds != seconds {
        if (amount >= last.amount) == (seconds > last.seconds) || amount == last.amount {
          rises += 1
        } else {
          falls += 1
        }
      }
      last = (seconds, amount)
    }

    /// Whether the largest amount is the sum of the others.
    var hasSum: Bool {
      count >= GenericDaySums.minOfDay && abs(largest * 2 - sum) < GenericDaySums.tolerance
    }

    /// Whether there are too few amounts for a sum of several: one amount, or two equal ones.
    var isTooShort: Bool { count == 2 && abs(largest * 2 - sum) < GenericDaySums.tolerance }
  }

  /// The doses of rows with three of them, such as the parts of a bolus and the whole of it.
  private struct Parts {
    /// The number of rows with three amounts or more.
    var count = 0
    /// The rows in which the amount of a role is the sum of the others.
    var sums: [GenericRole: (count: Int, amounts: Set<Double>)] = [:]

    mutating func observe(_ amounts: [(role: GenericRole, amount: Double)]) {
      guard amounts.count > 2 else { return }
      count += 1
      let sum = amounts.reduce(0) { $0 + $1.amount }
      for (role, amount) in amounts where abs(amount * 2 - sum) < GenericDaySums.rounding {
        sums[role, default: (0, [])].count += 1
        sums[role, default: (0, [])].amounts.insert(amount)
      }
    }

    /// The role whose amounts are the sums of the others in nearly all rows. Equal amounts every day are a
    /// plan of doses, as 4, 8 and 12 U at the three meals.
    var whole: GenericRole? {
      guard count >= GenericDaySums.minRows else { return nil }
      return sums.first { _, rows in
        rows.count * 5 >= count * 4 && rows.amounts.count >= GenericDaySums.minWholes
      }?.key
    }
  }

  private struct SummedColumn {
    let role: GenericRole
    let name: String
    /// Whether the name has a word for a total, which may also be that of one meal.
    let isOfTotals: Bool
    var days: [Int64: AmountsOfDay] = [:]
    /// The same amounts, where one at midnight is of the day before.
    var daysBeforeMidnight: [Int64: AmountsOfDay] = [:]
  }

  private var columns: [SummedColumn]
  private var parts = Parts()

  /// Nil without columns of doses or carbohydrates, or if a person requires all rows.
  init?(_ finding: GenericFinding, isForced: Bool) {
    columns = (GenericRole.doses + GenericRole.foods).compactMap { role in
      finding.name(of: role).map { name in
        let words = HeaderWords(name).words
        return SummedColumn(role: role, name: name, isOfTotals: !words.isDisjoint(with: Self.totals))
      }
    }
    if columns.isEmpty || isForced { return nil }
  }

  /// Adds the amounts of a row.
  ///
  /// - Parameters:
  ///   - seconds: the shown time, in civil seconds.
  ///   - diary: decides whether the amounts of the row are read.
  mutating func observe(
    _ row: Row, _ places: GenericColumns, at seconds: Int64, _ mark: DecimalMark, _ diary: inout GenericDiary
  ) {
    var amounts: [(role: GenericRole, amount: Double)] = []
    defer { parts.observe(amounts) }
    for index in columns.indices {
      let role = columns[index].role
      let cell = row[places[role]].trimmed
      guard !cell.isEmpty, let amount = cell.number(mark), amount > 0, diary.reads(role, row, places) else {
        continue
      }
      if GenericRole.doses.contains(role) { amounts.append((role, amount)) }
      let isNamed = role == .insulin && diary.namesInsulin(row, places)
      let day = DeviceTime.day(of: seconds)
      let isMidnight = seconds == day * Self.secondsPerDay
      guard columns[index].days.count < Self.maxDays || columns[index].days[day] != nil else { continue }
      columns[index].days[day, default: AmountsOfDay()].observe(amount, at: seconds, isNamed: isNamed)
      columns[index].daysBeforeMidnight[isMidnight ? day - 1 : day, default: AmountsOfDay()].observe(
        amount, at: seconds, isNamed: isNamed)
    }
  }

  /// The reason why the amounts of a column are not doses or meals, as text after the name of the column. Nil
  /// if they may be.
  var fault: (column: String, text: String)? {
    if let whole = parts.whole, let column = columns.first(where: { $0.role == whole }) {
      return (
        column.name,
        "has the sum of the other mapped columns in nearly every row, so that each dose would count twice"
      )
    }
    for column in columns {
      if column.isOfTotals, let text = Self.totalsFault(column.days) { return (column.name, text) }
      guard [column.days, column.daysBeforeMidnight].contains(where: Self.haveSums) else { continue }
      return (column.name, "has a row for each day with the sum of the other rows, as totals do")
    }
    return nil
  }

  private static func totalsFault(_ days: [Int64: AmountsOfDay]) -> String? {
    let (rises, falls) = days.values.reduce(into: (0, 0)) { $0 = ($0.0 + $1.rises, $0.1 + $1.falls) }
    if falls == 0, rises >= minRises {
      return "is named for totals, and its amounts rise in the course of each day"
    }
    let areOfDays = days.values.allSatisfy { $0.count == 1 } && days.count >= minTotals
    return areOfDays ? "is named for totals, and has one amount for each day" : nil
  }

  private static func haveSums(_ days: [Int64: AmountsOfDay]) -> Bool {
    let matching = days.values.filter(\.hasSum)
    let others = days.values.count { !$0.hasSum && !$0.isTooShort }
    let sums = Set(matching.map { ($0.largest * 100).rounded() })
    // The first and the last day of a table may be incomplete.
    return sums.count >= minDays && matching.count >= 2 * others
  }

  private static let totals: Set<String> = [
    "gesamt", "insgesamt", "razem", "soma", "somme", "sum", "suma", "summa", "summe", "toplam", "totaal",
    "total",
    "totale", "totales", "totals", "totalt", "всего", "итого", "合計", "总量",
  ]
}
