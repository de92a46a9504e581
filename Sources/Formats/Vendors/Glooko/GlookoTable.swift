// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The columns of Glooko's tables.
enum GlookoColumn: Int, CaseIterable {
  case time, cgm, glucose, isManual, serial
  case insulinType, glucoseInput, carbs, carbRatio, delivered, initial, extended
  case minutes, percentage, rate
  case totalBolus, totalInsulin, totalBasal
  case alarm, name, fat, protein, energy, servings, servingCount
  case intensity, burned, value, medicationType
}

/// The header of a table of Glooko: the kind of table, and the indices of its columns.
struct GlookoTable {
  /// The files of an export, each a table of one kind.
  enum TableKind: CaseIterable {
    case cgm, meter, bolus, basal, dailyTotal, alarm, food, exercise, insulin, medication, carbs, note

    /// The required columns. If `hasTitle` is true, the table must be below Glooko's title line, since other
    /// programs write the same columns.
    fileprivate var needs: (columns: [GlookoColumn], hasTitle: Bool) {
      switch self {
      case .cgm: ([.cgm], false)
      case .meter: ([.glucose, .isManual], false)
      case .bolus: ([.insulinType, .glucoseInput, .carbs, .delivered], false)
      case .basal: ([.insulinType, .minutes, .percentage, .delivered], false)
      case .dailyTotal: ([.totalBolus, .totalInsulin, .totalBasal], false)
      case .alarm: ([.alarm, .serial], true)
      case .food: ([.name, .carbs, .fat, .protein, .energy], false)
      case .exercise: ([.name, .intensity, .minutes, .burned], false)
      case .insulin: ([.name, .value, .insulinType], true)
      case .medication: ([.name, .value, .medicationType], true)
      case .carbs: ([.carbs], true)
      case .note: ([.value], true)
      }
    }
  }

  /// The source of a table's rows. It is stored in the provenance of the rows. A meal may be in all sources,
  /// so the sources are compared like those of different exports.
  enum Source: String {
    /// The memory of a pump, with the carbohydrates that were typed into its bolus calculator.
    case pump
    /// Entries that were typed into Glooko.
    case diary
    /// Carbohydrates that were typed into the app of a sensor.
    case carbs
  }

  let kind: TableKind
  /// The source of the table's records.
  var source: Source {
    switch kind {
    case .bolus, .basal: .pump
    case .carbs: .carbs
    default: .diary
    }
  }
  /// Whether the table's rows are stored. The rows of other tables are only counted.
  var isStored: Bool { kind != .dailyTotal && kind != .alarm && kind != .medication }
  /// The unit of glucose columns; nil for a table without such columns.
  let unit: GlucoseUnit?
  /// The number of columns.
  let count: Int
  /// The names of columns in the header that the format does not know.
  let unknown: [String]
  /// The indices of the columns by the numbers of `GlookoColumn`; -1 for a missing one. It is an array, since
  /// hashing for each cell would take a third of the reading time.
  private let columns: [Int]

  /// The index of the column, or -1 if it is missing.
  @inline(__always) subscript(column: GlookoColumn) -> Int { columns[column.rawValue] }

  /// - Parameter hasTitle: whether Glooko's title line is above.
  init?(_ cells: [String], hasTitle: Bool) {
    guard cells.count >= 2, Self.names[Self.bare(cells[0])] == .time else { return nil }
    var (columns, unknown): ([GlookoColumn: Int], [String]) = ([:], [])
    var unit: GlucoseUnit?
    for (index, cell) in cells.enumerated() where !cell.isEmpty {
      guard let column = Self.names[Self.bare(cell)], columns[column] == nil else {
        unknown.append(cell)
        continue
      }
      columns[column] = index
      if column == .cgm || column == .glucose { unit = Self.unit(of: cell) }
    }
    // A table with many other columns is of another program that uses the same words.
    let kind = TableKind.allCases.first { kind in
      let needs = kind.needs
      return needs.columns.allSatisfy { columns[$0] != nil } && (hasTitle || !needs.hasTitle)
    }
    guard let kind, unknown.count <= 2, (kind != .cgm && kind != .meter) || unit != nil else { return nil }
    if kind == .carbs || kind == .note, columns.count > 3 { return nil }
    // Food diaries of other programs have the English names, too.
    if kind == .food, !hasTitle, cells.contains(where: { Self.bare($0) == "carbs (g)" }) { return nil }
    (self.kind, self.unit, self.unknown, count) = (kind, unit, unknown, cells.count)
    self.columns = GlookoColumn.allCases.map { columns[$0] ?? -1 }
  }

