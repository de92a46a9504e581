// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests how kinds, marks and columns of a table show whether a sensor or a meter measured its values.
@Suite struct GenericDeviceWordTests {
  private static let start = DeviceTime(text: "2026-05-01T00:00:00")?.seconds ?? 0
  /// The minutes of a sensor's values in one day, and those of a person's finger sticks in five days.
  private static let sensor = (0..<288).map { $0 * 5 }
  private static let sticks: [Int] = (0..<5).flatMap { day in
    [431, 723, 1108, 1331].map { day * 1440 + $0 + day }
  }

  /// A table of glucose at these minutes, with an additional column.
  private static func table(
    _ minutes: [Int], _ column: String, value: String = "glucose (mg/dL)", _ cell: (Int) -> String
  ) -> String {
    "time,\(value),\(column)\n"
      + minutes.enumerated().map { row, minute in
        "\(DeviceTime(seconds: start + Int64(minute) * 60).text),\(90 + row % 60),\(cell(row))\n"
      }.joined()
  }

  private static func kinds(_ text: String) throws -> Set<String> {
    Set(try TextExport(text).readings.map(\.kind.name))
  }

  @Test(arguments: ["Glucose", "Blood Glucose", "bg", "Blutzucker", "glucose reading"])
  func timesDetermineTheKindOfRowsWithOnlyAWordForGlucose(_ word: String) throws {
    for value in ["glucose (mg/dL)", "value (mg/dL)"] {
      #expect(try Self.kinds(Self.table(Self.sensor, "type", value: value) { _ in word }) == ["cbg"])
      #expect(try Self.kinds(Self.table(Self.sticks, "type", value: value) { _ in word }) == ["smbg"])
    }
    let steady = (0..<100).map { $0 * 30 }
    let message = try #require(try ScratchFile(Self.table(steady, "type") { _ in word }).refusal())
    #expect(message.contains("--kind cbg") && message.contains("--kind smbg"), "\(message)")
    // If other rows have a word for a sensor, rows with only the word for glucose are finger sticks.
    let both = try TextExport(Self.table(Self.sensor, "type") { $0 % 48 == 0 ? word : "CGM" })
    #expect(both.readings.count { $0.kind == .smbg } == 6 && both.readings.count { $0.kind == .cbg } == 282)
    let given = try TextExport(Self.table(Self.sticks, "type") { _ in word }) { $0.kind = .scan }
    #expect(given.readings.allSatisfy { $0.kind == .scan })
  }

  @Test func timesDetermineTheKindOfGlucoseNextToRowsOfOtherMeasurements() throws {
    let text =
      "time,type,value,unit\n"
      + Self.sensor.map { minute in
        let time = DeviceTime(seconds: Self.start + Int64(minute) * 60).text
        return "\(time),Blood Glucose,\(90 + minute % 60),mg/dL\n\(time),Heart Rate,70,bpm\n"
      }.joined()
    let export = try TextExport(text)
    #expect(export.readings.count == 288 && export.readings.allSatisfy { $0.kind == .cbg })
    #expect(export.decision("kind") == "cbg (inferred)")
  }

  @Test func automaticValuesAtTimesOfFingerSticksAreNotTakenForASensor() throws {
    let sent = try TextExport(Self.table(Self.sticks, "type") { $0 % 2 == 0 ? "auto" : "manual" })
    #expect(sent.readings.allSatisfy { $0.kind == .smbg } && sent.readings.count == 20)
    let sensor = try TextExport(Self.table(Self.sensor, "type") { $0 % 48 == 0 ? "manual" : "auto" })
    #expect(sensor.readings.count { $0.kind == .cbg } == 282)
    // If other rows have a word for a sensor, or if there are only a few rows, `auto` means a sensor.
    let history = try TextExport(Self.table(Self.sticks, "type") { $0 % 2 == 0 ? "auto" : "historic" })
    #expect(history.readings.allSatisfy { $0.kind == .cbg })
    #expect(try Self.kinds(Self.table([431, 723], "type") { _ in "auto" }) == ["cbg"])
  }

