// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The indices of the columns in Abbott's two exports. The order is the same in every language.
struct LibreColumns {
  let time: Int, type: Int, historic: Int, scan: Int
  let rapidTaken: Int, rapid: Int, foodText: Int, carbs: Int, servings: Int, longTaken: Int, long: Int
  let notes: Int, strip: Int, ketone: Int, meal: Int, correction: Int, userChange: Int
  /// The number of columns that are known.
  let count: Int

  /// Sets of columns, as numbers with one bit for each column.
  let historicBit: UInt64
  let scanBit: UInt64
  private let stripBit: UInt64
  private let ketoneBit: UInt64
  private let insulinBits: UInt64
  private let foodBits: UInt64
  /// The columns of the old and the new time of a clock change.
  let clockBits: UInt64

  /// The index of a column that this layout does not have.
  private static let none = -1

  private init(time: Int, historic: Int, hasServings: Bool, hasClock: Bool) {
    self.time = time
    type = time + 1
    self.historic = historic
    scan = historic + 1
    rapidTaken = historic + 2
    rapid = historic + 3
    foodText = historic + 4
    carbs = historic + 5
    servings = hasServings ? historic + 6 : Self.none
    longTaken = historic + (hasServings ? 7 : 6)
    long = longTaken + 1
    notes = longTaken + 2
    strip = longTaken + 3
    ketone = longTaken + 4
    meal = longTaken + 5
    correction = longTaken + 6
    userChange = longTaken + 7
    count = longTaken + (hasClock ? 10 : 8)
    historicBit = Self.bits([historic])
    scanBit = Self.bits([scan])
    stripBit = Self.bits([strip])
    ketoneBit = Self.bits([ketone])
    insulinBits = Self.bits([rapidTaken, rapid, longTaken, long, meal, correction, userChange])
    foodBits = Self.bits([foodText, carbs, servings])
    clockBits = hasClock ? Self.bits([longTaken + 8, longTaken + 9]) : 0
  }

  /// The indexes of LibreView's 19 columns; `shift` is the number of columns that another program inserted
  /// before them.
  static func libreView(shift: Int) -> LibreColumns {
    LibreColumns(time: 2 + shift, historic: 4 + shift, hasServings: true, hasClock: false)
  }

  /// The desktop software's 19 columns: no device, no servings, and the two times of a clock change.
  static let desktop = LibreColumns(time: 1, historic: 3, hasServings: false, hasClock: true)

  private static func bits(_ columns: [Int]) -> UInt64 {
    columns.reduce(0) { $1 >= 0 ? $0 | 1 << UInt64($1) : $0 }
  }

  /// The set of columns that are filled in a row.
  @inline(__always)
  func filled(_ row: Row) -> UInt64 {
    var bits: UInt64 = 0
    for column in stride(from: historic, to: min(row.count, 64), by: 1) where !row.fields[column].isEmpty {
      bits |= 1 << UInt64(column)
    }
    return bits
  }

  /// The index of the export's first column, before which another program may have inserted columns.
  var first: Int { time - (servings >= 0 ? 2 : 1) }

  /// The known names of the columns from `first` on, by language.
  var names: [[String]] { servings >= 0 ? LibreNames.libreView : LibreNames.desktop }

  /// The unit of the column of carbohydrates if its name does not show it. LibreView has a column of grams
  /// and one of portions, in this order. The desktop software has one column, in the person's unit.
  var usualCarbs: CarbohydrateUnit { servings >= 0 ? .grams : .servings }

  /// The bit of a column in a set of columns; 0 for a column that the layout lacks.
  @inline(__always) func bit(_ column: Int) -> UInt64 { column >= 0 ? 1 << UInt64(column) : 0 }

  /// The reason for which a row of an unknown type is rejected.
  static let unknownType =
    "unknown record type; expected a number from 0 (sensor history) to 6 (change of the clock)"

