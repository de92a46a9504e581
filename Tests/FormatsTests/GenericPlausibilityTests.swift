// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests inputs that are refused as a whole because their values or times cannot be those of glucose.
@Suite struct GenericPlausibilityTests {
  private static let start = DeviceTime(text: "2026-03-01T07:02:00")?.seconds ?? 0

  /// A table of values at an interval of this many minutes.
  private func table(
    _ values: [String], minutes: Int = 5, header: String = "time,glucose", from start: Int64 = Self.start
  ) -> String {
    values.enumerated().reduce(into: header + "\n") { text, value in
      text += "\(DeviceTime(seconds: start + Int64(value.offset * minutes * 60)).text),\(value.element)\n"
    }
  }

  private func varied(_ count: Int) -> [String] { (0..<count).map { String(90 + $0 * 37 % 71) } }

  private func refusal(_ text: String, _ change: (inout ExportOptions) -> Void = { _ in }) throws -> String? {
    try ScratchFile(text).refusal(change)
  }

  // MARK: Times

  /// The values are those of two persons, and no column states the person of each row.
  @Test func aTableWithTwoValuesAtMostTimesIsRefused() throws {
    let one = table(varied(40))
    let other = table((0..<40).map { String(150 + $0 * 37 % 71) }).split(separator: "\n").dropFirst()
    let both = one + other.joined(separator: "\n") + "\n"
    let message = try #require(try refusal(both))
    #expect(message.contains("two different values at 40 of 40 times"), "\(message)")
    #expect(try ScratchFile(both).readings { $0.force = true }.readings.count == 80)
    // The table is read if only a few times have two values, as after a clock was set back by three hours on
    // one day.
    let days = table(varied(600)) + other.joined(separator: "\n") + "\n"
    #expect(try ScratchFile(days).readings().readings.count == 640)
    let repeated = one + one.split(separator: "\n").dropFirst().joined(separator: "\n") + "\n"
    #expect(try ScratchFile(repeated).readings().readings.count == 80)
  }

  @Test func aTableWith12HourTimesWithoutAMOrPMIsRefused() throws {
    let rows = (0..<160).map { index in
      let minutes = index * 15
      let hour = (minutes / 60 + 11) % 12 + 1
      let (day, minute) = (1 + minutes / 1440, minutes % 60)
      return
        "2026-05-0\(day) \(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute),\(90 + index * 37 % 71)\n"
    }
    let message = try #require(try refusal("time,glucose\n" + rows.joined()))
    #expect(message.contains("clock of twelve hours without AM and PM"), "\(message)")
    let evening = rows.joined() + "2026-05-03 19:00,104\n"
    #expect(try ScratchFile("time,glucose\n" + evening).readings().readings.count == 161)
  }

  // MARK: Values

  @Test func anInputWithMostlyImplausibleValuesIsRefused() throws {
    let mostlySmall = varied(40) + (0..<60).map { String(11 + $0 % 8) }
    let text = table(mostlySmall, header: "time,glucose (mg/dL)")
    let message = try #require(try refusal(text))
    #expect(message.contains("60 of 100 values outside of 20 to 600 mg/dL"), "\(message)")
    #expect(message.contains("--force"))
    let half = varied(50) + (0..<50).map { String(11 + $0 % 8) }
    #expect(try ScratchFile(table(half, header: "time,glucose (mg/dL)")).readings().readings.count == 100)
  }

  @Test func anInputWithImplausibleMillimolesIsRefused() throws {
    let made = (0..<60).map { "0.\(100 + $0 * 7)" }
    let message = try refusal(table(made, header: "time,glucose (mmol/L)"))
    #expect(message?.contains("mmol/L") == true, "\(message ?? "read")")
    #expect(try refusal(table(made)) != nil)
  }