  @Test(arguments: ["Trend", "trend_arrow", "Sensor ID"])
  func aSensorColumnNextToTimesOfFingerSticksRequiresTheKindOption(_ name: String) throws {
    let file = try ScratchFile(Self.table(Self.sticks, name) { ["Up", "Down", "Flat"][$0 % 3] })
    let message = try #require(try file.refusal())
    for kind in ["smbg", "cbg", "scan"] { #expect(message.contains("--kind \(kind)"), "\(message)") }
    #expect(try file.readings { $0.kind = .smbg }.readings.count == 20)
    // If the times are those of a sensor, or too few to decide, the column shows that a sensor measured the
    // values.
    #expect(try Self.kinds(Self.table(Self.sensor, name) { _ in "Flat" }) == ["cbg"])
    #expect(try Self.kinds(Self.table([0, 600, 602], name) { _ in "Flat" }) == ["cbg"])
    // An empty column shows no sensor.
    #expect(try Self.kinds(Self.table(Self.sticks, name) { _ in "" }) == ["smbg"])
  }

  @Test func aMeterNextToASensorWithTrendsHasFingerSticks() throws {
    let lines = Self.sensor.map { ($0, "G7,Flat") } + Self.sticks.map { ($0 + 2, "BG-3,") }
    let rows = lines.map { minute, cells in
      "\(DeviceTime(seconds: Self.start + Int64(minute) * 60).text),\(90 + minute % 60),\(cells)\n"
    }
    let export = try TextExport("time,glucose (mg/dL),device,trend\n" + rows.sorted().joined())
    #expect(
      export.readings.count { $0.kind == .smbg } == 20 && export.readings.count { $0.kind == .cbg } == 288)
  }

