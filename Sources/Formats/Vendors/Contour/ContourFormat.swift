// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The table of the Contour app. The name of the glucose column is English in every language. The other
/// columns have a fixed order around it, and are read by position.
struct ContourFormat: ExportFormat {
  static let id = "contour"
  static let title = "Contour app CSV"
  static let summary = "finger sticks with meal marks, insulin, carbohydrates, activity, notes"

  /// The columns as distances from the column of glucose. The index of that column depends on the layout.
  private enum Offset {
    static let time = -1, meal = 1, source = 2, notes = 3, activity = 4, carbs = 5, medication = 6,
      location = 7
  }

  /// The header line: the index of the column of glucose, and its unit.
  struct Found {
    let glucose: Int
    let unit: GlucoseUnit
    let count: Int
    let isEnglish: Bool
    /// Whether the columns are in the app's order, so that those around glucose can be read.
    let isWhole: Bool
    /// Whether a person moved or added columns.
    let isMoved: Bool
    /// The names of unread columns.
    let unread: [String]

    init?(_ cells: [String]) {
      let names = cells
      let cells = cells.map(foldedHeader)
      guard let place = cells.firstIndex(where: { Self.unit(of: $0) != nil }),
        let unit = Self.unit(of: cells[place])
      else { return nil }
      let meal = place + Offset.carbs
      // The app's whole table has a column such as `Meal[g]` at this index, in any language. A table with
      // only the first columns begins with row numbers.
      isWhole = meal < cells.count && cells[meal].hasSuffix("[g]")
      let isReordered = HeaderNames.isReordered(cells, from: place - 1, among: ContourFormat.known)
      guard isReordered || (place >= 1 && (cells[0] == "#" || isWhole)) else { return nil }
      let last = place + (isWhole ? Offset.location : 0)
      unread = names.indices.filter { !(place - 1...last).contains($0) && !["", "#"].contains(cells[$0]) }
        .map { names[$0] }
      (glucose, self.unit, count) = (place, unit, cells.count)
      isMoved = isReordered || cells.count { $0.hasSuffix("[g]") } > 1
      isEnglish = ["date and time", "time", "local time"].contains(cells[max(0, place - 1)])
    }

    private static func unit(of cell: String) -> GlucoseUnit? {
      guard let name = ["bgvalue", "readings"].first(where: cell.hasPrefix), cell.last == "]" else {
        return nil
      }
      let rest = cell.dropFirst(name.count).drop { $0 == " " }
      return rest.first == "[" ? GlucoseUnit(name: rest.dropFirst().dropLast()) : nil
    }
  }

  /// The column names from the time on, in English, Polish, Danish and Norwegian. The columns of glucose and
  /// carbohydrates are recognised by their units.
  private static let known: [[String]] = [
    [
      "date and time", "bgvalue", "meal marker", "data source", "notes", "activity", "meal[g]", "medication",
      "location",
    ],
    [
      "data i godzina", "bgvalue", "znacznik posiłku", "źródło danych", "uwagi", "aktywność", "posiłek[g]",
      "leki", "lokalizacja",
    ],
    [
      "dato og tid", "bgvalue", "måltidsmarkør", "datakilde", "notater", "aktivitet", "måltid[g]", "medicin",
      "land",
    ],
    [
      "dato og klokkeslett", "bgvalue", "måltidsmarkering", "datakilde", "notater", "aktivitet", "måltid[g]",
      "medisin", "sted",
    ],
  ]

  private static let mealMarks: [String: ReadingMarks] = [
    "fasting": .fasting, "na czczo": .fasting, "fastende": .fasting,
    "before meal": .beforeMeal, "pre-meal": .beforeMeal, "før måltid": .beforeMeal,
    "przed posiłkiem": .beforeMeal,
    "after meal": .afterMeal, "post-meal": .afterMeal, "etter måltid": .afterMeal, "efter måltid": .afterMeal,
    "po posiłku": .afterMeal, "": [], "no mark": [], "ingen markering": [], "ingen": [],
  ]
  /// Parts of the words for a value that a person typed, in the app's languages.
  private static let manualWords = ["manu", "ręcz"]