  /// The set of columns that rows of this type use; nil for an unknown type. Any row may have a note.
  func usedColumns(ofType type: UInt8) -> UInt64? {
    let notesBit = bit(notes)
    switch type {
    case UInt8(ascii: "0"), UInt8(ascii: "1"): return historicBit | scanBit | notesBit
    case UInt8(ascii: "2"): return stripBit | notesBit
    case UInt8(ascii: "3"): return ketoneBit | notesBit
    case UInt8(ascii: "4"): return insulinBits | notesBit
    case UInt8(ascii: "5"): return foodBits | notesBit
    case UInt8(ascii: "6"): return clockBits | notesBit
    default: return nil
    }
  }

  /// Examines the numbers of a row for the decimal mark.
  func look(at row: Row, for mark: inout DecimalMarkSurvey) {
    for column in stride(from: historic, through: min(userChange, row.count - 1), by: 1)
    where column != notes && column != foodText {
      mark.observe(row.fields[column].bytes)
    }
  }

  /// Examines the rows of an input's head.
  func look(at rows: some Sequence<[String]>, for mark: inout DecimalMarkSurvey) {
    for cells in rows {
      for column in stride(from: historic, through: min(userChange, cells.count - 1), by: 1)
      where column != notes && column != foodText {
        mark.observe(cells[column].utf8)
      }
    }
  }
}

/// A header of one of Abbott's two exports.
struct LibreHeader {
  let columns: LibreColumns
  let count: Int
  let unit: GlucoseUnit
  /// The unit of the column of carbohydrates, and whether its name states it.
  let carbs: CarbohydrateUnit
  let carbsAreStated: Bool
  /// Whether all four columns with a unit are in their positions. No other table has this.
  let hasAllUnits: Bool
  /// The columns after the known columns, with one bit for each. LibreView adds columns as sensors measure
  /// more.
  let unreadBits: UInt64
  /// Unusual names of columns.
  let warnings: [String]
  /// Whether a person moved columns.
  let isMoved: Bool
  /// Whether the language always has the day before the month.
  let putsDayFirst: Bool

  /// The names of the column with the record type, by language, and whether that language always has the day
  /// first.
  private static let recordTypes = [
    "record type": false, "aufzeichnungstyp": true, "art des eintrags": true, "tipo de registro": false,
    "type d'enregistrement": true, "gegevenstype": true, "registertyp": true, "tipo di record": true,
    "tipo di registrazione": true,
  ]

  /// The cells of a row, up to the maximum number of cells in a header.
  static func cells(_ row: Row) -> [String] { row.fields.prefix(64).map(\.text) }

  /// - Parameters:
  ///   - texts: the cells of a row.
  ///   - columns: the indices of the columns.
  /// - Returns: nil if the row is not a header with these columns. The record type and a unit identify it. In
  ///   an unknown language, the four columns with a unit do. So one name may be misspelt.
  init?(_ texts: [String], columns: LibreColumns) {
    let cells = texts.prefix(64).map(foldedHeader)
    let count = (cells.lastIndex { !$0.isEmpty } ?? -1) + 1
    guard count > columns.historic, let units = Self.units(cells, columns) else { return nil }
    let recordType = cells[columns.type].replacing("\u{2019}", with: "'")
    let known = Self.recordTypes[recordType]
    hasAllUnits = units.count == 4
    let hasKnownUnits = known != nil && (units.count > 1 || GlucoseUnit(in: cells[columns.historic]) != nil)
    guard hasKnownUnits || hasAllUnits else { return nil }
    self.columns = columns
    self.count = count
    unit = units.glucose
    let carbsName = columns.carbs < count ? cells[columns.carbs] : ""
    let stated = CarbohydrateUnit(header: carbsName)
    carbs = stated ?? columns.usualCarbs
    carbsAreStated = stated != nil
    putsDayFirst = known ?? false || cells[columns.time] == "timestamp del dispositivo"
    let unread = (columns.count..<max(columns.count, count)).filter { !cells[$0].isEmpty }
    unreadBits = unread.reduce(0) { $0 | 1 << UInt64($1) }
    let names = HeaderNames(Array(cells.dropFirst(columns.first)), among: columns.names)
    // Each column of carbohydrates may have the name of the other column, so the names do not show that they
    // were exchanged. The unit does: portions are never in grams.
    let servings = columns.servings >= 0 && columns.servings < count ? cells[columns.servings] : ""
    isMoved =
      names?.isMoved(Array(cells.dropFirst(columns.first))) == true
      || CarbohydrateUnit(header: servings) == .grams
    warnings =
      (names?.warnings(Array(texts.dropFirst(columns.first))) ?? [])
      + unread.map { HeaderNames.warning(texts[$0], readAs: nil) }
  }

