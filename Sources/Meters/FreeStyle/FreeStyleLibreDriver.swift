// SPDX-License-Identifier: Apache-2.0

import Logbook

/// FreeStyle Libre readers with an unencrypted session: the first Libre and the Libre Pro.
///
/// Rows have a permanent record number, but LibreView states only serial number and shown time for the same
/// readings. The shown time is the identity, so that readings from a reader and from LibreView match. A value
/// at an end of the range stays a number with a mark, as in LibreView. The ends of the range, and all facts
/// about the Libre Pro, are known from only one published description.
struct FreeStyleLibreDriver: MeterDriver, FreeStyleFamily {
  static let id = "freestyle-libre"
  static let name = "Abbott FreeStyle Libre, Libre Pro"
  static let models = [
    MeterModel("FreeStyle Libre", vendorID: 0x1A61, productID: 0x3650, link: .hid),
    MeterModel("FreeStyle Libre Pro", vendorID: 0x1A61, productID: proID, link: .hid),
    MeterModel(
      "FreeStyle Libre 2", vendorID: 0x1A61, productID: 0x3950, link: .hid,
      obstacle: "its session is encrypted with keys that Abbott has not published; use an export of LibreView"
    ),
  ]

  private static let proID: UInt16 = 0x3670
  static let meter = FreeStyleMeter(
    driver: id, serialCommand: "$sn?",
    tables: [
      FreeStyleMeter.Table(
        command: "$history?", numberField: 0,
        plainFields: { $0.number(1) == 12 ? Set(0...12).union([14, 15]) : Set(0...7) },
        add: { addHistory($0, into: &$1) }),
      FreeStyleMeter.Table(
        command: "$arresult?", numberField: 0, plainFields: { LibreResultRow($0).plainFields },
        add: { LibreResultRow($0).add(into: &$1) }),
    ])

  static func textType(_ model: MeterModel) -> UInt8 {
    model.productID == proID ? FreeStyleReport.vendorText : FreeStyleReport.text
  }
}

extension FreeStyleLibreDriver {
  /// Adds a row of `$history?`, which is an automatic measurement of the sensor.
  private static func addHistory(_ row: FreeStyleRow, into memory: inout FreeStyleMemory) {
    guard row.count == 16, row.number(1) == 12 else {
      return memory.reject(row, "the row of sensor history has an unknown form")
    }
    guard row.number(15) == 0 else { return memory.skip("sensor reading with an error") }
    let value = row.number(13)
    memory.add(
      .cbg, .libreGlucose(value), row, timeIsValid: row.number(8) == 1, marks: .libreLimit(value, .cbg))
  }
}

extension Measurement {
  /// The glucose for a number of a Libre, which is in whole mg/dL whatever unit the reader shows.
  static func libreGlucose(_ number: Int?) -> Measurement? {
    number.flatMap { $0 > 0 ? .value(Quantity(Double($0), .milligramsPerDecilitre)) : nil }
  }
}

extension ReadingMarks {
  /// The mark of a value at the end of a sensor's range. Such a value means LO or HI. Strips have a wider
  /// range.
  static func libreLimit(_ number: Int?, _ kind: ReadingKind) -> ReadingMarks {
    guard let number else { return [] }
    return number >= 500 || (number <= 40 && kind != .smbg) ? .atLimit : []
  }
}

/// A row of `$arresult?` of the first Libre: a scan or a strip test, and the person's notes about it.
///
/// The layout of 35 fields, or of 44 with rapid-acting insulin, is known best. Real memories have rows of
/// other lengths; the known fields of these are read.
private struct LibreResultRow {
  /// The number of fields about rapid-acting insulin.
  private static let insulinCount = 9
  /// The last field that every row has: the value.
  private static let valueField = 12
  private static let errorField = 28

  private let row: FreeStyleRow
  /// The index of the first of the six texts that the person defined.
  private let texts: Int
  /// The index of the first field about rapid-acting insulin.
  private let insulin: Int

  /// Finds the positions of the texts and of the insulin in a row.
  init(_ row: FreeStyleRow) {
    self.row = row
    // Readers of the Libre 2 have three more numbers before the texts.
    let hasMoreNumbers = row.count == 38 || row.count == 47
    texts = hasMoreNumbers ? 32 : 29
    insulin = texts + 6
  }

  /// The indexes of the fields without personal data, which hold no value, dose, amount in grams or text.
  var plainFields: Set<Int> {
    switch row.number(1) {
    case 2 where [insulin, insulin + Self.insulinCount].contains(row.count):
      Set(0...Self.errorField).subtracting([12, 23, 26, 27])
        .union(insulin..<insulin + Self.insulinCount - 1)
    // The order of these fields is the same in every known layout of the row.
    case 2: Set(0...18).subtracting([12])
    case 5: Set(0...19)
    default: Set(0...7)
    }
  }

