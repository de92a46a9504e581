// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests that a cell of glucose has the same meaning in the table of every app.
@Suite struct ValueCellTests {
  /// A table of one row in mg/dL. `start` and `end` are the text before and after its value.
  struct Table: CustomTestStringConvertible, Sendable {
    let format: String
    let start: String
    let end: String

    var testDescription: String { format }

    /// The export of the table with this value, followed by the rows in `rest`.
    func export(_ value: String, before rest: String = "") throws -> TextExport {
      // One row of Diasend does not show whether a sensor measured it, so the kind is given.
      try TextExport(start + value + end + "\n" + rest) { $0.kind = format == "diasend" ? .smbg : nil }
    }
  }

  static let tables = [
    Table(
      format: "tandem",
      start: "Device Type,Serial Number,Description,Event Date Time,BG (mg/dL)\nP,1,BG,"
        + "2026-05-17T08:00:00,", end: ""),
    Table(
      format: "diasend", start: "Date,13/05/2026 to 20/05/2026\nTime,mg/dl\n17/05/2026 08:00,", end: ""),
    Table(
      format: "contour",
      start: "#,Date and Time,BGValue[mg/dL],Meal Marker,Data Source,Notes,Activity,"
        + "Meal[g],Medication,Location\n1,17.05.2026 08:00,", end: ",,,,,,,"),
    Table(
      format: "mylife",
      start: "Tag;Datum;Uhrzeit;Ereignis;Wert;Einheit;Information;Notiz\n"
        + "So.;17.05.26;08:00;Blutzucker;", end: ";mg/dL;;"),
    Table(
      format: "lingo",
      start: "Time of Glucose Reading [T=(local time) +/- (time zone offset)], "
        + "Measurement(mg/dL)\n2026-05-17T08:00+02:00,", end: ""),
    Table(
      format: "juggluco",
      start: "Sensorid\tnr\tUnixTime\tYYYY-mm-ddTHH:MM:SS\tTZ\tMin\tmg/dL\n"
        + "S\t1\t1778997600\t2026-05-17T08:00:00\t2\t1\t", end: ""),
    Table(
      format: "juggluco-ng",
      start: "Timestamp,Date,Value,Unit,SensorSerial\n1778997600000,2026-05-17 08:00:00,",
      end: ",mg/dL,S"),
    Table(format: "glucose-buddy", start: "BG,", end: ",mg/dL,,,05/17/2026 08:00:00,"),
    Table(
      format: "accu-chek-mobile",
      start: "Serial number;Download date;Download time\nU1;18.05.2026;17:04\n"
        + "Date;Time;Result;Unit;Control test\n17.05.2026;08:00;", end: ";mg/dl; "),
    Table(
      format: "accu-chek-360",
      start: "Date,Time,bG (mg/dL),Insulin1 (units),Insulin2 (units)\n"
        + "05/17/2026,08:00,", end: ",,"),
    Table(
      format: "diabetes-m",
      start: "DateTimeFormatted,glucose,us_units,is_sensor,timezone\n"
        + "2026-05-17 08:00:00,", end: ",true,false,Europe/Madrid"),
    Table(
      format: "smart-pix",
      start: #"<IMPORT><ACSPIX Type="1"/><DEVICE SN="1" BGUnit="mg/dL"/><BGDATA><BG Val=""#,
      end: #"" Dt="2026-05-17" Tm="08:00"/></BGDATA></IMPORT>"#),
  ]

  @Test(arguments: tables) func eachTableIsRecognisedAsItsFormat(_ table: Table) throws {
    let export = try table.export("104")
    #expect(export.decision("format") == "\(table.format) (inferred)")
    #expect(export.readings.map(\.deviceTime.text) == ["2026-05-17T08:00:00"])
    #expect(export.rejections.isEmpty && !export.isTruncated)
  }

  @Test(
    arguments: tables,
    [
      ("104", Logbook.Measurement.value(Quantity(104, .milligramsPerDecilitre))),
      ("104.5", .value(Quantity(104.5, .milligramsPerDecilitre))),
      ("0104", .value(Quantity(104, .milligramsPerDecilitre))),
      ("10", .value(Quantity(10, .milligramsPerDecilitre))),
      ("1000", .value(Quantity(1000, .milligramsPerDecilitre))),
      ("LO", .low(below: nil, .milligramsPerDecilitre)), ("low", .low(below: nil, .milligramsPerDecilitre)),
      ("HI", .high(above: nil, .milligramsPerDecilitre)),
      ("High", .high(above: nil, .milligramsPerDecilitre)),
    ])
  func aGlucoseValueOfACellIsStoredUnchanged(_ table: Table, _ cell: (String, Logbook.Measurement)) throws {
    let export = try table.export(cell.0)
    #expect(export.readings.map(\.measurement) == [cell.1])
    #expect(export.rejections.isEmpty)
  }

  /// A number with two possible meanings is rejected.
  @Test(
    arguments: tables,
    [
      "-104", "1e2", "1 04", "0x68", "9", "1001", "99999999999999999999999", "104mg", "١٠٤", "10.4.0", "+-5",
      ".5", "104.",
    ])
  func anInvalidGlucoseCellIsRejectedWithoutShowingIt(_ table: Table, _ cell: String) throws {
    let export = try table.export(cell)
    #expect(export.readings.isEmpty)
    #expect(export.rejections.count == 1)
    #expect(export.rejections.allSatisfy { !$0.reason.contains(cell) || cell == "9" })
  }

  @Test(arguments: tables, ["", " ", "---", "NaN", "null", "N/A"])
  func aCellThatMeansNoValueIsNotRejected(_ table: Table, _ cell: String) throws {
    let export = try table.export(cell)
    #expect(export.readings.isEmpty && export.rejections.isEmpty)
  }

  /// The identity must not depend on other rows, so that a later import with more rows finds the reading
  /// again.
  @Test(arguments: tables) func theIdentityOfAReadingDoesNotDependOnOtherRows(_ table: Table) throws {
    let plain = try table.export("104")
    let blanks = try table.export("104", before: table.format == "smart-pix" ? "" : "\n\r\n")
    #expect(plain.readings.count == 1 && plain.readingTexts == blanks.readingTexts)
    #expect(plain.readings.map(\.positionKind) == blanks.readings.map(\.positionKind))
    #expect(plain.devices == blanks.devices)
    let instants = ["lingo", "juggluco", "juggluco-ng"]
    #expect(plain.readings.allSatisfy { ($0.positionKind == .tick) == instants.contains(table.format) })
  }
}
