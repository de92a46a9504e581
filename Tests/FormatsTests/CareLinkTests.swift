// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

@Suite struct CareLinkTests {
  /// The header of a table in the layout with sections. The tests fill rows by column name.
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

  /// The arguments are the words that a MiniMed 780G and the 600 series of pumps write as the source.
  @Test(
    arguments: [
      ("ENTERED_IN_BG_ENTRY", []), ("BG_READING_RECEIVED", []), ("USER_ACCEPTED_REMOTE_BG", []),
      ("ENTERED_IN_BOLUS_WIZRD", .calculator), ("ENTERED_IN_SENSOR_CALIB", .calibration),
      ("BG_SENT_FOR_CALIB", .calibration),
    ] as [(String, ReadingMarks)])
  func theSourceOfACareLinkFingerStickDeterminesItsMarks(_ source: String, _ marks: ReadingMarks) throws {
    var row = row("08:00:01", "BG Reading (mg/dL)", "142")
    row["BG Source"] = source
    let header = Self.header.replacing(",BG Reading", with: ",BG Source,BG Reading")
    let export = try export([row], header: header)
    #expect(export.readings.map(\.kind) == [.smbg] && export.readings.map(\.marks) == [marks])
    #expect(export.rejections.isEmpty)
  }

  @Test func aFingerStickThatACareLinkPumpSendsToTheSensorIsOneReading() throws {
    let header = Self.header.replacing(",BG Reading", with: ",BG Source,BG Reading")
    func count(_ sent: String, _ value: String) throws -> Int {
      var later = row(sent, "BG Reading (mg/dL)", value)
      later["BG Source"] = "BG_SENT_FOR_CALIB"
      var typed = row("08:00:58", "BG Reading (mg/dL)", "142")
      typed["BG Source"] = "ENTERED_IN_BG_ENTRY"
      return try export([later, typed], header: header).readings.count
    }
    #expect(try count("08:01:07", "142") == 1 && count("08:00:58", "142") == 1)
    // The pump also lists this finger stick as a calibration. All these rows are one reading.
    var sent = row("08:00:07", "BG Reading (mg/dL)", "142")
    sent["BG Source"] = "BG_SENT_FOR_CALIB"
    let calibration = row("08:00:07", "Sensor Calibration BG (mg/dL)", "142")
    let original = row("08:00:03", "BG Reading (mg/dL)", "142")
    #expect(try export([sent, calibration, original], header: header).readings.count == 1)
    #expect(try export([sent, calibration], header: header).readings.count == 1)
    #expect(try count("08:01:07", "141") == 2, "another value")
    #expect(try count("08:06:00", "142") == 2, "too late")
    #expect(try count("08:00:50", "142") == 2, "before the stick")
  }

  /// In closed loop, a pump delivers basal insulin as a small bolus every five minutes.
  @Test(arguments: [
    ("CLOSED_LOOP_MICRO_BOLUS", "basal", true), ("CLOSED_LOOP_AUTO_BASAL", "basal", true),
    ("CLOSED_LOOP_AUTO_BOLUS", "rapid", true), ("CLOSED_LOOP_BG_CORRECTION_AND_FOOD_BOLUS", "rapid", false),
    ("CLOSED_LOOP_BG_CORRECTION", "rapid", false), ("BOLUS_WIZARD", "rapid", false),
    ("MANUAL", "rapid", false), ("", "rapid", false),
  ])
  func theSourceOfACareLinkBolusShowsWhetherItIsBasalOrRapidInsulin(
    _ source: String, _ use: String, _ isAutomatic: Bool
  ) throws {
    var row = row("08:00:01", "Bolus Volume Delivered (U)", "0.125")
    (row["Bolus Type"], row["Bolus Source"]) = ("Normal", source)
    let dose = try #require(try export([row], header: Self.header + ",Bolus Source").records.first)
    #expect(dose.fields.subtype == use && dose.fields["units"] == .number(0.125))
    #expect((dose.fields["automatic"] == .flag(true)) == isAutomatic)
  }

