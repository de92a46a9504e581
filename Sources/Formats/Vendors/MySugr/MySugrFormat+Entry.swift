// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The content of one row: up to two readings and six records with the same time.
extension MySugrFormat {
  private static let device = Device(vendor: "mySugr", model: "mySugr", format: id)
  private static let maxUnits = PlausibleAmounts.units.upperBound
  private static let maxGrams = PlausibleAmounts.grams.upperBound
  private static let maxMinutes = PlausibleAmounts.minutes.upperBound

  /// Columns without a kind in glucoport. Filled cells are counted under these names.
  private static let skipped = [
    (18, "location"), (19, "blood pressure"), (20, "body weight"), (21, "HbA1c"), (23, "food type"),
    (24, "medication"),
  ]

  mutating func readEntry(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    if isEmpty(row, from: Column.tags) { return out.skip("entry without content") }
    readReadings(row, at: shown, into: &out)
    readRapid(row, at: shown, into: &out)
    readLong(row, at: shown, into: &out)
    readTemporaryBasal(row, at: shown, into: &out)
    readFood(row, at: shown, into: &out)
    readExercise(row, at: shown, into: &out)
    readNote(row, at: shown, into: &out)
    for (column, name) in Self.skipped where !row[column].trimmed.isEmpty { out.skip(name) }
    if !isEmpty(row, from: MySugrHeader.columnCount) { out.skip("value in a column that is not read") }
  }

  /// Whether every cell from `column` on is empty, apart from the name of the row's time zone.
  private func isEmpty(_ row: Row, from column: Int) -> Bool {
    (column..<row.count).allSatisfy { $0 == header.zone || row[$0].isEmpty }
  }

  /// Adds up to two readings. The file does not distinguish values of a linked meter from typed values.
  private mutating func readReadings(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    let device = out.device(Self.device)
    let glucose = row[Column.glucose].trimmed
    let cell = GlucoseReader(unit: header.unit, mark: mark(seeing: glucose)).read(glucose)
    out.add(.smbg, cell, device: device, at: shown, marks: .manual, row: row)
    let ketone = row[Column.ketones].trimmed
    let ketoneCell = GlucoseReader.ketone(ketone, mark: mark(seeing: ketone))
    out.add(.ketone, ketoneCell, device: device, at: shown, marks: .manual, row: row)
  }

  /// Adds the rapid-acting insulin of a row. The doses for meal and correction are parts of the dose by pen
  /// or pump. So they count only if the row states neither a pen dose nor a pump dose.
  private mutating func readRapid(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    let cells = [Column.pen, Column.pump, Column.meal, Column.correction].map { row[$0].trimmed }
    guard cells.contains(where: { !$0.isEmpty }) else { return }
    let amounts = cells.compactMap { $0.isEmpty ? 0 : number($0) }
    guard amounts.count == cells.count else {
      return out.reject(row, "the insulin dose is not a number of units")
    }
    let (pen, pump) = (amounts[0], amounts[1])
    if pen != 0, pump != 0 { out.skip("pump dose beside a pen dose") }
    let total = pen != 0 ? pen : pump != 0 ? pump : Self.rounded(amounts[2] + amounts[3])
    addDose(total, "rapid", row, at: shown, into: &out)
  }

  private mutating func readLong(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    let cell = row[Column.basal].trimmed
    guard !cell.isEmpty else { return }
    guard let units = number(cell) else { return out.reject(row, "the basal dose is not a number of units") }
    addDose(units, "long", row, at: shown, into: &out)
  }

  private func addDose(
    _ units: Double, _ subtype: String, _ row: Row, at shown: ShownTime, into out: inout BatchBuilder
  ) {
    guard (0...Self.maxUnits).contains(units) else {
      return out.reject(row, "the insulin dose is outside 0–\(plainNumber(Self.maxUnits)) units")
    }
    if units == 0 { return out.skip("dose of 0 units") }
    add(.insulin, ["subtype": .text(subtype), "units": .number(units)], row, at: shown, into: &out)
  }

