// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The header of a table of Sibionics: the app's, in any language, or a hospital's.
struct SibionicsTable {
  /// Where the time and the value are.
  let time: Int
  let value: Int
  let unit: GlucoseUnit
  /// The sensor, which only the header of a hospital names.
  let serial: String
  /// Whether each time ends with its offset.
  let hasOffsets: Bool
  /// Whether the header is in a language with Latin letters other than English. All of these put the day first.
  let languagePutsDayFirst: Bool

  private static let hospitalValue = "血糖值("
  private static let hospitalTime = "采集时间"
  private static let hospitalDevice = "设备名称"
  /// The first letter after those of Latin alphabets, in Unicode.
  private static let firstAfterLatin: UInt32 = 0x250
  /// Header cells that only the app writes, whatever is below them.
  private static let ownNames = ["devicemodel", "sensor reading(mg/dl)", "sensor reading(mmol/l)"]

  /// The table of a hospital. Its header has the institution, the person and the sensor, each after a colon.
  init?(hospital cells: [String]) {
    guard cells.count >= 2, cells[0].hasPrefix(Self.hospitalValue), cells[1] == Self.hospitalTime,
      let unit = Self.unit(cells[0])
    else { return nil }
    (time, value, self.unit, hasOffsets, languagePutsDayFirst) = (1, 0, unit, false, false)
    serial = cells.compactMap(Self.sensor).first ?? ""
  }

  private static func sensor(_ cell: String) -> String? {
    guard cell.hasPrefix(hospitalDevice) else { return nil }
    let name = cell.dropFirst(hospitalDevice.count)
    guard name.first == "：" || name.first == ":" else { return nil }
    return name.dropFirst().trimmingPrefix { $0.isWhitespace }.description
  }

  /// The table of the app. It has two or three columns, its last name ends with a unit, and the times below end with
  /// their offset.
  ///
  /// - Parameter rows: the rows below the header.
  init?(app cells: [String], rows: ArraySlice<[String]>) {
    guard (2...3).contains(cells.count), let last = cells.last, let unit = Self.unit(last),
      foldedHeader(last).first != "("
    else { return nil }
    let folded = cells.map(foldedHeader)
    if cells.count == 3, folded[0] != "devicemodel" { return nil }
    let time = cells.count - 2
    let times = rows.filter { $0.count > time && !$0[time].isEmpty }
    let first = times.first.map { cells in Field.with(cells[time]) { OffsetTime($0) != nil } }
    guard first ?? Self.ownNames.contains(where: folded.contains) else { return nil }
    (self.time, value, self.unit, serial, hasOffsets) = (time, cells.count - 1, unit, "", true)
    let name = foldedHeader(last)
    languagePutsDayFirst =
      !name.hasPrefix("sensor reading") && name.unicodeScalars.allSatisfy { $0.value < Self.firstAfterLatin }
  }

  /// `…(mg/dL)` or `…(mmol/L)`.
  private static func unit(_ cell: String) -> GlucoseUnit? {
    guard cell.last == ")", let open = cell.lastIndex(of: "(") else { return nil }
    return GlucoseUnit(name: cell[cell.index(after: open)...].dropLast())
  }
}