  /// Adds the contents of the row.
  func add(into memory: inout FreeStyleMemory) {
    switch row.number(1) {
    case 2: addResult(into: &memory)
    case 5: memory.skip("clock change")
    case let type?: memory.skip("record of type \(type)")
    case nil: memory.reject(row, "a row without a type")
    }
  }
}

extension LibreResultRow {
  private func addResult(into memory: inout FreeStyleMemory) {
    guard row.count > Self.valueField else { return memory.reject(row, "a row that ends before its value") }
    if (row.number(Self.errorField) ?? 0) == 0 {
      addReading(into: &memory)
    } else {
      memory.skip("reading with an error")
    }
    addInsulin(into: &memory)
    addFood(into: &memory)
    addNotes(into: &memory)
  }

  private func addReading(into memory: inout FreeStyleMemory) {
    let value = row.number(12)
    switch row.number(9) {
    case 0: add(.smbg, .libreGlucose(value), .libreLimit(value, .smbg), into: &memory)
    case 1:
      // The number 144 is 8.0 mmol/L, which means HI.
      add(.ketone, .stripKetone(row.text(12), value), (value ?? 0) >= 144 ? .atLimit : [], into: &memory)
    case 2: add(.scan, .libreGlucose(value), .libreLimit(value, .scan), into: &memory)
    default: memory.skip("reading of unknown kind")
    }
  }

  /// Adds a reading. In a row without an error, field 11 marks a value at the limit of the range. A single
  /// source states that this mark means LO.
  private func add(
    _ kind: ReadingKind, _ measurement: Measurement?, _ marks: ReadingMarks,
    into memory: inout FreeStyleMemory
  ) {
    memory.add(
      kind, measurement, row, timeIsValid: row.number(8) == 1, marks: isSet(11) ? .atLimit : marks)
  }

  /// Adds the insulin of a row. Doses are in half units; a flag without a dose means an unknown dose.
  private func addInsulin(into memory: inout FreeStyleMemory) {
    if row.count >= insulin + Self.insulinCount, row.number(insulin) == 7 {
      add("rapid", halves: row.number(insulin + Self.insulinCount - 1), timeIn: insulin + 1, into: &memory)
    } else if isSet(17) {
      add("rapid", halves: nil, timeIn: 2, into: &memory)
    }
    let halves = row.number(23)
    if (halves ?? 0) > 0 || isSet(18) { add("long", halves: halves, timeIn: 2, into: &memory) }
  }

  /// Adds a dose of insulin in half units. A missing dose or a dose of 0 means that the amount is unknown.
  private func add(_ subtype: String, halves: Int?, timeIn field: Int, into memory: inout FreeStyleMemory) {
    var fields: [String: FieldValue] = ["subtype": .text(subtype)]
    if let halves, halves > 0 { fields["units"] = .number(Double(halves) / 2) }
    memory.add(.insulin, row, timeIn: field, fields)
  }

  /// Adds the food of a row. On later models, the first of two flags means food without grams. Missing grams
  /// or 0 mean an unknown amount.
  private func addFood(into memory: inout FreeStyleMemory) {
    guard isSet(25) else {
      if isSet(24) { memory.add(.food, row, [:]) }
      return
    }
    if row.text(26).isEmpty || row.number(26) == 0 { return memory.add(.food, row, [:]) }
    guard let grams = row.number(26), grams > 0 else {
      return memory.reject(row, "the carbohydrates are not a number of grams")
    }
    memory.add(.food, row, ["carbs": .number(Double(grams))])
  }

  private func addNotes(into memory: inout FreeStyleMemory) {
    if isSet(15) { memory.add(.exercise, row, [:]) }
    if isSet(16) { memory.add(.note, row, ["tags": .words(["medication"])]) }
    // Every row contains the six texts that the person defined; bits mark the chosen ones. In rows of an
    // unknown length the position of the texts is unknown, so an unquoted number is not one of them.
    let chosen = row.number(19) ?? 0
    for index in 0..<6 where chosen & 1 << index != 0 {
      let text = row.text(texts + index)
      if !text.isEmpty, row.number(texts + index) == nil || row.isQuoted(texts + index) {
        memory.add(.note, row, ["text": .text(text)])
      }
    }
  }

  private func isSet(_ field: Int) -> Bool { (row.number(field) ?? 0) != 0 }
}