  private var header: Found
  private var hasHeader = false
  private var dates: AmbiguousDates
  private var mark: DecimalMarkSurvey
  /// Whether every `AM` and `PM` so far is in capitals, as the app writes them in the United States. In other
  /// countries with English it writes `am` and `pm`.
  private var hasCapitals = true
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Found>>? {
    head.firstRow(Found.init)?.recognition
  }

  /// - Throws: `Failure` of category `badInput` for moved columns.
  init(_ found: Recognition<HeaderRow<Found>>, head: InputHead, options: ExportOptions) throws {
    let row = found.header
    let header = row.meaning
    guard !header.isMoved else { throw HeaderNames.moved(Self.title) }
    self.header = header
    model = options.device ?? "Contour"
    mark = DecimalMarkSurvey(presumed: .point)
    for cells in row.rows {
      for place in [header.glucose, header.glucose + Offset.carbs] where cells.count > place {
        mark.observe(cells[place].utf8)
      }
    }
    let time = header.glucose + Offset.time
    dates = try AmbiguousDates(options, times: row.rows.compactMap { $0.count > time ? $0[time] : nil })
  }

  var needsSurvey: Bool { dates.isUndecided }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) {
    let cell = row[header.glucose + Offset.time].trimmed
    guard let time = cell.ambiguousTime else { return }
    dates.observe(time, line: row.line)
    if time.hasHalfDay, cell.bytes.contains(where: { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) {
      hasCapitals = false
    }
  }

  mutating func decide() throws {
    try dates.decide(halfDayMeansMonthFirst: header.isEnglish && hasCapitals)
  }

  var decisions: [Decision] { [.units([header.unit]), dates.decision] + mark.decisions }

  var warnings: [String] { header.unread.map { HeaderNames.warning($0, readAs: nil) } }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let cell = row[header.glucose + Offset.time].trimmed
    guard hasHeader, let first = cell.bytes.first, first &- 0x30 <= 9 else { return readOther(row) }
    guard let time = dates.time(cell) else {
      out.reject(row, dates.refusal)
      return .data
    }
    readValue(row, at: time, into: &out)
    if header.isWhole { readRecords(row, at: time, into: &out) }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    guard let header = Found(row.fields.map(\.text)) else {
      return .unknown("before the header, or not a row of the Contour app")
    }
    // Rows below a header with another unit are not read.
    hasHeader =
      header.unit == self.header.unit && header.glucose == self.header.glucose && !header.isMoved
    guard hasHeader else {
      return .unknown("a header with other columns; import this part as a separate input")
    }
    return .header
  }
}

extension ContourFormat {
  private mutating func readValue(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let cell = row[header.glucose].trimmed
    mark.observe(cell.bytes)
    if cell.isEmpty { return }
    let device = out.device(Device(vendor: "Ascensia", model: model, format: Self.id))
    let reader = GlucoseReader(unit: header.unit, mark: mark.mark)
    let marks = header.isWhole ? marks(row, &out) : []
    out.add(.smbg, reader.read(cell), device: device, at: time, marks: marks, row: row)
  }

  private func marks(_ row: Row, _ out: inout BatchBuilder) -> ReadingMarks {
    var marks: ReadingMarks = []
    let source = row[header.glucose + Offset.source].trimmed.folded
    if Self.manualWords.contains(where: source.hasPrefix) { marks.insert(.manual) }
    if let meal = Self.mealMarks[row[header.glucose + Offset.meal].trimmed.folded] {
      marks.formUnion(meal)
    } else {
      out.skip("meal mark in words that glucoport does not know")
    }
    return marks
  }

