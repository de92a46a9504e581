// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

@Suite struct CareLinkTests {
  /// A table in the layout with sections. A test fills its rows by column name.
  private static let header =
    "Index,Date,Time,New Device Time,BG Reading (mg/dL),Linked BG Meter ID,Basal Rate (U/h),Bolus Type,"
    + "Bolus Volume Selected (U),Bolus Volume Delivered (U),Alarm,Suspend,Rewind,BWZ Estimate (U),"
    + "BWZ Carb Input (grams),BWZ BG Input (mg/dL),Sensor Calibration BG (mg/dL),Sensor Glucose (mg/dL),ISIG Value,"
    + "Event Marker"

  private func export(_ rows: [[String: String]], header: String = header) throws -> TextExport {
    let names = header.split(separator: ",").map(String.init)
    let lines = rows.enumerated().map { index, row in
      (["\(index).00000"] + names.dropFirst().map { row[$0] ?? "" }).joined(separator: ",")
    }
    return try TextExport(([header] + lines).joined(separator: "\n") + "\n")
  }

  private func row(_ time: String, _ column: String, _ value: String) -> [String: String] {
    ["Date": "2026/03/11", "Time": time, column: value]
  }

  @Test func aCareLinkFingerStickUsedAsCalibrationIsOneReading() throws {
    let export = try export([
      row("08:00:01", "Sensor Calibration BG (mg/dL)", "142.00"),
      row("08:00:01", "BG Reading (mg/dL)", "142.00"),
      row("09:00:01", "Sensor Calibration BG (mg/dL)", "131.00"),
      row("10:00:01", "Sensor Calibration BG (mg/dL)", "99.00"),
      row("10:00:02", "BG Reading (mg/dL)", "99.00"),
      row("08:05:00", "Sensor Glucose (mg/dL)", "140"),
    ])
    #expect(export.readings.map(\.marks) == [[], [], [], .calibration, .calibration])
    #expect(export.skipped == ["repeated finger stick": 1])
  }

  @Test func theSourceOfACareLinkFingerStickIsAMeter() throws {
    let header = Self.header.replacing(",BG Reading", with: ",BG Source,BG Reading")
    func found(_ source: String) throws -> TextExport {
      var row = row("08:00:01", "BG Reading (mg/dL)", "142")
      row["BG Source"] = source
      return try export([row, self.row("09:00:00", "BG Reading (mg/dL)", "99")], header: header)
    }
    for source in ["METER", "Meter", "EXTERNAL_METER", ""] {
      let export = try found(source)
      #expect(export.readings.map(\.kind) == [.smbg, .smbg] && export.rejections.isEmpty, "\(source)")
    }
    let sensor = try found("SENSOR")
    #expect(sensor.readings.count == 1 && sensor.rejections.isEmpty)
    #expect(sensor.skipped == ["filled in from the sensor": 1])
    for source in ["Algorithm", "sensor glucose", "-"] {
      let export = try found(source)
      #expect(export.readings.count == 1 && export.rejections.count == 1, "\(source)")
      #expect(export.rejections.first?.reason.contains("BG Source") == true)
    }
  }

  @Test func withoutASensorCareLinkCalibrationsAreFingerSticks() throws {
    let typed = row("09:00:01", "Sensor Calibration BG (mg/dL)", "131.00")
    let original = row("08:00:01", "BG Reading (mg/dL)", "142.00")
    let copy = row("08:00:01", "Sensor Calibration BG (mg/dL)", "142.00")
    let plain = try export([copy, original, typed])
    #expect(plain.readings.map(\.kind) == [.smbg, .smbg] && plain.readings.map(\.marks) == [[], []])
    #expect(plain.skipped == ["repeated finger stick": 1])
    // The finger stick is a calibration next to a sensor's value within a day, and not next to a more distant
    // one.
    func marks(_ date: String, _ time: String) throws -> ReadingMarks? {
      var sensor = row(time, "Sensor Glucose (mg/dL)", "140")
      sensor["Date"] = date
      return try export([typed, sensor]).readings.first { $0.kind == .smbg }?.marks
    }
    #expect(try marks("2026/03/10", "10:00:00") == .calibration)
    #expect(try marks("2026/03/12", "08:00:00") == .calibration)
    #expect(try marks("2026/03/09", "08:00:00") == [] && marks("2026/03/13", "10:00:00") == [])
  }

