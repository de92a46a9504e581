// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A row of `$arresult?` of the first Libre: a scan or a strip test, and what the person noted with it.
struct LibreResultRow {
  /// The fields of a row without rapid-acting insulin; its tail has nine more.
  private static let baseCount = 35
  private static let tailCount = 9

  private let row: FreeStyleRow

  /// The row as it came.
  init(_ row: FreeStyleRow) { self.row = row }

  /// All but value, doses, grams and texts; what is not known of a row is none of these.
  var plainFields: Set<Int> {
    switch row.number(1) {
    case 2 where row.count == Self.baseCount || row.count == Self.baseCount + Self.tailCount:
      Set(0...42).subtracting([12, 23, 26, 27]).subtracting(29...34)
    case 5: Set(0...19)
    default: Set(0...7)
    }
  }

  /// Adds what the row says.
  func take(into memory: inout FreeStyleMemory) {
    switch row.number(1) {
    case 2: takeResult(into: &memory)
    case 5: memory.skip("clock change")
    case let type?: memory.skip("record of type \(type)")
    case nil: memory.reject(row, "a row without a type")
    }
  }
}

extension LibreResultRow {
  private func takeResult(into memory: inout FreeStyleMemory) {
    guard row.count == Self.baseCount || row.count == Self.baseCount + Self.tailCount else {
      return memory.reject(row, "a row of another form")
    }
    if row.number(28) == 0 {
      takeReading(into: &memory)
    } else {
      memory.skip("reading with an error")
    }
    takeInsulin(into: &memory)
    takeFood(into: &memory)
    takeNotes(into: &memory)
  }

  private func takeReading(into memory: inout FreeStyleMemory) {
    let value = row.number(12)
    switch row.number(9) {
    case 0: add(.smbg, .libreGlucose(value), .libreLimit(value, .smbg), into: &memory)
    case 1:
      // 8.0 mmol/L stands for HI.
      add(.ketone, .stripKetone(row.text(12), value), (value ?? 0) >= 144 ? .atLimit : [], into: &memory)
    case 2: add(.scan, .libreGlucose(value), .libreLimit(value, .scan), into: &memory)
    default: memory.skip("reading of unknown kind")
    }
  }

  /// A flag without an error says LO, which a single source tells.
  private func add(
    _ kind: ReadingKind, _ measurement: Measurement?, _ marks: ReadingMarks,
    into memory: inout FreeStyleMemory
  ) {
    memory.add(
      kind, measurement, row, timeIsValid: row.number(8) == 1, marks: isSet(11) ? .atLimit : marks)
  }

  /// Doses are in half units. A flag without a dose says that some was taken.
  private func takeInsulin(into memory: inout FreeStyleMemory) {
    if row.count > Self.baseCount, let halves = row.number(43), halves >= 0 {
      add("rapid", halves: halves, timeIn: 36, into: &memory)
    } else if isSet(17) {
      memory.add(.insulin, row, ["subtype": .text("rapid")])
    }
    if let halves = row.number(23), halves > 0 {
      add("long", halves: halves, timeIn: 2, into: &memory)
    } else if isSet(18) {
      memory.add(.insulin, row, ["subtype": .text("long")])
    }
  }

  private func add(_ subtype: String, halves: Int, timeIn field: Int, into memory: inout FreeStyleMemory) {
    memory.add(
      .insulin, row, timeIn: field, ["subtype": .text(subtype), "units": .number(Double(halves) / 2)])
  }

  private func takeFood(into memory: inout FreeStyleMemory) {
    guard isSet(25) else { return }
    guard let grams = row.number(26), grams >= 0 else {
      return memory.reject(row, "carbohydrates that are no number of grams")
    }
    memory.add(.food, row, ["carbs": .number(Double(grams))])
  }

  private func takeNotes(into memory: inout FreeStyleMemory) {
    if isSet(15) { memory.add(.exercise, row, [:]) }
    if isSet(16) { memory.add(.note, row, ["tags": .words(["medication"])]) }
    // The six texts that the person defined stand in every row; the bits say which of them were chosen.
    let chosen = row.number(19) ?? 0
    for index in 0..<6 where chosen & 1 << index != 0 && !row.text(29 + index).isEmpty {
      memory.add(.note, row, ["text": .text(row.text(29 + index))])
    }
  }

  private func isSet(_ field: Int) -> Bool { (row.number(field) ?? 0) != 0 }
}