  /// Adds a temporary basal rate, without units: it is a percentage of a rate that the file does not contain.
  /// The app writes the number with or without a percent sign.
  private mutating func readTemporaryBasal(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    let (percent, duration) = (row[Column.basalPercent].trimmed, row[Column.basalMinutes].trimmed)
    if percent.isEmpty, duration.isEmpty { return }
    var fields: [String: FieldValue] = ["subtype": .text("basal")]
    if !percent.isEmpty {
      let isSigned = percent[percent.count - 1] == UInt8(ascii: "%")
      let digits = isSigned ? percent.slice(0, percent.count - 1).trimmed : percent
      // A spreadsheet stores 70 % as 0.7, and durations as times.
      let isShare = !isSigned && duration.timeOfDay != nil
      guard let number = number(digits).map({ isShare ? ($0 * 1000).rounded() / 10 : $0 }),
        (0...1000).contains(number)
      else { return out.reject(row, "the temporary basal rate is not a percentage from 0 to 1000") }
      fields["text"] = .text("\(plainNumber(number)) %")
    }
    if !duration.isEmpty {
      guard let minutes = minutes(duration), (0...Self.maxMinutes).contains(minutes) else {
        return out.reject(row, "the duration of the temporary basal rate is not a number of minutes")
      }
      fields["minutes"] = .number(minutes)
    }
    add(.insulin, fields, row, at: shown, into: &out)
  }

  /// The minutes in a cell: a number, or a duration such as `1:30:00` in the app's spreadsheet.
  private mutating func minutes(_ cell: Field) -> Double? {
    if let time = cell.timeOfDay, !time.hasHalfDay {
      return Double(time.hour * 60 + time.minute) + Double(time.second) / 60
    }
    return number(cell)
  }

  private mutating func readFood(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    let cell = row[Column.carbs].trimmed
    if !cell.isEmpty {
      guard let amount = number(cell), (0...Self.maxGrams).contains(amount) else {
        return out.reject(row, "the carbohydrates are not a number")
      }
      switch header.carbs {
      case .grams: fields["carbs"] = .number(amount)
      case .exchanges(let grams): fields["carbs"] = .number(Self.rounded(amount * grams))
      case .servings: fields["servings"] = .number(amount)
      }
    }
    addText(row[Column.mealText], to: &fields)
    if !fields.isEmpty { add(.food, fields, row, at: shown, into: &out) }
  }

  private mutating func readExercise(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    for (name, column, limit) in [
      ("minutes", Column.minutes, Self.maxMinutes),
      ("steps", Column.steps, PlausibleAmounts.steps.upperBound),
    ] {
      let cell = row[column].trimmed
      if cell.isEmpty { continue }
      guard let number = column == Column.minutes ? minutes(cell) : number(cell), (0...limit).contains(number)
      else {
        return out.reject(row, "the \(name) of exercise are not a number, or too large")
      }
      fields[name] = .number(number)
    }
    let intensity = row[Column.intensity].trimmed
    if !intensity.isEmpty { fields["intensity"] = .text(Self.intensity(intensity)) }
    addText(row[Column.exerciseText], to: &fields)
    if !fields.isEmpty { add(.exercise, fields, row, at: shown, into: &out) }
  }

  /// Adds a note with its tags. Tags are stored as a set, since their order changes between exports.
  private func readNote(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    addText(row[Column.note], to: &fields)
    let tags = row[Column.tags].text.split(separator: ",").map(Self.trimmed).filter { !$0.isEmpty }
    if !tags.isEmpty { fields["tags"] = .words(tags) }
    if !fields.isEmpty { add(.note, fields, row, at: shown, into: &out) }
  }

  /// Adds a record that is identified by its shown time, since only newer apps state the zones of rows.
  private func add(
    _ kind: RecordKind, _ fields: [String: FieldValue], _ row: Row, at shown: ShownTime,
    into out: inout BatchBuilder
  ) {
    out.add(kind, at: shown, owner: "", isIdentifiedByShownTime: true, line: row.line, fields)
  }

  private func addText(_ cell: Field, to fields: inout [String: FieldValue]) {
    let text = cell.trimmed
    if !text.isEmpty { fields["text"] = .text(text.text) }
  }

  /// The intensity of exercise. The app writes 1 to 3, and the header explains them in the app's language.
  private static func intensity(_ cell: Field) -> String {
    switch cell.integer {
    case 1: "light"
    case 2: "medium"
    case 3: "heavy"
    default: cell.text
    }
  }

  /// Rounds a sum or product of decimal numbers, to remove the error of binary numbers.
  private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

  private static func trimmed(_ word: Substring) -> String {
    guard let from = word.firstIndex(where: { !$0.isWhitespace }),
      let last = word.lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(word[from...last])
  }
}