  @Test func thePlausibilityOfRowsIsCheckedInTheUnitOfEachRow() throws {
    let rows = (0..<20).map { "\($0 % 2 == 0 ? "5.\($0 % 10),mmol/L" : "1\($0 % 9 + 1)0,mg/dL")" }
    let text = table(rows, header: "time,glucose,unit")
    #expect(try ScratchFile(text).readings().readings.count == 20)
  }

  @Test func zerosAmongGlucoseValuesAreRejected() throws {
    let zeros = varied(5) + Array(repeating: "0", count: 20)
    let result = try ScratchFile(table(zeros, header: "time,glucose (mg/dL)")).readings()
    #expect(result.readings.count == 5 && result.rejections.count == 20)
  }

  @Test func anInputThatRepeatsOneValueIsRefused() throws {
    let message = try refusal(table(Array(repeating: "180", count: 24), header: "time,glucose (mg/dL)"))
    #expect(message?.contains("the same value 24 times") == true, "\(message ?? "read")")
    let few = table(Array(repeating: "180", count: 23), header: "time,glucose (mg/dL)")
    #expect(try ScratchFile(few).readings().readings.count == 23)
    let almost = Array(repeating: "180", count: 40) + ["181"]
    #expect(try ScratchFile(table(almost, header: "time,glucose (mg/dL)")).readings().readings.count == 41)
  }

  @Test(arguments: [
    ("999", "mg/dL", 1), ("999", "mg/dL", 8), ("12", "mg/dL", 3), ("700", "mg/dL", 3), ("55", "mmol/L", 3),
  ])
  func aTableWithANumberThatMeansNoValueIsRefused(_ number: String, _ unit: String, _ count: Int) throws {
    let values = unit == "mg/dL" ? varied(60) : varied(60).map { "\($0.dropLast()).\($0.suffix(1))" }
    let text = table(values + Array(repeating: number, count: count), header: "time,glucose (\(unit))")
    let message = try #require(try refusal(text))
    #expect(message.contains("holds \(number) \(count == 1 ? "once" : "\(count) times")"), "\(message)")
    #expect(message.contains("--force"))
    #expect(try ScratchFile(text).readings { $0.force = true }.readings.count == 60 + count)
  }

  @Test func theReportedNumberThatMeansNoValueIsTheSameInEachRun() throws {
    let rows =
      varied(60).enumerated().map { ($1, "mg/dL", $0) }
      + (60..<64).map { ("999", "mg/dL", $0) } + (64..<68).map { ("55", "mmol/L", $0) }
    let lines = rows.map { value, unit, place in
      "2026-05-\(10 + place / 4)T\(["07:10", "12:03", "17:41", "22:19"][place % 4]):00,\(value),\(unit)\n"
    }
    let text = "time,glucose,unit\n" + lines.joined()
    for _ in 0..<20 { #expect(try refusal(text)?.contains("holds 999 4 times") == true) }
  }

  @Test func numbersAtTheLimitsOfDevicesAreReadAsValues() throws {
    // Sensors repeat 40, 400 and 500, and meters 20 and 600. A single value outside of these limits may be
    // measured.
    for limits in [["40", "400", "500", "20", "600"], ["604", "702", "811", "604"], ["12", "12"]] {
      let repeated = limits.count == 5 ? limits.flatMap { Array(repeating: $0, count: 9) } : limits
      let text = table(varied(60) + repeated, header: "time,glucose (mg/dL)")
      #expect(try ScratchFile(text).readings().readings.count == 60 + repeated.count)
    }
    let millimoles = Array(repeating: "5.5", count: 30) + Array(repeating: "33.3", count: 9) + ["7.1"]
    #expect(
      try ScratchFile(table(millimoles, header: "time,glucose (mmol/L)")).readings().readings.count == 40)
  }

  // MARK: Times

