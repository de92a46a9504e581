// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The table of Abbott's Lingo app: minutes with their offset, newest first, and one column of values.
///
/// Readings are identified by their instants, since shown times occur twice in autumn.
struct LingoFormat: ExportFormat {
  static let id = "lingo"
  static let title = "Lingo CSV"
  static let summary = "sensor readings"

  private let unit: GlucoseUnit
  private var hasHeader = false
  private let model: String

  /// The unit in a header; nil for any other row. The first name of a header must show the notation of the
  /// times.
  private static func unit(_ cells: [String]) -> GlucoseUnit? {
    let cells = cells.map(foldedHeader)
    guard cells.count == 2, cells[0].hasPrefix("time of glucose reading [t=(local time)"),
      cells[1].hasPrefix("measurement("), cells[1].last == ")"
    else { return nil }
    return GlucoseUnit(name: cells[1].dropFirst("measurement(".count).dropLast())
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<GlucoseUnit>>? {
    head.firstRow(unit)?.recognition
  }

  init(_ found: Recognition<HeaderRow<GlucoseUnit>>, head: InputHead, options: ExportOptions) {
    unit = found.header.meaning
    model = options.device ?? "Lingo"
  }

  var decisions: [Decision] { [.units([unit]), .yearFirst] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let first = row[0].bytes.first, first &- 0x30 <= 9 else { return readOther(row) }
    guard let shown = row[0].yearFirstTime, let offset = shown.utcOffset else {
      out.reject(row, "invalid time; expected YYYY-MM-DDThh:mm+hh:mm")
      return .data
    }
    switch GlucoseReader(unit: unit).read(row[1]) {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      out.add(
        Reading(
          device: out.device(Device(vendor: "Abbott", model: model, format: Self.id)), kind: .cbg,
          tick: shown.deviceTime.seconds - Int64(offset), at: shown.deviceTime,
          placement: out.placement(of: shown),
          measurement, line: row.line))
    }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    guard let unit = Self.unit(row.fields.prefix(4).map(\.text)) else {
      return .unknown("before the header, or not a row of Lingo")
    }
    // Rows below a header with another unit are not read.
    hasHeader = unit == self.unit
    guard hasHeader else {
      return .unknown("a header with another unit; import this part as a separate input")
    }
    return .header
  }
}

extension LingoFormat {
  static let page = FormatPage(
    origin: [
      "in the Lingo app: the glucose data, exported as CSV"
    ],
    variants: [
      "mg/dL or mmol/L in the name of the second column"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, each with the offset of its local time"
    ],
    notRead: [
      "everything else that the app shows: the file has times and values alone"
    ])
}