  @Test(arguments: ["isManual", "is_fingerstick", "Calibration", "from meter", "wasUserEntered"])
  func aSensorTableWithRowsMarkedAsFingerSticksIsRefusedWithCommands(_ name: String) throws {
    for (yes, no) in [("true", "false"), ("1", "0"), ("x", "")] {
      let file = try ScratchFile(Self.table(Self.sensor, name) { $0 % 48 == 0 ? yes : no })
      let message = try #require(try file.refusal(), "\(name) \(yes)")
      #expect(message.contains("'\(name)'") && message.contains("--kind smbg"), "\(message)")
      #expect(
        message.contains("=\(yes)' --kind smbg") || message.contains("=\(yes) --kind smbg"), "\(message)")
      #expect(message.contains("--kind cbg") == !no.isEmpty && !message.contains("=\(yes) --kind cbg"))
      #expect(try file.readings { $0.kind = .cbg }.readings.count == 288)
      let pick = RowFilter(column: name, value: yes)
      #expect(try file.readings { ($0.rows, $0.kind) = ([pick], .smbg) }.readings.count == 6)
    }
    // The table is read if no row is marked, if all times are those of a person, or if the cells are not
    // marks.
    #expect(try Self.kinds(Self.table(Self.sensor, name) { _ in "0" }) == ["cbg"])
    #expect(try Self.kinds(Self.table(Self.sticks, name) { $0 % 2 == 0 ? "1" : "0" }) == ["smbg"])
    #expect(try Self.kinds(Self.table(Self.sensor, name) { "\(1000 + $0 % 3)" }) == ["cbg"])
  }

  @Test(arguments: ["is_cgm", "isSensor", "fromSensor", "isAutomatic"])
  func aSensorTableWithRowsNotMarkedAsSensorIsRefusedWithCommands(_ name: String) throws {
    let file = try ScratchFile(Self.table(Self.sensor, name) { $0 % 48 == 0 ? "false" : "true" })
    let message = try #require(try file.refusal())
    #expect(
      message.contains("\(name)=false --kind smbg") && message.contains("\(name)=true --kind cbg"),
      "\(message)")
    #expect(try Self.kinds(Self.table(Self.sensor, name) { _ in "true" }) == ["cbg"])
  }

  @Test func aTableOfFingerSticksWithRowsMarkedAsSensorIsRefused() throws {
    #expect(try Self.kinds(Self.table(Self.sticks, "automatic") { $0 % 5 == 0 ? "1" : "0" }) == ["smbg"])
    #expect(try ScratchFile(Self.table(Self.sticks, "is_cgm") { $0 % 5 == 0 ? "1" : "0" }).refusal() != nil)
    #expect(try Self.kinds(Self.table(Self.sticks, "is_cgm") { _ in "0" }) == ["smbg"])
  }

  @Test(arguments: ["Channel", "Measured by", "Glucose type"])
  func aTableWhoseColumnNamesASensorAndAMeterRequiresTheKindOption(_ name: String) throws {
    for (sensor, meter) in [("Dexcom G7", "Contour Next"), ("my CGM", "finger test")] {
      let file = try ScratchFile(Self.table(Self.sensor, name) { $0 % 48 == 0 ? meter : sensor })
      let message = try #require(try file.refusal(), "\(name) \(sensor)")
      #expect(message.contains("--kind smbg") && message.contains("--kind cbg"), "\(message)")
      #expect(try file.readings { $0.kind = .cbg }.readings.count == 288)
    }
    // The table is read if only one device is named, or if the words are a person's reasons, modes or
    // remarks.
    #expect(try Self.kinds(Self.table(Self.sensor, name) { _ in "Dexcom G7" }) == ["cbg"])
    #expect(
      try Self.kinds(Self.table(Self.sticks, "Reason") { $0 % 3 == 0 ? "CGM alarm" : "Routine" }) == ["smbg"])
    #expect(
      try Self.kinds(Self.table(Self.sticks, "Mode") { $0 % 3 == 0 ? "Closed loop" : "Manual" }) == ["smbg"])
    #expect(
      try Self.kinds(Self.table(Self.sticks, "Comment") { $0 % 3 == 0 ? "CGM low" : "Contour ok" }) == [
        "smbg"
      ])
  }

  @Test(arguments: ["App", "instrument", "metadata.dataOrigin", "sourceRevision.source.name"])
  func columnsOfAppsOrInstrumentsDecideTheKindOfReadings(_ name: String) throws {
    let export = try TextExport(
      Self.table(Self.sensor, name) { $0 % 48 == 0 ? "com.mysugr" : "com.dexcom.g7" })
    #expect(
      export.readings.count { $0.kind == .smbg } == 6 && export.readings.count { $0.kind == .cbg } == 282)
  }

  @Test(arguments: ["Venous", "Messwert", "Home", "Dexcom"])
  func anUnknownKindOfARowWithAValueRefusesTheTable(_ word: String) throws {
    let file = try ScratchFile(Self.table(Self.sticks, "type") { $0 % 2 == 0 ? "BG" : word })
    let message = try #require(try file.refusal())
    #expect(message.contains("'\(word)'") && message.contains("--kind smbg"), "\(message)")
    #expect(try file.readings { $0.force = true }.readings.count == 10)
    let pick = RowFilter(column: "type", value: word)
    #expect(try file.readings { ($0.rows, $0.kind) = ([pick], .cbg) }.readings.count == 10)
  }

  @Test(arguments: ["Insulin", "Target", "Carbs", "Average", "Alert: urgent low"])
  func rowsOfAKnownKindOtherThanGlucoseAreLeftOut(_ word: String) throws {
    let export = try TextExport(Self.table(Self.sticks, "type") { $0 % 2 == 0 ? "BG" : word })
    #expect(export.readings.count == 10 && export.rejections.isEmpty)
  }

  @Test func anUnknownKindWithoutAValueIsLeftOut() throws {
    let rows = Self.sticks.map { "\(DeviceTime(seconds: Self.start + Int64($0) * 60).text)," }
    let text = "time,glucose (mg/dL),type\n" + rows.map { $0 + "104,BG\n" + $0 + ",Outing\n" }.joined()
    #expect(try TextExport(text).readings.count == 20)
  }

  @Test(arguments: ["type", "Категория", "类型", "parametro", "Test"])
  func aMappedColumnOfValuesNeedsARowFilterIfAnotherColumnNamesSeveralMeasurements(_ name: String) throws {
    let map = ["time": "time", "value": "value"]
    let file = try ScratchFile(
      Self.table(Self.sticks, name, value: "value") { $0 % 3 == 2 ? "Puls" : "Zucker" })
    let message = try #require(try file.refusal { $0.columns = map })
    #expect(message.contains("=Zucker") && message.contains("=Puls"), "\(message)")
    let pick = RowFilter(column: name, value: "Zucker")
    #expect(try file.readings { ($0.columns, $0.rows) = (map, [pick]) }.readings.count == 14)
    // No row filter is needed for a single word, for meals of a diary, or for values that are named for
    // glucose.
    for (value, words) in [
      ("value", ["Zucker"]), ("value", ["Fasting", "Lunch"]), ("glucose", ["Walk", "Rest"]),
    ] {
      let text = Self.table(Self.sticks, name, value: value) { words[$0 % words.count] }
      let plain = try ScratchFile(text)
      #expect(
        try plain.readings { $0.columns = ["time": "time", "value": value] }.readings.count == 20, "\(words)")
    }
  }
}
