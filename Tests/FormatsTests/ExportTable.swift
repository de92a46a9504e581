// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

/// A table in the layout of one of the small export formats. A test chooses its rows, unit and order of
/// columns.
struct ExportTable: CustomTestStringConvertible, Sendable {
  /// A date and a time of day, which may be invalid.
  struct Moment: Sendable {
    let year, month, day, hour, minute: Int

    init(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 8, _ minute: Int = 0) {
      (self.year, self.month, self.day, self.hour, self.minute) = (year, month, day, hour, minute)
    }
  }

  let format: String
  let delimiter: String
  /// The lines above the header.
  let preamble: String
  /// The names of the columns, with `{unit}` for the unit of glucose.
  let header: [String]
  /// The cells of a row. Placeholders such as `{YYYY}` are replaced by parts of the time, and `{value}`,
  /// `{unit}` and `{isMilligrams}` by the value and its unit.
  let cells: [String]
  /// Whether each row states a UTC offset. It is the offset of summer time.
  var statesOffset = false

  var testDescription: String { format }

  /// The number of lines above the first row, including the header.
  var linesAbove: Int64 { Int64(preamble.filter { $0 == "\n" }.count) + 1 }

  /// The lines up to and including the header, with the columns in the given order.
  func head(_ unit: GlucoseUnit = .milligramsPerDecilitre, order: [Int]? = nil) -> String {
    preamble + line(header.map { $0.replacing("{unit}", with: unit.name) }, order)
  }

  func row(
    _ moment: Moment, _ value: String, _ unit: GlucoseUnit = .milligramsPerDecilitre, order: [Int]? = nil
  ) -> String {
    func digits(_ number: Int, _ count: Int = 2) -> String {
      String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
    }
    let parts = [
      "{YYYY}": digits(moment.year, 4), "{YY}": digits(moment.year % 100), "{MM}": digits(moment.month),
      "{DD}": digits(moment.day), "{hh}": digits(moment.hour), "{mm}": digits(moment.minute),
      "{value}": value, "{unit}": unit.name, "{isMilligrams}": "\(unit == .milligramsPerDecilitre)",
    ]
    return line(
      cells.map { cell in parts.reduce(cell) { $0.replacing($1.key, with: $1.value) } }, order)
  }

  private func line(_ cells: [String], _ order: [Int]?) -> String {
    let ordered = order.map { $0.map { cells[$0] } } ?? cells
    let quoted = ordered.map { $0.contains(delimiter) ? "\"\($0)\"" : $0 }
    return quoted.joined(separator: delimiter) + "\n"
  }

  /// The same table with an additional column at this position, for example one that names a person.
  func adding(_ name: String, _ cell: String, at place: Int) -> ExportTable {
    var (header, cells) = (header, cells)
    header.insert(name, at: place)
    cells.insert(cell, at: place)
    return ExportTable(
      format: format, delimiter: delimiter, preamble: preamble, header: header, cells: cells,
      statesOffset: statesOffset)
  }

  static let all = [
    ExportTable(
      format: "tandem", delimiter: ",", preamble: "",
      header: ["Device Type", "Serial Number", "Description", "Event Date Time", "BG ({unit})"],
      cells: ["Pump", "1", "BG", "{YYYY}-{MM}-{DD}T{hh}:{mm}:00", "{value}"]),
    ExportTable(
      format: "diasend", delimiter: ",", preamble: "Date,13/05/2026 to 20/05/2026\n",
      header: ["Time", "{unit}"], cells: ["{DD}/{MM}/{YYYY} {hh}:{mm}", "{value}"]),
    ExportTable(
      format: "contour", delimiter: ",", preamble: "",
      header: [
        "#", "Date and Time", "BGValue[{unit}]", "Meal Marker", "Data Source", "Notes", "Activity", "Meal[g]",
        "Medication", "Location",
      ], cells: ["1", "{DD}.{MM}.{YYYY} {hh}:{mm}", "{value}", "", "", "", "", "", "", ""]),
    ExportTable(
      format: "mylife", delimiter: ";", preamble: "",
      header: ["Tag", "Datum", "Uhrzeit", "Ereignis", "Wert", "Einheit", "Information", "Notiz"],
      cells: ["So.", "{DD}.{MM}.{YY}", "{hh}:{mm}", "Blutzucker", "{value}", "{unit}", "", ""]),
    ExportTable(
      format: "lingo", delimiter: ",", preamble: "",
      header: [
        "Time of Glucose Reading [T=(local time) +/- (time zone offset)]", " Measurement({unit})",
      ], cells: ["{YYYY}-{MM}-{DD}T{hh}:{mm}+02:00", "{value}"], statesOffset: true),
    ExportTable(
      format: "glucose-buddy", delimiter: ",", preamble: "",
      header: ["Type", "Value", "Unit", "Name", "Event", "Date Time", "Notes"],
      cells: ["BG", "{value}", "{unit}", "", "", "{MM}/{DD}/{YYYY} {hh}:{mm}:00", ""]),
    ExportTable(
      format: "accu-chek-mobile", delimiter: ";",
      preamble: "Serial number;Download date;Download time\nU1;18.05.2026;17:04\n",
      header: ["Date", "Time", "Result", "Unit", "Control test"],
      cells: ["{DD}.{MM}.{YYYY}", "{hh}:{mm}", "{value}", "{unit}", " "]),
    ExportTable(
      format: "accu-chek-360", delimiter: ",", preamble: "",
      header: ["Date", "Time", "bG ({unit})", "Insulin1 (units)", "Insulin2 (units)"],
      cells: ["{MM}/{DD}/{YYYY}", "{hh}:{mm}", "{value}", "", ""]),
    ExportTable(
      format: "diabetes-m", delimiter: ",", preamble: "",
      header: ["DateTimeFormatted", "glucose", "us_units", "is_sensor", "timezone"],
      cells: ["{YYYY}-{MM}-{DD} {hh}:{mm}:00", "{value}", "{isMilligrams}", "false", ""]),
  ]
}