  private mutating func readRecords(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let carbs = header.glucose + Offset.carbs
    mark.observe(row[carbs].bytes)
    guard let food = out.amounts(row, [AmountColumn(carbs, "carbs", PlausibleAmounts.grams)], mark.mark)
    else {
      return
    }
    if !food.isEmpty { out.add(.food, at: time, owner: model, line: row.line, food) }
    for (place, kind) in [(Offset.notes, RecordKind.note), (Offset.activity, .exercise)] {
      let cell = row[header.glucose + place].trimmed
      if cell.isEmpty { continue }
      // The app writes a line break as the two characters `\n`.
      let text = cell.text.replacing(#"\n"#, with: "\n")
      out.add(kind, at: time, owner: model, line: row.line, ["text": .text(text)])
    }
    readMedication(row, at: time, into: &out)
  }

  /// Adds the doses in the text of a cell such as
  /// `Fast-acting Insulin (Bolus): 3 U,Long-acting Insulin (Basal): 12 U`. Other medication is only counted.
  private func readMedication(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let cell = row[header.glucose + Offset.medication].trimmed
    guard !cell.isEmpty else { return }
    guard cell.count <= Field.maxNameBytes else { return out.skip("medication") }
    for part in Self.parts(cell.text) {
      guard let dose = Self.dose(part) else {
        out.skip("medication")
        continue
      }
      out.add(.insulin, at: time, owner: model, line: row.line, dose)
    }
  }

  /// The items of a list, which commas separate. A comma within a number is its decimal mark.
  private static func parts(_ text: String) -> [String] {
    var parts = [""]
    for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
      let place = parts.count - 1
      if piece.first?.isNumber == true, parts[place].last?.isNumber == true {
        parts[place] += "," + String(piece)
      } else {
        parts.append(String(piece))
      }
    }
    return parts.map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
  }

  /// The fields of an item that states units of insulin; nil for other medication. If no known word states
  /// the use of the insulin, the insulin's name becomes the text.
  private static func dose(_ part: String) -> [String: FieldValue]? {
    guard let colon = part.lastIndex(of: ":") else { return nil }
    let name = part[..<colon]
    let amount = part[part.index(after: colon)...].split(whereSeparator: \.isWhitespace)
    guard amount.count == 2, insulinUnits.contains(amount[1].lowercased()),
      let units = Field.withText(String(amount[0]).replacing(",", with: "."), { $0.number() }), units > 0,
      PlausibleAmounts.units.contains(units)
    else { return nil }
    let words = HeaderWords(String(name)).words
    let uses = [("bol", "rapid"), ("basal", "long")]
    let use = uses.first { stem, _ in words.contains { $0.hasPrefix(stem) } }?.1
    if let subtype = use ?? InsulinName.subtype(String(name)) {
      return ["subtype": .text(subtype), "units": .number(units)]
    }
    return ["text": .text(String(name)), "units": .number(units)]
  }

  private static let insulinUnits: Set<String> = ["u", "e", "ie", "iu", "ui", "j", "j."]
}

extension ContourFormat {
  static let page = FormatPage(
    origin: [
      "in the Contour app on the phone: the readings, exported as CSV"
    ],
    variants: [
      "all columns of the app; if only the first ones are there, beside row numbers, glucose alone is read",
      "mg/dL or mmol/L in the name of the glucose column; decimal point and comma",
      "dates as the phone writes them; day or month first is decided by all dates, or by --date-order",
    ],
    languages: "every language, as the columns have one order; meal marks in English, Norwegian, Danish and "
      + "Polish",
    reads: [
      "finger sticks, before or after meals, fasting, of the meter or typed",
      "doses of insulin that the medication names, such as `Fast-acting Insulin (Bolus): 3 U`",
      "carbohydrates, activity, notes",
    ],
    notRead: [
      "other medication, which is counted",
      "meal marks in words of other languages, which are counted",
      "the place",
    ])
}