  /// The unit of glucose, and the number of columns with a unit; nil if a unit is in a wrong column.
  private static func units(
    _ cells: [String], _ columns: LibreColumns
  ) -> (glucose: GlucoseUnit, count: Int)? {
    let glucose = [columns.historic, columns.scan, columns.strip]
    var (found, count): (GlucoseUnit?, Int) = (nil, 0)
    for index in 0..<min(cells.count, columns.count) {
      guard let here = GlucoseUnit(in: cells[index]) else { continue }
      count += 1
      if index == columns.ketone, here == .millimolesPerLitre { continue }
      guard glucose.contains(index), found == nil || found == here else { return nil }
      found = here
    }
    return found.map { ($0, count) }
  }

  /// The known columns that are filled in a row. Filled unknown columns are only counted, since their content
  /// is unknown.
  @inline(__always)
  func filled(_ row: Row, into out: inout BatchBuilder) -> UInt64 {
    let filled = columns.filled(row)
    if filled & unreadBits == 0 { return filled }
    out.skip("value in a column that is not read")
    return filled & ~unreadBits
  }
}

/// The limits of a sensor's range: 40 and 500 mg/dL. In place of LO and HI, Abbott's exports write the number
/// of the limit.
enum LibreLimits {
  static func reader(_ unit: GlucoseUnit, _ mark: DecimalMark) -> GlucoseReader {
    unit == .millimolesPerLitre
      ? GlucoseReader(unit: unit, mark: mark, lowLimit: 2.2, highLimit: 27.8)
      : GlucoseReader(unit: unit, mark: mark, lowLimit: 40, highLimit: 500)
  }

  /// The mark of a number that equals a limit of the sensor, and so may mean LO or HI. The lower limit of
  /// strips is lower, so a finger stick at the sensor's lower limit gets no mark.
  @inline(__always)
  static func mark(_ cell: CellValue, _ kind: ReadingKind, _ reader: GlucoseReader) -> ReadingMarks {
    guard case .measurement(.value(let quantity)) = cell, quantity.unit == reader.unit else { return [] }
    if quantity.number == reader.highLimit { return .atLimit }
    return quantity.number == reader.lowLimit && kind != .smbg ? .atLimit : []
  }
}

