// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct TandemTests {
  private static let readings = "DeviceType,SerialNumber,Description,EventDateTime,Readings (CGM / BGM)\n"

  private func row(_ time: String, _ value: String, _ description: String = "EGV") -> String {
    "\"t:slim X2\",\"0000001\",\"\(description)\",\"\(time)\",\"\(value)\",\n"
  }

  // MARK: Detection

  @Test(arguments: [
    readings, "Device Type,Serial Number,Description,Event Date Time,BG (mg/dL),Note\n",
    "Device Type,Serial Number,Description,Event Date Time,CGM (mmol/L),Note\n",
    "Type,Bolus Type,BG (mg/dL),Serial Number,Completion Date Time,Insulin Delivered,Carb Size\n",
  ])
  func aTandemSectionHeaderIsRecognised(_ header: String) throws {
    #expect(try Claims.claims(header, TandemFormat.self))
  }

  @Test(arguments: [
    // These are research tables with the same words, a section without glucose, and headers of other
    // programs.
    "EventDateTime,DeviceMode,BolusType,Basal,CorrectionDelivered,TotalBolusInsulinDelivered,CarbSize,CGM\n",
    "EventDateTime,Basal,BolusType,CarbSize,Readings (CGM / BGM),TotalBolusInsulinDelivered,DeviceMode\n",
    "Type,EventID,EventDateTime,IOB\n", "Type,EventDateTime,BasalRate\n",
    "Device Type,Serial Number,Description,Event Date Time,Note\n",
    "Type,Value,Unit,Name,Event,Date Time,Notes\n", "DeviceType,SerialNumber,Readings (CGM / BGM)\n",
    "Device,Serial Number,Description,Event Date Time,BG (mg/dL)\n",
  ])
  func otherTablesAreNotRecognisedAsTandem(_ header: String) throws {
    #expect(try !Claims.claims(header, TandemFormat.self))
  }

  // MARK: Read items

  /// A serial number or the number of a row may be before the column `Type`.
  @Test(arguments: ["SerialNumber", ""]) func aTandemTypeInTheSecondColumnIsFound(_ first: String) throws {
    let text = """
      Type,EventID,EventDateTime,IOB
      IOB,1,2026-05-04T12:50:00,1.2
      \(first),Type,Description,BG,IOB,CompletionDateTime,InsulinDelivered,CarbSize
      7,Bolus,Standard,141,0.2,2026-05-04T12:58:26,7.5,65

      """
    let export = try TextExport(
      "DeviceType,SerialNumber,Description,EventDateTime,Readings (mg/dL)\nt:slim,7,EGV,2026-05-04T12:50:00,118\n"
        + text)
    #expect(export.records.compactMap { $0.fields["units"] } == [.number(7.5)])
    #expect(export.skipped == ["insulin on board": 1] && export.readings.count == 1)
  }

  @Test func everyTandemSectionIsReadWithItsHeader() throws {
    let export = try TextExport(bytes: TextExport.sample("tandem/timeline.csv"))
    #expect(export.readings.map(\.kind) == [.cbg, .cbg, .smbg, .cbg])
    #expect(export.readings.last?.measurement == .low(below: nil, .milligramsPerDecilitre))
    #expect(export.devices.map(\.serial) == ["0000001"])
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-04T12:58:26 {"subtype":"rapid","units":7.53}"#,
        #"food 2026-05-04T12:58:26 {"carbs":65}"#,
        #"insulin 2026-05-04T16:03:25 {"subtype":"rapid","units":1.5}"#,
        #"note 2026-05-04T16:03:25 {"text":"before tennis"}"#,
      ])
    #expect(
      export.skipped == ["insulin on board": 2, "row without a value": 1, "bolus not completed": 1])
    #expect(export.rejections.count == 1 && export.warnings.isEmpty)
    #expect(!"\(export.rejections) \(export.skipped)".contains("Sample Person"))
  }

  /// Pumps without Control-IQ state their rates in a section of the timeline. Each rate holds until the next
  /// one, as in the program tconnectsync.
  @Test func aTandemSectionOfBasalRatesIsReadIncludingARateOfZero() throws {
    let export = try TextExport(
      Self.readings + row("2026-05-04T00:01:33", "212")
        + """
        Type,EventDateTime,BasalRate
        "Basal","2026-05-04T00:00:00","0.850"
        "Basal","2026-05-04T03:30:00","0.000"
        "Basal","2026-05-04T04:00:00",""
        "Basal","2026-05-04T05:00:00","250"
        "Basal","2026-05-04T25:00:00","0.9"

        """)
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-04T00:00:00 {"rate":0.85,"subtype":"basal"}"#,
        #"insulin 2026-05-04T03:30:00 {"rate":0,"subtype":"basal"}"#,
      ])
    #expect(export.skipped == ["row without a value": 1] && export.rejections.count == 2)
    #expect(export.readings.count == 1 && export.warnings.isEmpty)
  }

  @Test(arguments: ["Type,EventDateTime,BasalRate,Duration", "Type,EventDateTime,BasalRateChange"])
  func aTandemSectionWithOtherColumnsIsNotReadAsBasalRates(_ header: String) throws {
    let export = try TextExport(
      Self.readings + row("2026-05-04T00:01:33", "212")
        + "\(header)\nBasal,2026-05-04T00:00:00,0.85,30\n")
    #expect(export.records.isEmpty && export.rejections.count == 2)
  }

  @Test func rowsOfAnUnknownTandemSectionAreNotReadAsTheSectionBefore() throws {
    let export = try TextExport(
      Self.readings + row("2026-05-04T00:01:33", "212")
        + "Type,Temperature,EventDateTime,Readings\n\"x\",\"y\",\"EGV\",\"2026-05-04T00:06:33\",\"140\",\n")
    #expect(export.readings.count == 1 && export.rejections.count == 2)
  }

  @Test func allValuesOfATandemTimelineDetermineItsUnit() throws {
    let milligrams = try TextExport(Self.readings + row("2026-05-04T00:01:33", "212"))
    #expect(milligrams.decision("unit") == "mg/dL (inferred)")
    let millimoles = try TextExport(
      Self.readings + row("2026-05-04T00:01:33", "11.8") + row("2026-05-04T00:06:33", "12.0"))
    #expect(millimoles.readings.map(\.measurement.unit) == [.millimolesPerLitre, .millimolesPerLitre])
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(Self.readings + row("2026-05-04T00:01:33", "12"))
    }
    #expect(failure?.message.contains("--unit") == true)
    let given = try TextExport(Self.readings + row("2026-05-04T00:01:33", "12")) {
      $0.unit = .millimolesPerLitre
    }
    #expect(given.decision("unit") == "mmol/L (given)" && given.readings.count == 1)
  }

  @Test func aTandemSectionWithoutAUnitFarBelowOneWithAUnitIsNotRead() throws {
    let header = "Device Type,Serial Number,Description,Event Date Time,BG (mg/dL),Note\n"
    let rows = String(repeating: "Pump,1,BG,2026-05-04T07:30:00,118,\n", count: 60)
    let export = try TextExport(header + rows + Self.readings + row("2026-05-04T00:01:33", "12"))
    #expect(export.readings.count == 60 && export.rejections.count == 2)
    let given = try TextExport(header + rows + Self.readings + row("2026-05-04T00:01:33", "12")) {
      $0.unit = .millimolesPerLitre
    }
    #expect(given.readings.last?.measurement == .value(Quantity(12, .millimolesPerLitre)))
  }

  @Test func anUnknownTandemDescriptionIsCountedByName() throws {
    let export = try TextExport(Self.readings + row("2026-05-04T00:01:33", "212", "Calibration"))
    #expect(export.readings.isEmpty && export.skipped == ["Calibration": 1])
  }

  /// `InsulinDelivered` usually excludes the extended part. It includes that part if the sum of both is more
  /// than the requested amount.
  @Test(arguments: [
    ("4.0", "6.0", "10.0", #"{"extended":6,"minutes":120,"subtype":"rapid","units":4}"#),
    ("10.0", "6.0", "10.0", #"{"extended":6,"minutes":120,"subtype":"rapid","units":4}"#),
    ("0", "6.0", "6.0", #"{"extended":6,"minutes":120,"subtype":"rapid"}"#),
    ("2.0", "1.5", "10.0", #"{"extended":1.5,"minutes":120,"subtype":"rapid","units":2}"#),
    ("4.0", "6.0", "", #"{"extended":6,"minutes":120,"subtype":"rapid","units":4}"#),
    ("4.0", "", "4.0", #"{"subtype":"rapid","units":4}"#),
  ])
  func theExtendedPartOfATandemBolusIsRead(
    _ delivered: String, _ extended: String, _ requested: String, _ fields: String
  ) throws {
    let times = extended.isEmpty ? "," : "2026-05-04T20:00:00,2026-05-04T22:00:00"
    let text = """
      Type,CompletionDateTime,InsulinDelivered,BolexStartDateTime,BolexCompletionDateTime,BolexInsulinDelivered,ActualTotalBolusRequested
      Bolus,2026-05-04T20:00:00,\(delivered),\(times),\(extended),\(requested)

      """
    let export = try TextExport(text)
    #expect(export.records.map(\.fields.json) == [fields] && export.skipped.isEmpty)
  }

  /// A row of Tandem Source has no requested amount. Its percentage decides, else the units for food and
  /// correction.
  @Test(arguments: [
    // `InsulinDelivered` is the total: by the percentage, and by food and correction.
    ("6", "3", "50", "", "", #"{"extended":3,"minutes":120,"subtype":"rapid","units":3}"#),
    ("5", "5", "0", "", "", #"{"extended":5,"minutes":120,"subtype":"rapid"}"#),
    ("4.99", "5", "0", "", "", #"{"extended":5,"minutes":120,"subtype":"rapid"}"#),
    ("6", "3", "", "5", "1", #"{"extended":3,"minutes":120,"subtype":"rapid","units":3}"#),
    ("6", "3", "100", "6", "", #"{"extended":3,"minutes":120,"subtype":"rapid","units":3}"#),
    // It is the immediate part.
    ("6", "3", "67", "", "", #"{"extended":3,"minutes":120,"subtype":"rapid","units":6}"#),
    ("3", "3", "50", "", "", #"{"extended":3,"minutes":120,"subtype":"rapid","units":3}"#),
    ("6", "3", "", "8", "1", #"{"extended":3,"minutes":120,"subtype":"rapid","units":6}"#),
    ("6", "3", "100", "9", "0", #"{"extended":3,"minutes":120,"subtype":"rapid","units":6}"#),
    // The percentage is the better evidence.
    ("6", "3", "67", "6", "0", #"{"extended":3,"minutes":120,"subtype":"rapid","units":6}"#),
    // Both agree with 90 %, so food and correction decide.
    ("2", "0.2", "90", "2", "0", #"{"extended":0.2,"minutes":120,"subtype":"rapid","units":1.8}"#),
    ("2", "0.2", "90", "2.2", "0", #"{"extended":0.2,"minutes":120,"subtype":"rapid","units":2}"#),
    // A part that is more than the delivered amount, or that hardly exists, needs no evidence.
    ("1.6", "2.4", "", "", "", #"{"extended":2.4,"minutes":120,"subtype":"rapid","units":1.6}"#),
    ("0", "5", "0", "0", "0", #"{"extended":5,"minutes":120,"subtype":"rapid"}"#),
    ("5", "0.04", "", "", "", #"{"extended":0.04,"minutes":120,"subtype":"rapid","units":5}"#),
  ])
  func aTandemRowWithoutARequestShowsWhatItsDeliveredAmountIs(
    _ delivered: String, _ extended: String, _ percent: String, _ food: String, _ correction: String,
    _ fields: String
  ) throws {
    let export = try Self.source(delivered, extended, percent, food, correction)
    #expect(export.records.map(\.fields.json) == [fields, #"{"carbs":50}"#])
    #expect(export.rejections.isEmpty && export.warnings.isEmpty && export.skipped.isEmpty)
  }

  /// The dose would be 6 or 9 units, so the row is named and its insulin is not stored.
  @Test(arguments: [
    ("", "", ""), ("100", "", ""), ("50%", "", ""), ("-50", "", ""), ("100", "0", "0"), ("75", "4", "1"),
    ("", "7", ""), ("x", "y", "z"),
  ])
  func aTandemRowThatDoesNotShowWhatItsDeliveredAmountIsIsRejected(
    _ percent: String, _ food: String, _ correction: String
  ) throws {
    let export = try Self.source("6", "3", percent, food, correction)
    #expect(export.records.map(\.fields.json) == [#"{"carbs":50}"#])
    #expect(export.rejections.map(\.line) == [2] && export.skipped.isEmpty)
    #expect(export.rejections.first?.reason.contains("Insulin Delivered") == true)
  }

  private static func source(
    _ delivered: String, _ extended: String, _ percent: String, _ food: String, _ correction: String
  ) throws -> TextExport {
    try TextExport(
      """
      Type,Bolus Type,Bolus Delivery Method,BG (mg/dL),Serial Number,Completion Date Time,Insulin Delivered,Food Delivered,\
      Correction Delivered,Completion Status Desc,Bolex Start Date Time,Bolex Completion Date Time,Bolex Insulin Delivered,\
      Bolex Completion Status Desc,Standard Percent,Duration (mins),Carb Size,Target BG (mg/dL),Correction Factor,Carb Ratio
      Bolus,Food,Extended,158,0000001,2026-03-05T08:51:44,\(delivered),\(food),\(correction),Completed,2026-03-05T08:51:44,\
      2026-03-05T10:51:44,\(extended),Completed,\(percent),120,50,0,0,0

      """)
  }

  @Test func glucoseInTheTandemBolusCalculatorIsNotReadAsAReading() throws {
    let export = try TextExport(bytes: TextExport.sample("tandem/source-bolus.csv"))
    #expect(export.readings.isEmpty && export.records.count == 3)
    #expect(export.warnings == ["unknown column 'Control Mode': not read"])
  }

  // MARK: Blood glucose that the pump filled in from the sensor

  private static let sticks = "DeviceType,SerialNumber,Description,EventDateTime,BG (mg/dL),Note\n"
  private static let sensor = "DeviceType,SerialNumber,Description,EventDateTime,Readings (mg/dL)\n"

  @Test func aTandemCopyOfASensorValueIsNotReadAsAFingerStick() throws {
    let export = try TextExport(bytes: TextExport.sample("tandem/filled-in-from-sensor.csv"))
    #expect(export.readings.filter { $0.kind == .cbg }.count == 4)
    let sticks = export.readings.filter { $0.kind == .smbg }
    #expect(sticks.map { $0.measurement.quantity?.number } == [133, 155, 138])
    #expect(sticks.allSatisfy { $0.marks == .calculator })
    #expect(export.skipped == ["filled in from the sensor": 2])
  }

  /// A finger stick is a copy if the same pump has an equal sensor value at the same time or at most 11
  /// minutes earlier. The order of rows does not matter.
  @Test(arguments: [
    ("2026-05-04T08:11:00", "140", "1", 1), ("2026-05-04T08:11:01", "140", "1", 0),
    ("2026-05-04T08:00:00", "140", "1", 1), ("2026-05-04T07:59:59", "140", "1", 0),
    ("2026-05-04T08:02:00", "141", "1", 0), ("2026-05-04T08:02:00", "140", "2", 0),
    ("2026-05-04T08:02:00", "HI", "1", 0),
  ])
  func aTandemValueIsACopyOnlyWithin11MinutesAfterAnEqualSensorValue(
    _ time: String, _ value: String, _ serial: String, _ filledIn: Int
  )
    throws
  {
    let stick = "Pump,\(serial),BG,\(time),\(value),\n"
    let values = "Pump,1,EGV,2026-05-04T08:00:00,140,\nPump,1,EGV,2026-05-04T07:55:00,HI,\n"
    for text in [Self.sensor + values + Self.sticks + stick, Self.sticks + stick + Self.sensor + values] {
      let export = try TextExport(text)
      #expect(export.skipped["filled in from the sensor"] ?? 0 == filledIn)
      #expect(export.readings.filter { $0.kind == .smbg }.count == 1 - filledIn)
      #expect(export.readings.filter { $0.kind == .cbg }.count == 2)
    }
  }

  @Test func tandemBloodGlucoseWithoutSensorValuesIsKeptWithAMark() throws {
    let export = try TextExport(Self.sticks + "Pump,1,BG,2026-05-04T08:00:00,140,\n")
    #expect(export.readings.map(\.kind) == [.smbg] && export.readings.map(\.marks) == [.calculator])
  }
}
