// SPDX-License-Identifier: Apache-2.0

import Logbook

/// FreeStyle InsuLinx: rows of `$result?`, with values always in mg/dL.
///
/// The protocol is known from one recorded session with a meter whose rows are strip tests, weekly trends and
/// clock changes. How the meter writes LO, HI, control solution, insulin and food is unknown. The fields of
/// ketone and temperature follow the order of columns in the manufacturer's export.
struct FreeStyleInsuLinxDriver: MeterDriver, FreeStyleFamily {
  static let id = "freestyle-insulinx"
  static let name = "Abbott FreeStyle InsuLinx"
  static let models = [
    MeterModel("FreeStyle InsuLinx", vendorID: 0x1A61, productID: 0x3460, link: .hid),
    MeterModel("FreeStyle InsuLinx", vendorID: 0x1A61, productID: 0x3450, link: .hid),
  ]

  static let meter = FreeStyleMeter.strips(driver: id, plainFields: plainFields, add: add)
}

extension FreeStyleInsuLinxDriver {
  /// The indexes of the fields without personal data, by the type of the row. A test (type 0) has more such
  /// fields after the time. A change of the clock (type 6) has only times.
  private static func plainFields(_ row: FreeStyleRow) -> Set<Int> {
    switch row.number(0) {
    case 0: Set(0...11)
    case 6: Set(0...12)
    default: Set(0...6)
    }
  }

  private static func add(_ row: FreeStyleRow, into memory: inout FreeStyleMemory) {
    switch row.number(0) {
    case 0: addTest(row, into: &memory)
    case 4: memory.skip("weekly trend")
    case 6: memory.skip("clock change")
    case let type?: memory.skip("record of type \(type)")
    case nil: memory.reject(row, "a row without a type")
    }
  }

  private static func addTest(_ row: FreeStyleRow, into memory: inout FreeStyleMemory) {
    let timeIsValid = row.number(7) == 1
    let marks: ReadingMarks = (row.number(8) ?? 0) == 0 ? [] : .temperatureWarning
    if row.number(13) == 0, let ketone = row.number(12), ketone > 0 {
      return memory.add(
        .ketone, .stripKetone(row.text(12), ketone), row, timeIsValid: timeIsValid, marks: marks)
    }
    memory.add(
      .smbg, .stripGlucose(row.text(13), row.number(13)), row, timeIsValid: timeIsValid, marks: marks)
  }
}