  /// CareLink does not state whether the automatic insulin includes corrections. So the total insulin of the
  /// day is unknown, too.
  @Test(arguments: [
    ("CLOSED_LOOP_AUTO_INSULIN", "MANUAL", "21.5 U of automatic insulin in the day"),
    ("CLOSED_LOOP_AUTO_INSULIN", "CLOSED_LOOP_MICRO_BOLUS", nil), ("", "MANUAL", nil),
  ])
  func theAutomaticInsulinOfADayIsBasalInsulinWithoutAnAmount(
    _ source: String, _ bolus: String, _ text: String?
  ) throws {
    let header = Self.header + ",Bolus Source"
    let names = header.split(separator: ",").map(String.init)
    func line(_ clock: String, _ units: String, _ source: String) -> String {
      let cells = [
        "Date": "2026/03/11", "Time": clock, "Bolus Volume Delivered (U)": units, "Bolus Source": source,
      ]
      return (["1.0"] + names.dropFirst().map { cells[$0] ?? "" }).joined(separator: ",")
    }
    let export = try TextExport(
      [
        "-------,MiniMed 780G,Pump,000001,-------", header, line("08:00:00", "0.5", bolus),
        "-------,MiniMed 780G,Pump,000001,Aggregated Auto Insulin Data", header,
        line("00:00:00", "21.5", source),
      ].joined(separator: "\n") + "\n")
    let last = try #require(export.records.last)
    #expect(export.records.count == (text == nil ? 1 : 2))
    #expect(export.skipped == (text == nil ? ["daily total": 1] : [:]))
    #expect(last.fields["text"] == text.map { .text($0) })
    if text != nil { #expect(last.fields["units"] == nil && last.fields.subtype == "basal") }
  }

  @Test func carbohydratesOfACorrectedCareLinkCalculationCountOnce() throws {
    func carbs(_ first: String, _ second: String, _ clock: String) throws -> [Double?] {
      let rows = [(clock, "45", second), ("12:00:00", "60", first)].map { clock, grams, status in
        var row = row(clock, "BWZ Carb Input (grams)", grams)
        row["BWZ Status"] = status
        return row
      }
      let export = try export(rows, header: Self.header + ",BWZ Status")
      return export.records.map { record in
        if case .number(let grams)? = record.fields["carbs"] { grams } else { nil }
      }.sorted { $0 ?? 0 < $1 ?? 0 }
    }
    #expect(try carbs("Not Delivered", "Delivered", "12:01:10") == [45])
    #expect(try carbs("Not Delivered", "Delivered", "12:10:00") == [45])
    #expect(try carbs("Not Delivered", "Delivered", "12:10:01") == [45, 60], "too late")
    #expect(try carbs("Not Delivered", "Delivered", "11:59:00") == [45, 60], "before it")
    #expect(try carbs("Not Delivered", "Not Delivered", "12:01:10") == [45, 60], "a meal without insulin")
    #expect(try carbs("Delivered", "Delivered", "12:01:10") == [45, 60], "two meals")
    #expect(try carbs("", "", "12:01:10") == [45, 60])
  }

  /// The file states when a basal rate starts, but not when it ends. So the total insulin of a day is
  /// unknown, and is not the sum of the boluses.
  @Test(arguments: [
    ("PATTERN_NAME=RATE=9, PROFILE_INDEX=0, RATE=0.75, START_TIME=0", 0.75),
    ("PATTERN_NAME=standard, RATE=1,05, START_TIME=0", 1.05),
    ("PATTERN_NAME=standard, START_TIME=0", nil), ("RATE=many, START_TIME=0", nil),
  ])
  func aBasalProfileOfAnOldCareLinkFileIsARate(_ values: String, _ rate: Double?) throws {
    var row = row("08:00:00", "Raw-Type", "BasalProfileStart")
    row["Raw-Values"] = "\"\(values)\""
    let export = try export([row], header: Self.header + ",Raw-Type,Raw-Values")
    #expect(export.records.map { $0.fields["rate"] } == (rate.map { [.number($0)] } ?? []))
    #expect(export.rejections.isEmpty == (rate != nil))
  }

  @Test func withoutASensorCareLinkCalibrationsAreFingerSticks() throws {
    let typed = row("09:00:01", "Sensor Calibration BG (mg/dL)", "131.00")
    let original = row("08:00:01", "BG Reading (mg/dL)", "142.00")
    let copy = row("08:00:01", "Sensor Calibration BG (mg/dL)", "142.00")
    let plain = try export([copy, original, typed])
    #expect(plain.readings.map(\.kind) == [.smbg, .smbg] && plain.readings.map(\.marks) == [[], []])
    #expect(plain.skipped == ["repeated finger stick": 1])
    // The finger stick counts as a calibration only if a sensor value is within a day of it.
    func marks(_ date: String, _ time: String) throws -> ReadingMarks? {
      var sensor = row(time, "Sensor Glucose (mg/dL)", "140")
      sensor["Date"] = date
      return try export([typed, sensor]).readings.first { $0.kind == .smbg }?.marks
    }
    #expect(try marks("2026/03/10", "10:00:00") == .calibration)
    #expect(try marks("2026/03/12", "08:00:00") == .calibration)
    #expect(try marks("2026/03/09", "08:00:00") == [] && marks("2026/03/13", "10:00:00") == [])
  }

  /// In the layout before 2017, a row of the type `SensorCalBG` repeats a calibration. The time of this row
  /// is truncated to the minute.
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
    // The day 25 in the date range of the report shows the order of day and month.
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