/// The names of the columns of Abbott's two exports, in the languages of known files or parsers. They only
/// show which names are unusual: columns are read by position.
private enum LibreNames {
  /// The names of LibreView's columns in English, German, Spanish, French, Dutch and Swedish.
  static let libreView: [[String]] = [
    [
      "device|meter", "serial number", "device timestamp|meter timestamp", "record type", "historic glucose",
      "scan glucose", "non-numeric rapid-acting insulin", "rapid-acting insulin", "non-numeric food",
      "carbohydrates", "carbohydrates", "non-numeric long-acting insulin",
      "long-acting insulin|long-acting insulin value", "notes", "strip glucose", "ketone", "meal insulin",
      "correction insulin", "user change insulin",
    ],
    [
      "gerät", "seriennummer", "gerätezeitstempel", "aufzeichnungstyp", "glukosewert-verlauf", "glukose-scan",
      "nicht numerisches schnellwirkendes insulin", "schnellwirkendes insulin",
      "nicht numerische nahrungsdaten", "kohlenhydrate", "kohlenhydrate", "nicht numerisches depotinsulin",
      "depotinsulin", "notizen", "glukose-teststreifen", "keton", "mahlzeiteninsulin", "korrekturinsulin",
      "insulin-änderung durch anwender",
    ],
    [
      "dispositivo", "número de serial|número de serie", "sello de tiempo del dispositivo",
      "tipo de registro",
      "historial de glucosa", "escaneo de glucosa", "insulina de acción rápida no numérica",
      "insulina de acción rápida", "alimento no numérico", "carbohidratos", "carbohidratos",
      "insulina de acción larga no numérica", "insulina de acción larga", "notas",
      "tira reactiva para glucosa", "cuerpos cetónicos", "comida e insulina", "insulina de corrección",
      "insulina del cambio de usuario",
    ],
    [
      "appareil", "numéro de série", "horodatage de l'appareil", "type d'enregistrement",
      "historique de la glycémie", "numérisation de la glycémie",
      "insuline à action rapide sans valeur numérique", "insuline à action rapide",
      "alimentation sans valeur numérique", "glucides", "glucides",
      "insuline à action longue sans valeur numérique", "insuline à action longue", "remarques",
      "glycémie par bandelette", "cétone", "insuline repas", "correction insuline",
      "insuline modifiée par l'utilisateur",
    ],
    [
      "apparaat", "serienummer", "tijdstempel apparaat", "gegevenstype", "historische glucose",
      "scan glucose",
      "niet-numerieke snelwerkende insuline", "snelwerkende insuline", "niet-numeriek voedsel",
      "koolhydraten", "koolhydraten", "niet-numerieke langwerkende insuline", "langwerkende insuline",
      "notities", "strip glucose", "keton", "maaltijdinsuline", "correctie insuline",
      "wijzigen insuline gebruiker",
    ],
    [
      "enhet", "serienummer", "enhetens tidsstämpel", "registertyp", "historiskt glukosvärde",
      "skanna glukosvärde", "icke-numeriskt snabbverkande insulin", "snabbverkande insulin",
      "icke-numerisk mat", "kolhydrater", "kolhydrater", "icke-numeriskt långtidsverkande insulin",
      "långtidsverkande insulin", "anteckningar", "glukossticka", "keton", "måltidsinsulin",
      "korrigeringsinsulin", "användarändrat insulin",
    ],
  ]

  /// The names of the desktop software's columns in English, German and Spanish.
  static let desktop: [[String]] = [
    [
      "id", "time", "record type", "historic glucose", "scan glucose", "non-numeric rapid-acting insulin",
      "rapid-acting insulin", "non-numeric food", "carbohydrates", "non-numeric long-acting insulin",
      "long-acting insulin", "notes", "strip glucose", "ketone", "meal insulin", "correction insulin",
      "user change insulin", "previous time", "updated time",
    ],
    [
      "id", "uhrzeit", "art des eintrags", "historische glukose", "gescannte glukose",
      "schnell wirkendes insulin, nicht numerisch", "schnell wirkendes insulin",
      "lebensmittel, nicht numerisch", "kohlenhydrate", "lang wirkendes insulin, nicht numerisch",
      "lang wirkendes insulin", "notizen", "teststreifen-blutzucker", "keton", "mahlzeiten-insulin",
      "korrektur-insulin", "insulin-änderung durch anwender", "vorherige uhrzeit", "neue uhrzeit",
    ],
    [
      "id", "hora", "tipo de registro", "histórico glucosa", "glucosa leída",
      "insulina de acción rápida sin valor numérico", "insulina de acción rápida",
      "alimentos sin valor numérico", "carbohidratos", "insulina de acción lenta sin valor numérico",
      "insulina de acción lenta", "notas", "glucosa de la tira", "cetonas", "insulina comida",
      "insulina corrección", "insulina cambio usuario", "hora anterior", "hora actualizada",
    ],
  ]
}