  /// The layout before 2017 repeats a calibration with the time of the sensor, truncated to the minute.
  @Test func theCareLinkSensorRowMarksAFingerStickAsCalibration() throws {
    func marks(_ rows: [(clock: String, type: String, column: String)]) throws -> [ReadingMarks] {
      let table = Self.header + ",Raw-Type"
      let names = table.split(separator: ",").map(String.init)
      let lines = rows.map { row in
        names.map { name in
          switch name {
          case "Index": "1"
          case "Date": "3/14/12"
          case "Time": row.clock
          case "Raw-Type": row.type
          case row.column: "131"
          default: ""
          }
        }.joined(separator: ",")
      }
      return try TextExport(([table] + lines).joined(separator: "\n") + "\n").readings.map(\.marks)
    }
    let calibration = "Sensor Calibration BG (mg/dL)"
    let typed = [("08:00:21", "CalBGForPH", calibration), ("09:30:21", "CalBGForPH", calibration)]
    #expect(try marks(typed + [("08:00:00", "SensorCalBG", calibration)]) == [.calibration, []])
    #expect(try marks(typed + [("08:00:21", "BGReceived", "BG Reading (mg/dL)")]) == [[], []])
    #expect(try marks(typed) == [[], []])
    let sensor = ("10:00:00", "GlucoseSensorData", "Sensor Glucose (mg/dL)")
    #expect(try marks(typed + [sensor]) == [[], .calibration, .calibration])
  }

  @Test func glucoseInTheCareLinkBolusCalculatorIsNotReadAsAReading() throws {
    let export = try export([row("08:00:01", "BWZ BG Input (mg/dL)", "142.00")])
    #expect(export.readings.isEmpty && export.skipped == ["row without a value": 1])
  }

  @Test func theSelectedAmountOfACareLinkBolusIsNotReadAsDelivered() throws {
    let export = try export([row("08:00:01", "Bolus Volume Selected (U)", "4.50")])
    #expect(export.records.isEmpty)
  }

  @Test func rowsOfACareLinkSectionBelongToItsDevice() throws {
    let lines = [
      "-------,Pump A,Pump,0001,------- ", Self.header,
      "0.00000,2026/03/11,08:00:00,,112" + String(repeating: ",", count: 15),
      "", "-------,Pump B,Pump,0002,------- ", Self.header,
      "1.00000,2026/03/11,08:00:00,,112" + String(repeating: ",", count: 15),
    ]
    let export = try TextExport(lines.joined(separator: "\n") + "\n")
    #expect(export.devices.map(\.serial) == ["0001", "0002"] && export.rejections.isEmpty)
  }

  @Test func aHeaderInTheMiddleOfACareLinkTableChangesTheColumns() throws {
    let other = Self.header.replacing("New Device Time,", with: "").replacing("mg/dL", with: "mmol/L")
    let lines = [
      Self.header, "0.00000,2026/03/11,08:00:00,,112" + String(repeating: ",", count: 15), other + ",More",
      "1.00000,2026/03/11,09:00:00,6.2" + String(repeating: ",", count: 16),
    ]
    let export = try TextExport(lines.joined(separator: "\n") + "\n")
    #expect(
      export.readings.compactMap(\.measurement.quantity) == [
        Quantity(112, .milligramsPerDecilitre), Quantity(6.2, .millimolesPerLitre),
      ])
    #expect(export.decision("unit") == "mg/dL, mmol/L (read)")
  }

  @Test func theDateRangeOfACareLinkReportShowsTheOrderOfDayAndMonth() throws {
    let sample = try String(decoding: TextExport.sample("carelink/before-2017-mmol-dmy.csv"), as: UTF8.self)
    let export = try TextExport(sample)
    #expect(export.decision("date-order") == "day first (inferred)")
    let short =
      sample.split(separator: "\r\n").filter { !$0.contains("14-3-12") }.joined(separator: "\r\n") + "\r\n"
    #expect(try ScratchFile(short).refusal()?.contains("--date-order") == true)
    // The range of the report has a day over 12.
    #expect(
      try TextExport(short.replacing("5-4-12", with: "25-4-12")).decision("date-order")
        == "day first (inferred)")
  }

  @Test func aTextWithCareLinkWordsButNoTableIsNotRecognised() throws {
    for text in [
      "Index,Date,Time,Glucose (mg/dL)\n1,2026/03/11,08:00:00,112\n",
      "Last Name,First Name,Patient ID\nA,B,C\n",
    ] {
      let head = try InputHead(text: Array(text.utf8), isWhole: true)
      let options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
      #expect(CareLinkFormat.recognise(head, options: options) == nil)
    }
  }

  @Test func namesAboveACareLinkTableAreNeitherStoredNorReported() throws {
    let export = try TextExport(bytes: TextExport.sample("carelink/sections-mgdl.csv"))
    let text = "\(export.rejections) \(export.warnings) \(export.devices) \(export.recordTexts)"
    #expect(!text.contains("Kim") && export.rejections.map(\.line) == [26])
  }
}
