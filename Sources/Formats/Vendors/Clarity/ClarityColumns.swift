// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The indices of the columns of a Clarity table; -1 for a missing column.
///
/// Every language has the same order, so translated headers are read by position. English headers are read by
/// name: programs that save such files again may leave out, insert or rename columns. An unknown name is read
/// by position if all other names are in their positions.
struct ClarityColumns {
  private(set) var time: Int
  private(set) var type: Int
  private(set) var subtype: Int
  private(set) var patientInfo: Int
  private(set) var deviceInfo: Int
  private(set) var sourceDevice: Int
  private(set) var glucose: Int
  private(set) var insulin: Int
  private(set) var carbs: Int
  private(set) var duration: Int
  private(set) var rate: Int
  private(set) var tick: Int
  private(set) var transmitter: Int
  let unit: GlucoseUnit
  /// The unit of the column of carbohydrates: grams, unless its name states another.
  let carbUnit: CarbohydrateUnit
  /// The columns with unknown names. `name` is the usual name of the column if it is read; otherwise nil.
  let unusual: [(column: Int, name: String?)]

  /// The English names in Clarity's order. The column of times has several names.
  private static let names: [[String]] = [
    ["index"], ["timestamp", "date_time", "datetime", "date time", "time"], ["event type"], ["event subtype"],
    ["patient info"], ["device info"], ["source device id"], ["glucose value"], ["insulin value"],
    ["carb value"], ["duration"], ["glucose rate of change"], ["transmitter time"], ["transmitter id"],
  ]
  /// The number of known names that identify an English header.
  private static let minKnown = 8

  /// The columns of a header of folded cells; nil if it is not of Clarity.
  init?(header cells: [String]) {
    var (places, unusual) = Self.indexes(of: cells)
    if places[1] < 0 || places[2] < 0 || places[7] < 0 {
      guard let start = Self.start(of: cells) else { return nil }
      places = Self.names.indices.map { start + $0 }
      if places[13] >= cells.count { (places[12], places[13]) = (-1, -1) }
      unusual = []
    }
    (time, type, subtype, patientInfo) = (places[1], places[2], places[3], places[4])
    (deviceInfo, sourceDevice, glucose, insulin) = (places[5], places[6], places[7], places[8])
    (carbs, duration, rate, tick, transmitter) = (places[9], places[10], places[11], places[12], places[13])
    guard glucose < cells.count, let unit = GlucoseUnit(in: cells[glucose]) else { return nil }
    self.unit = unit
    carbUnit = CarbohydrateUnit(header: cells.indices.contains(carbs) ? cells[carbs] : "") ?? .grams
    self.unusual = unusual
  }

  /// The indices of the columns with English names, and the unknown names.
  private static func indexes(of cells: [String]) -> (places: [Int], unusual: [(column: Int, name: String?)])
  {
    var places = names.map { names in
      cells.firstIndex { cell in names.contains { cell == $0 || cell.hasPrefix($0 + " (") } } ?? -1
    }
    let known = places.indices.filter { places[$0] >= 0 }
    guard known.count >= minKnown else { return (places, []) }
    var unusual: [(column: Int, name: String?)] = []
    if let shift = known.first.map({ places[$0] - $0 }), known.allSatisfy({ places[$0] - $0 == shift }) {
      for missing in places.indices.dropFirst() where places[missing] < 0 {
        let place = missing + shift
        guard cells.indices.contains(place), !cells[place].isEmpty, isBetween(missing, known) else {
          continue
        }
        places[missing] = place
        unusual.append((place, names[missing][0]))
      }
    }
    let others = cells.indices.filter {
      !places.contains($0) && !cells[$0].isEmpty && !isRowNumber(cells[$0])
    }
    return (places, unusual + others.map { ($0, nil) })
  }

  /// Whether the neighbours of a column are known. A column that was appended has no position in Clarity's
  /// order, so it cannot be read by position.
  private static func isBetween(_ column: Int, _ known: [Int]) -> Bool {
    known.contains(column - 1) && (column == names.count - 1 || known.contains(column + 1))
  }

  /// Whether a name is one that programs give to their row numbers.
  private static func isRowNumber(_ cell: String) -> Bool { cell == "index" || cell.hasPrefix("unnamed") }

  /// Warnings about unusual names in the header.
  ///
  /// - Parameter cells: the cells, unchanged.
  func warnings(_ cells: [String]) -> [String] {
    unusual.filter { $0.column < cells.count }.map { HeaderNames.warning(cells[$0.column], readAs: $0.name) }
  }

  /// The index of Clarity's first column, `Index`, in a translated header; -1 if only that column is missing.
  /// Nil for any other header.
  private static func start(of cells: [String]) -> Int? {
    if let tick = cells.firstIndex(of: "transmitterzeit (lange ganzzahl)"), tick >= 11 { return tick - 12 }
    // The letters for hours depend on the language (hh, uu, tt), so only the end of the name is compared.
    return cells.prefix(3).firstIndex { $0.hasSuffix(":mm:ss)") }.map { $0 - 1 }
  }
}
