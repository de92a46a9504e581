// SPDX-License-Identifier: Apache-2.0

/// The positions of the columns in an Accu-Chek Mobile's report.
///
/// Two forms are known. The form of 10 columns is that of one reader and of a report of 2015. The form of 12 columns has
/// "fasting" and "bedtime" before the control test, and is that of German reports of 2016. The meter writes the names
/// in its own language.
struct AccuChekColumns: Hashable {
  enum Column: Hashable {
    case date, time, result, unit, temperatureWarning, outOfRange, other, beforeMeal, afterMeal, fasting
    case bedtime, controlTest
  }

  let count: Int
  private let places: [Column: Int]

  /// The columns that a header names. In an unknown language, their number decides.
  ///
  /// - Throws: `MalformedReport` if neither the names nor their number determine the columns.
  init(header: [String]) throws(MalformedReport) {
    let names = header.reversed().drop(while: \.isEmpty).reversed().map { $0.lowercased() }
    let columns = names.map { Self.names[$0] }
    let known = columns.compactMap(\.self)
    if known.count == columns.count, Set(known).count == known.count,
      Set(known).isSuperset(of: [.date, .time, .result, .unit])
    {
      self.init(known)
      return
    }
    let form = try Self.form(of: names.count)
    // A known name in another position means that the number of columns does not determine their order.
    guard zip(columns, form).allSatisfy({ $0 == nil || $0 == $1 }) else {
      throw MalformedReport("its columns are in an unknown order")
    }
    self.init(form)
  }

  /// The columns of a report without a header.
  ///
  /// - Throws: `MalformedReport` for an unknown number of columns.
  init(count: Int) throws(MalformedReport) { self.init(try Self.form(of: count)) }

  private init(_ columns: [Column]) {
    count = columns.count
    places = Dictionary(uniqueKeysWithValues: zip(columns, columns.indices))
  }

  /// The text of a row in a column; empty if the report has no such column.
  func text(_ column: Column, in row: [String]) -> String {
    guard let place = places[column], row.indices.contains(place) else { return "" }
    return row[place]
  }
}

extension AccuChekColumns {
  private static func form(of count: Int) throws(MalformedReport) -> [Column] {
    let front: [Column] = [
      .date, .time, .result, .unit, .temperatureWarning, .outOfRange, .other, .beforeMeal, .afterMeal,
    ]
    switch count {
    case 10: return front + [.controlTest]
    case 12: return front + [.fasting, .bedtime, .controlTest]
    default:
      throw MalformedReport(
        "it has \(count) columns with unknown names; known reports have 10 or 12")
    }
  }

  /// The names in English and in German, as in reports.
  private static let names: [String: Column] = [
    "date": .date, "time": .time, "result": .result, "unit": .unit,
    "temperature warning": .temperatureWarning, "out of target range": .outOfRange, "other": .other,
    "before meal": .beforeMeal, "after meal": .afterMeal, "fasting": .fasting, "bedtime": .bedtime,
    "control test": .controlTest,
    "datum": .date, "uhrzeit": .time, "messwert": .result, "einheit": .unit,
    "temperaturwarnung": .temperatureWarning, "außerhalb zielbereich": .outOfRange, "sonstiges": .other,
    "vor mahlzeit": .beforeMeal, "nach mahlzeit": .afterMeal, "nüchtern": .fasting,
    "schlafenszeit": .bedtime, "funktionskontrolle": .controlTest,
  ]
}

/// Why a table is not a report of an Accu-Chek Mobile, or cannot be read.
struct MalformedReport: Error, Hashable {
  /// What is wrong, for people.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