  @Test(arguments: [(60, 12, "hour"), (1440, 7, "day"), (7 * 1440, 7, "week")])
  func anInputWithOneValueForEachHourOrDayIsRefused(_ minutes: Int, _ count: Int, _ name: String) throws {
    let header = "time,glucose (mg/dL)"
    let message = try refusal(table(varied(count), minutes: minutes, header: header))
    #expect(message?.contains("one value for each \(name)") == true, "\(message ?? "read")")
    let fewer = try ScratchFile(table(varied(count - 1), minutes: minutes, header: header)).readings()
    #expect(fewer.readings.count == count - 1)
    let newestFirst = table(varied(count), minutes: -minutes, header: header)
    #expect(try refusal(newestFirst) != nil)
  }

  @Test func aDiaryWithOnlyFullHoursIsAccepted() throws {
    let hours = [7, 12, 18, 22]
    let rows = (0..<40).map { row in
      let seconds = Self.start + Int64(row / 4 * 86_400 + (hours[row % 4] - 7) * 3600 - 120)
      return "\(DeviceTime(seconds: seconds).text),\(90 + row * 37 % 71)\n"
    }
    #expect(
      try ScratchFile("time,glucose (mg/dL)\n" + rows.joined()).readings().readings.count == 40)
  }

  @Test func oneIrregularTimeShowsThatHourlyValuesAreReadings() throws {
    let off = table(["101"], header: "", from: Self.start + 90).dropFirst()
    let text = table(varied(30), minutes: 60, header: "time,glucose (mg/dL)") + off
    #expect(try ScratchFile(text).readings().readings.count == 31)
  }

  // MARK: --force

  @Test func anInputWithOneRepeatedValueIsReadIfForced() throws {
    let equal = try ScratchFile(
      table(Array(repeating: "180", count: 30), minutes: 60, header: "time,glucose (mg/dL)"))
    #expect(try equal.readings { $0.force = true }.readings.count == 30)
  }

  @Test(arguments: [
    (["12.1", "15.4", "20.2"], GlucoseUnit.milligramsPerDecilitre, GlucoseUnit.millimolesPerLitre),
    (["12.1"], .milligramsPerDecilitre, .millimolesPerLitre),
    (["40", "51", "48", "37"], .millimolesPerLitre, .milligramsPerDecilitre),
  ])
  func aGivenUnitThatTheValuesExcludeIsRefused(
    _ values: [String], _ given: GlucoseUnit, _ other: GlucoseUnit
  ) throws {
    let file = try ScratchFile(table(values, minutes: 300))
    let message = try #require(try file.refusal { $0.unit = given })
    #expect(message.contains("--unit \(other.name)") && message.contains("--force"), "\(message)")
    #expect(try file.readings { $0.unit = other }.readings.count == values.count)
    let forced = try file.readings {
      $0.unit = given
      $0.force = true
    }
    #expect(forced.readings.count == values.count)
  }

  // MARK: Grams per litre

  @Test(arguments: [
    "Date;Heure;Glycémie\n01/05/2026;07:10;0,80\n02/05/2026;12:20;1,50\n",
    "Date;Heure;Glycémie\n13/05/2026;07:10;0,80\n14/05/2026;12:20;1,50\n15/05/2026;12:40;3,10\n",
  ])
  func millimolesAreNotInferredFromValuesThatMayBeGramsPerLitre(_ text: String) throws {
    let file = try ScratchFile(text)
    let day = { (options: inout ExportOptions) in options.dateOrder = "dmy" }
    let message = try #require(try file.refusal(day))
    #expect(message.contains("median of its values is below 3.0"), "\(message)")
    #expect(message.contains("g/L") && message.contains("--unit mmol/L"), "\(message)")
    let given = try file.readings {
      day(&$0)
      $0.unit = .millimolesPerLitre
    }
    #expect(given.readings.count == text.count { $0 == "\n" } - 1)
    let usual = try ScratchFile(text.replacing(";0,", with: ";4,").replacing(";1,", with: ";6,"))
    #expect(try usual.readings(day).readings.count == given.readings.count)
  }

  @Test(arguments: [
    "Zeit;Blutzucker;Einheit\n2026-05-01 07:10;1,01;g/l\n2026-05-01 12:20;1,40;g/l\n",
    #"[{"time":"2026-05-01T07:10:00","glucose":1.01,"unit":"g/L"},{"time":"2026-05-01T12:20:00","glucose":1.4,"unit":"g/L"}]"#,
    "time,glucose (mg/dL),unit\n2026-05-01 07:10,1.01,g/L\n2026-05-01 12:20,1.40,g/L\n",
  ])
  func aColumnOfUnitsWithGramsPerLitreIsRefused(_ text: String) throws {
    let file = try ScratchFile(text)
    #expect(try #require(try file.refusal()).contains("is in g/L"))
    // The unit in a row has precedence over the given unit, so the table is still refused.
    #expect(try file.refusal { $0.unit = .millimolesPerLitre } != nil)
  }

  @Test(arguments: ["bpm", "kg", "%", "U", "µmol/L", "mg%"])
  func aTableWithAColumnOfOtherUnitsIsRefusedUntilMapped(_ unit: String) throws {
    let file = try ScratchFile(
      "time,glucose,Unit\n2026-05-01 07:10,101,\(unit)\n2026-05-01 12:20,140,\(unit)\n")
    let message = try #require(try file.refusal())
    #expect(message.contains("'Unit' has the unit '\(unit)'"), "\(message)")
    #expect(message.contains("--map time=time,value=glucose"), "\(message)")
    #expect(try file.readings { $0.columns = ["time": "time", "value": "glucose"] }.readings.count == 2)
    // The table is read if the column named Units has numbers, which are amounts, or no words at all.
    for other in ["4", "", "-"] {
      let rows = "2026-05-01 07:10,101,\(other)\n2026-05-01 12:20,140,\(other)\n"
      #expect(try ScratchFile("time,glucose,Units\n" + rows).readings().readings.count == 2, "\(other)")
    }
  }

  // MARK: Ketones

  private static let low = (0..<30).map { "1.\($0 % 9)" }

  @Test func sensorValuesInMillimolesWithALowMedianAreNotReadAsGlucose() throws {
    let file = try ScratchFile(table(Self.low, header: "time,Sensor glucose (mmol/L)"))
    let message = try #require(try file.refusal())
    #expect(message.contains("median is below 3.0"), "\(message)")
    #expect(message.contains("--map 'time=time,ketone=Sensor glucose (mmol/L)'"), "\(message)")
    let map = ["time": "time", "ketone": "Sensor glucose (mmol/L)"]
    #expect(try file.readings { $0.columns = map }.readings.allSatisfy { $0.kind == .ketone })
    // Without the word sensor, the regular intervals show that a sensor measured the low values.
    #expect(try refusal(table(Self.low)) != nil)
    let normal = (0..<30).map { "\($0 < 14 ? 2 : 5).\($0 % 9)" }
    #expect(try ScratchFile(table(normal)).readings().readings.count == 30)
    // During hypoglycaemia, all finger sticks of a table may be low, so they are read.
    let sticks = table(["1.9", "2.2", "2.4"], minutes: 600, header: "time,glucose (mmol/L)")
    #expect(try ScratchFile(sticks).readings().readings.count == 3)
  }

  @Test(arguments: ["strip mmol/L", "mmol/L", "value mmol/L", "Meter mmol/L"])
  func lowValuesWithoutTheWordGlucoseRequireAMapping(_ name: String) throws {
    let low = ["0.6", "1.2", "0.9", "1.4", "2.2", "0.8"]
    let file = try ScratchFile(table(low, minutes: 1441, header: "time,\(name)"))
    let message = try #require(try file.refusal())
    #expect(message.contains("median is below 3.0") && message.contains("ketone=\(name)"), "\(message)")
    let map = ["time": "time", "value": name]
    #expect(try file.readings { $0.columns = map }.readings.count == 6)
    let normal = try ScratchFile(
      table(low.map { "6\($0.dropFirst())" }, minutes: 1441, header: "time,\(name)"))
    #expect(try normal.readings().readings.count == 6)
  }

  @Test func aColumnNamedForAKetoneSensorIsReadAsKetones() throws {
    let rows = Self.low.enumerated().map { row, value in
      "\(row + 1),2026-03-01 10:\(row < 10 ? "0" : "")\(row):00,\(value)\n"
    }
    let header = "No.,Time,Sensor reading(mmol/L)\n"
    let readings = try ScratchFile(header + rows.joined()).readings().readings
    #expect(readings.count == 30 && readings.allSatisfy { $0.kind == .ketone })
    // If the values are too high for ketones, the name does not decide, and the table is refused.
    let high = rows.map { $0.replacing(",1.", with: ",6.") }.joined()
    let message = try #require(try refusal(header + high))
    #expect(message.contains("ketone=") && message.contains("value="), "\(message)")
  }

  // MARK: Decimals

  /// A smooth curve, as predictions are.
  private static let curve = (0..<30).map { "\(140 + Double($0 * $0 % 97) / 7.3)" }

  @Test func valuesWithManyDecimalsAreAQuestion() throws {
    let file = try ScratchFile(table(["178", "178"] + Self.curve, header: "time,glucose (mg/dL)"))
    let message = try #require(try file.refusal())
    #expect(message.contains("of 32 values with more decimals") && message.contains("--force"), "\(message)")
    #expect(try file.readings { $0.force = true }.readings.count == 32)
    let mapped = try file.refusal { $0.columns = ["time": "time", "value": "glucose (mg/dL)"] }
    #expect(mapped?.contains("with more decimals") == true)
    let inMillimoles = (0..<30).map { "\(7 + Double($0 * $0 % 97) / 73.7)" }
    #expect(
      try refusal(table(inMillimoles, header: "time,glucose (mmol/L)"))?.contains("more decimals") == true)
  }

  /// The form in which LoopKit writes its predictions.
  @Test func aJSONListOfPredictionsIsAQuestion() throws {
    let objects = Self.curve.enumerated().map { place, value in
      let time = DeviceTime(seconds: Self.start + Int64(place * 300)).text
      return #"{"startDate":"\#(time)-0800","value":\#(value),"unit":"mg/dL"}"#
    }
    #expect(try refusal("[\(objects.joined(separator: ","))]")?.contains("with more decimals") == true)
  }

  /// Programs convert values between the units with several factors, and write numbers of 32 bits.
  @Test(arguments: [18, 18.0156, 18.01559, 18.0182, 18.02])
  func valuesThatAProgramConvertedAreRead(_ factor: Double) throws {
    let tenths = (0..<40).map { (row: Int) -> Double in Double(40 + row * 37 % 71) / 10 }
    for values in [tenths.map { $0 * factor }, tenths.map { ($0 * factor * 1000).rounded() / 1000 }] {
      #expect(try refusal(table(values.map { "\($0)" }, header: "time,glucose (mg/dL)")) == nil)
    }
    let whole = varied(40).compactMap(Double.init).map { "\($0 / factor)" }
    #expect(try refusal(table(whole, header: "time,glucose (mmol/L)")) == nil)
    let floats = tenths.map { "\(Double(Float($0)))" }
    #expect(try refusal(table(floats, header: "time,glucose (mmol/L)")) == nil)
    let hundredths = tenths.map { (value: Double) -> String in "\(Double(Float(value * 17 + 0.25)))" }
    #expect(try refusal(table(hundredths, header: "time,glucose (mg/dL)")) == nil)
  }

  @Test func aFewValuesWithManyDecimalsAmongOthersAreRead() throws {
    #expect(try refusal(table(varied(30) + Self.curve.prefix(12), header: "time,glucose (mg/dL)")) == nil)
  }
}
