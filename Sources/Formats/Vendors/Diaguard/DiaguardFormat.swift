// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The backup of Diaguard. Its rows have no header. The first cell states the kind of a row, and an entry
/// states the time of all rows up to the next entry.
struct DiaguardFormat: ExportFormat {
  static let id = "diaguard"
  static let title = "Diaguard backup"
  static let summary = "finger sticks, insulin, carbohydrates, food, activity, notes"

  private static let delimiter = UInt8(ascii: ";")
  /// The first cells of rows, with the minimum number of cells of a complete row.
  private static let rowWords: [String: Int] = [
    "meta": 2, "tag": 2, "food": 3, "entry": 3, "measurement": 3, "foodEaten": 3, "entryTag": 2,
  ]
  /// The columns of the doses in a row with insulin.
  private enum Dose { static let bolus = 2, correction = 3, basal = 4 }

  private var time: ShownTime?
  private var hasEntry = false
  private var kinds = OtherKinds()
  /// The carbohydrates of the foods in the list of food, in grams per 100 g. Nil for a name that the list has
  /// with two different amounts.
  private var foods: [String: Double?] = [:]
  private let model: String

  /// The maximum number of foods whose carbohydrates are kept. The list of the app has some thousand.
  private static let maxFoods = 20_000
  /// The maximum number of bytes in the name of a food whose carbohydrates are kept.
  private static let maxNameBytes = 200

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    let rows = head.rows(delimiter)
    guard let first = rows.first, first.first == "meta", first.count == 2 else { return nil }
    // The last row of the head may be truncated, so it is not examined.
    let isOwn = rows.dropLast(rows.count > 2 ? 1 : 0).allSatisfy { cells in
      cells.first.map { rowWords[$0] != nil } ?? false
    }
    return isOwn ? Recognition(.table(delimiter: delimiter)) : nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    model = options.device ?? "Diaguard"
  }

  var decisions: [Decision] { [.unit(.milligramsPerDecilitre), .yearFirst] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let word = row[0].text
    guard let width = Self.rowWords[word] else { return .unknown("not a row of Diaguard") }
    let isInsulin = word == "measurement" && row[1].equals("insulin")
    guard row.count >= width, !isInsulin || !row[Dose.basal].isEmpty else {
      out.reject(row, "fewer cells than a row of '\(word)' has")
      return .data
    }
    switch word {
    case "entry": readEntry(row, into: &out)
    case "measurement": readMeasurement(row, into: &out)
    case "foodEaten": readFood(row, into: &out)
    case "food":
      countFood(row)
      out.skip("list of food")
    default: out.skip(word == "meta" ? "version of the backup" : "tag")
    }
    return .data
  }

  private mutating func readEntry(_ row: Row, into out: inout BatchBuilder) {
    hasEntry = true
    time = row[1].trimmed.yearFirstTime
    guard let time else { return out.reject(row, "invalid time; expected YYYY-MM-DD hh:mm:ss") }
    let note = row[2].trimmed
    if note.isEmpty { return }
    out.add(.note, at: time, owner: model, line: row.line, ["text": .text(note.text)])
  }

  private mutating func readMeasurement(_ row: Row, into out: inout BatchBuilder) {
    guard let time else {
      return out.reject(row, hasEntry ? "its entry has no time" : "a measurement before the first entry")
    }
    let category = row[1]
    if category.equals("bloodsugar") {
      let device = out.device(Device(vendor: "Diaguard", model: model, format: Self.id))
      if row[2].trimmed.isEmpty { return out.skip("measurement without a value") }
      out.add(
        .smbg, GlucoseReader(unit: .milligramsPerDecilitre).read(row[2].trimmed), device: device, at: time,
        marks: .manual, row: row)
    } else if category.equals("insulin") {
      readInsulin(row, at: time, into: &out)
    } else if category.equals("meal") {
      guard let fields = out.amounts(row, [AmountColumn(2, "carbs", PlausibleAmounts.grams)]) else { return }
      // An amount of 0 means that the meal has only foods as text, so no amount is stored.
      if !fields.isEmpty { out.add(.food, at: time, owner: model, line: row.line, fields) }
    } else if category.equals("activity") {
      guard let fields = out.amounts(row, [AmountColumn(2, "minutes", PlausibleAmounts.minutes)]) else {
        return
      }
      if fields.isEmpty { return out.skip("activity without a length") }
      out.add(.exercise, at: time, owner: model, line: row.line, fields)
    } else {
      out.skip(category.equals("hba1c") ? "HbA1c" : kinds.name(category))
    }
  }

  /// Adds up to two doses: a bolus together with its correction, and basal insulin.
  private func readInsulin(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let columns = [Dose.bolus, Dose.correction, Dose.basal].map {
      AmountColumn($0, "\($0)", PlausibleAmounts.units)
    }
    guard let doses = out.amounts(row, columns) else { return }
    func units(_ place: Int) -> Double {
      if case .number(let units)? = doses["\(place)"] { units } else { 0 }
    }
    let sums = [("rapid", Self.sum(units(Dose.bolus), units(Dose.correction))), ("long", units(Dose.basal))]
    if doses.isEmpty { return out.skip("dose of 0 units") }
    for (subtype, units) in sums where units > 0 {
      guard PlausibleAmounts.units.contains(units) else {
        out.reject(
          row, "an amount is not a number from 0 to \(plainNumber(PlausibleAmounts.units.upperBound))")
        continue
      }
      out.add(
        .insulin, at: time, owner: model, line: row.line,
        ["subtype": .text(subtype), "units": .number(units)])
    }
  }

  /// The sum rounded to a thousandth, since the binary sum of two decimals may differ from the exact one.
  private static func sum(_ one: Double, _ other: Double) -> Double {
    ((one + other) * 1000).rounded() / 1000
  }

  /// Keeps the carbohydrates of a food in the list of food. The list is before the entries.
  private mutating func countFood(_ row: Row) {
    let name = row[1].trimmed
    guard name.count <= Self.maxNameBytes, foods.count < Self.maxFoods, row.count > Self.carbsOfFood,
      let carbs = row[Self.carbsOfFood].trimmed.number(), (0...100).contains(carbs)
    else { return }
    if let known = foods[name.text], known != carbs {
      foods[name.text] = .some(nil)
    } else {
      foods[name.text] = carbs
    }
  }

  /// The column of the carbohydrates in a row of the list of food.
  private static let carbsOfFood = 4

  /// Adds a food with its weight as text, and with its carbohydrates if the list of food states them. The app
  /// adds these carbohydrates to those of the meal.
  private func readFood(_ row: Row, into out: inout BatchBuilder) {
    guard let time else {
      return out.reject(row, hasEntry ? "its entry has no time" : "food before the first entry")
    }
    let name = row[1].trimmed
    if name.isEmpty { return out.skip("food without a name") }
    let weight = row[2].trimmed.number()
    let grams = weight.map { ", \(plainNumber($0)) g" } ?? ""
    var fields: [String: FieldValue] = ["text": .text(name.text + grams)]
    let share = foods[name.text] ?? nil
    if weight != nil, share == nil {
      out.skip("carbohydrates of a food that the list of food does not have exactly once")
    }
    if let weight, let share {
      let carbs = (weight * share).rounded() / 100
      if carbs > 0, PlausibleAmounts.grams.contains(carbs) { fields["carbs"] = .number(carbs) }
    }
    out.add(.food, at: time, owner: model, line: row.line, fields)
  }
}

extension DiaguardFormat {
  static let page = FormatPage(
    origin: [
      "in the Diaguard app: Settings > Backup > Create backup"
    ],
    variants: [
      "the backup, whose glucose is always in mg/dL; the export of the app is another file and is not read"
    ],
    languages: "every language of the app; the backup has fixed words",
    reads: [
      "finger sticks, doses of rapid and long-acting insulin",
      "carbohydrates, food with its weight in words and its carbohydrates by the list of food",
      "minutes of activity, notes",
    ],
    notRead: [
      "tags, the list of food, weight, pressure, pulse, HbA1c and oxygen saturation, which are counted"
    ])
}
