// SPDX-License-Identifier: Apache-2.0

import Logbook

/// FreeStyle Libre readers with an unencrypted session: the first Libre and the Libre Pro.
///
/// Rows have a permanent record number, but LibreView states only serial number and shown time for the same readings.
/// The shown time is the identity, so that readings of both sources match. A value at the end of the range stays a
/// number with a mark, as in LibreView. A single source states these ends, and everything about the Libre Pro.
struct FreeStyleLibreDriver: MeterDriver, FreeStyleFamily {
  static let id = "freestyle-libre"
  static let name = "Abbott FreeStyle Libre"
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
        take: { takeHistory($0, into: &$1) }),
      FreeStyleMeter.Table(
        command: "$arresult?", numberField: 0, plainFields: { LibreResultRow($0).plainFields },
        take: { LibreResultRow($0).take(into: &$1) }),
    ])

  static func textType(_ model: MeterModel) -> UInt8 {
    model.productID == proID ? FreeStyleReport.vendorText : FreeStyleReport.text
  }
}

extension FreeStyleLibreDriver {
  /// A row of `$history?`: an automatic measurement of the sensor.
  private static func takeHistory(_ row: FreeStyleRow, into memory: inout FreeStyleMemory) {
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
  /// A value of a Libre, in whole mg/dL whatever unit it shows.
  static func libreGlucose(_ number: Int?) -> Measurement? {
    number.flatMap { $0 > 0 ? .value(Quantity(Double($0), .milligramsPerDecilitre)) : nil }
  }
}

extension ReadingMarks {
  /// The mark of a value at the end of a sensor's range, which means LO or HI. Strips have a wider range.
  static func libreLimit(_ number: Int?, _ kind: ReadingKind) -> ReadingMarks {
    guard let number else { return [] }
    return number >= 500 || (number <= 40 && kind != .smbg) ? .atLimit : []
  }
}
