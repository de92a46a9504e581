// SPDX-License-Identifier: Apache-2.0

/// Where the columns of an Accu-Chek Mobile's report are.
///
/// Two forms are known. That of 10 columns is in one reader and in a report of 2015; that of 12, which puts "fasting"
/// and "bedtime" before the control test, is in German reports of 2016. The meter writes the names in its own language.
struct AccuChekColumns: Hashable {
  /// What a column holds.
  enum Column: Hashable {
    case date, time, result, unit, temperatureWarning, outOfRange, other, beforeMeal, afterMeal, fasting
    case bedtime, controlTest
  }

  /// How many columns a row has.
  let count: Int
  private let places: [Column: Int]

  /// The columns that a header names; those of a known number of columns where it is in a language that is not known.
  ///
  /// - Throws: `MalformedReport` where the names do not say the columns, and their number does not, either.
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
    // A known name at another place means that the number does not say the order.
    guard zip(columns, form).allSatisfy({ $0 == nil || $0 == $1 }) else {
      throw MalformedReport("its columns are in an unknown order")
    }
    self.init(form)
  }

  /// The columns of a report whose rows are without a header.
  ///
  /// - Throws: `MalformedReport` for a number of columns that is not known.
  init(count: Int) throws(MalformedReport) { self.init(try Self.form(of: count)) }

  private init(_ columns: [Column]) {
    count = columns.count
    places = Dictionary(uniqueKeysWithValues: zip(columns, columns.indices))
  }

  /// What a row has in a column; empty where the report has no such column.
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

  /// The names in English and in German, as reports have them.
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

/// Why a table is no report of an Accu-Chek Mobile, or none that can be read.
struct MalformedReport: Error, Hashable {
  /// What is wrong, for people.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