  private static func unit(of cell: String) -> GlucoseUnit? {
    guard let open = cell.lastIndex(of: "("), cell.last == ")" else { return nil }
    return GlucoseUnit(name: cell[open...].dropFirst().dropLast())
  }

  /// The folded name without the unit of a glucose column.
  private static func bare(_ cell: String) -> String {
    let name = foldedHeader(cell)
    for unit in [" (mg/dl)", " (mmol/l)"] where name.hasSuffix(unit) {
      return String(name.dropLast(unit.count))
    }
    return name
  }

  /// Column names in English, German, Swedish, Dutch and French.
  private static let names: [String: GlookoColumn] = [
    "timestamp": .time, "zeitstempel": .time, "tidstämpel": .time, "tijdstempel": .time, "horodatage": .time,
    "cgm glucose value": .cgm, "cgm-glukosewert": .cgm, "cgm-glukosvärde": .cgm, "cgm-glucosewaarde": .cgm,
    "valeur de glycémie scg": .cgm,
    "glucose value": .glucose, "glukosewert": .glucose,
    "manual reading": .isManual, "manuelles lesen": .isManual,
    "serial number": .serial, "seriennummer": .serial,
    "insulin type": .insulinType, "insulin-typ": .insulinType, "insulinetype": .insulinType,
    "blood glucose input": .glucoseInput, "blutzuckereingabe": .glucoseInput,
    "invoer bloedglucose": .glucoseInput,
    "carbs input (g)": .carbs, "carbs (g)": .carbs, "kohlenhydrataufnahme (g)": .carbs, "kh (g)": .carbs,
    "inmatning av kolhydrater (g)": .carbs, "invoer koolhydraatverbruik (g)": .carbs,
    "carbs ratio": .carbRatio, "kohlenhydratverhältnis": .carbRatio,
    "insulin delivered (u)": .delivered, "abgegebenes insulin (e)": .delivered,
    "insulin tillfört (enh.)": .delivered, "toegediende insuline (eenh.)": .delivered,
    "initial delivery (u)": .initial, "anfängliche abgabe (e)": .initial,
    "extended delivery (u)": .extended, "verzögerte abgabe (e)": .extended,
    "duration (minutes)": .minutes, "dauer (minuten)": .minutes, "varaktighet (minuter)": .minutes,
    "percentage (%)": .percentage, "prozentsatz (%)": .percentage,
    "rate": .rate, "frekvens": .rate,
    "total bolus (u)": .totalBolus, "bolus gesamt (u)": .totalBolus,
    "total insulin (u)": .totalInsulin, "insulin gesamt (u)": .totalInsulin,
    "total basal (u)": .totalBasal, "basal gesamt (u)": .totalBasal,
    "alarm/event": .alarm, "alarm/ereignis": .alarm,
    "name": .name, "fett": .fat, "eiweiß": .protein, "kalorien": .energy,
    "fat": .fat, "protein": .protein, "calories": .energy,
    "portionen": .servings, "anzahl der portionen": .servingCount,
    "serving quantity": .servings, "number of servings": .servingCount,
    "intensität": .intensity, "verbrannte kalorien": .burned,
    "wert": .value, "value": .value, "medikamententyp": .medicationType,
  ]
}

/// The title line of a table of Glooko: `Name:…,Date Range:2024-03-01 - 2024-03-07` in any language. The name
/// is not stored.
struct GlookoTitle {
  /// The last day of the range, as text.
  let lastDay: String

  init?(_ cells: [String]) {
    let filled = cells.filter { !$0.isEmpty }
    guard filled.count == 2, filled[0].contains(":") else { return nil }
    guard let colon = filled[1].firstIndex(of: ":"), colon > filled[1].startIndex else { return nil }
    // The range is written as `2024-03-01 -2024-03-07` or as `10.03.2025 - 10.03.2025`.
    let range = filled[1][filled[1].index(after: colon)...]
    guard let first = range.first, first.isNumber, let space = range.lastIndex(of: " ") else { return nil }
    var day = range[range.index(after: space)...]
    if day.first == "-" { day = day.dropFirst() }
    guard day.count >= 6, day.count <= 10, day.first?.isNumber == true, range.contains(" -") else {
      return nil
    }
    lastDay = String(day)
  }
}
