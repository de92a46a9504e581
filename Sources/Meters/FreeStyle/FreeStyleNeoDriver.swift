// SPDX-License-Identifier: Apache-2.0

import Logbook

/// FreeStyle Precision Neo, Optium Neo: rows of `$result?`, with strip values always in mg/dL.
///
/// The requests and the layout of strip tests are known from a recorded session. A single source states the
/// mark of control solution and the content of insulin rows. LibreView has no record numbers, so the shown
/// time is the identity.
struct FreeStyleNeoDriver: MeterDriver, FreeStyleFamily {
  static let id = "freestyle-neo"
  static let name = "Abbott FreeStyle Precision Neo, Optium Neo"
  static let models = [
    MeterModel("FreeStyle Optium-Precision Neo", vendorID: 0x1A61, productID: 0x3850, link: .hid)
  ]

  static let meter = FreeStyleMeter.strips(driver: id, plainFields: plainFields, add: add)
}

extension FreeStyleNeoDriver {
  /// The kinds of insulin for the choices that the meter offers: morning long, breakfast, lunch, evening
  /// long, dinner.
  private static let insulins = ["long", "rapid", "rapid", "long", "rapid"]

  /// The indexes of the fields without personal data, by the type of the row. After the time, they include
  /// the mark of control solution and the kind of insulin. A change of the clock has only times.
  private static func plainFields(_ row: FreeStyleRow) -> Set<Int> {
    switch row.number(0) {
    case 6: Set(0...12)
    case 7, 9: Set(0...6).union([9, 10])
    case 10: Set(0...6).union([8])
    default: Set(0...6)
    }
  }

  private static func add(_ row: FreeStyleRow, into memory: inout FreeStyleMemory) {
    switch row.number(0) {
    case 7:
      memory.add(.smbg, .stripGlucose(row.text(8), row.number(8)), row, marks: control(row, 10))
    case 9:
      memory.add(.ketone, .stripKetone(row.text(8), row.number(8)), row, marks: control(row, 9))
    case 10: addInsulin(row, into: &memory)
    case 6: memory.skip("clock change")
    case let type?: memory.skip("record of type \(type)")
    case nil: memory.reject(row, "a row without a type")
    }
  }

  private static func control(_ row: FreeStyleRow, _ field: Int) -> ReadingMarks {
    row.number(field) == 0 ? .controlSolution : []
  }

  private static func addInsulin(_ row: FreeStyleRow, into memory: inout FreeStyleMemory) {
    guard let units = row.number(9), (0...500).contains(units) else {
      return memory.reject(row, "the insulin dose is not a number of units")
    }
    memory.warn("one source alone says that this meter keeps insulin in whole units; compare with its screen")
    var fields: [String: FieldValue] = [:]
    // A recorded meter answers 255 for a dose that is not set.
    if ![0, 255].contains(units) { fields["units"] = .number(Double(units)) }
    if let kind = row.number(8), insulins.indices.contains(kind) { fields["subtype"] = .text(insulins[kind]) }
    memory.add(.insulin, row, fields)
  }
}
