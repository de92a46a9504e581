// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests tables of the Sibionics glucose sensor and of its ketone sensor. Their headers are nearly equal.
@Suite struct SibionicsTests {
  private static func numbers(_ export: TextExport) -> [Double?] {
    export.readings.map { $0.measurement.quantity?.number }
  }

  @Test func theUTCOffsetOfEachSibionicsTimeDeterminesItsInstant() throws {
    let export = try TextExport(bytes: TextExport.sample("sibionics/sensor-mgdl-pt.csv"))
    #expect(Self.numbers(export) == [163, 171, 450, 168, 92])
    #expect(export.readings.map(\.placement.utcOffset) == [-10800, -10800, -10800, -10800, 19800])
    #expect(export.readings.allSatisfy { $0.kind == .cbg && $0.positionKind == .tick })
    #expect(export.readings.first?.position == 1_781_744_100)
    #expect(export.readings.map(\.marks) == [[], [], .atLimit, [], []])
    let other = try TextExport(bytes: TextExport.sample("sibionics/sensor-mgdl-pt.csv"), zone: "Asia/Tokyo")
    #expect(other.readingTexts == export.readingTexts)
  }

  @Test func sibionicsTimesWithAMAndPMAreReadAcrossMidnight() throws {
    let export = try TextExport(bytes: TextExport.sample("sibionics/sensor-mmol-en-12h.csv"))
    #expect(
      export.readings.map(\.deviceTime.text) == [
        "2026-06-17T23:50:00", "2026-06-17T23:55:00", "2026-06-18T00:00:00", "2026-06-18T00:05:00",
      ])
    #expect(export.rejections.map(\.line) == [6])
  }

  @Test(arguments: [
    ("GMT", 0), ("GMT+0", 0), ("UTC", 0), ("GMT-3", -10800), ("GMT+08", 28800), ("GMT+5:30", 19800),
    ("UTC-11", -39600), ("GMT+15", nil), ("GMT+5:3", nil), ("GMT 3", nil), ("CET", nil), ("GMT+5:60", nil),
  ])
  func aSibionicsOffsetInWordsIsReadOrRefused(_ words: String, _ seconds: Int32?) throws {
    let header = "deviceModel,Hora,Leitura de sensor(mg/dL)\n"
    let first = ",13-05-2026 08:00 GMT+1,101\n"
    let export = try TextExport(header + first + ",13-05-2026 09:00 \(words),102\n")
    #expect(export.readings.dropFirst().map { $0.placement.utcOffset } == [seconds].compactMap(\.self))
    #expect(export.rejections.count == (seconds == nil ? 1 : 0))
  }

  /// The format is recognised by the layout of its columns and times, in any language.
  @Test(arguments: [
    ("Ora,Lettura del sensore(mg/dL)\n13-05-2026 08:00 GMT+2,101\n", true),
    ("deviceModel,時間,センサー値(mmol/L)\n,13-05-2026 08:00 GMT+9,5.6\n", true),
    ("Ora,Lettura del sensore(mg/dL)\n13-05-2026 08:00,101\n", false),
    ("Ora,Lettura del sensore\n13-05-2026 08:00 GMT+2,101\n", false),
    ("Ora,Nota,Lettura del sensore(mg/dL)\n13-05-2026 08:00 GMT+2,x,101\n", false),
    ("Ora,Lettura(mg/dL),Nota\n13-05-2026 08:00 GMT+2,101,x\n", false),
    ("Time,Sensor Reading(mg/dL)\n", true), ("Time,Value(mg/dL)\n", false),
  ])
  func aSibionicsTableIsRecognisedByItsLayout(_ text: String, _ isOwn: Bool) throws {
    #expect(try Claims.claims(text, SibionicsFormat.self) == isOwn)
  }

  /// Databases print times in this form, too.
  @Test(
    arguments: [
      ("Cholesterol(mg/dL)", "17", 300), ("Cholesterol (mg/dL)", "00", 5), ("Target(mg/dL)", "00", 300),
      ("Fingerstick (mg/dL)", "17", 300), ("Lactate(mmol/L)", "00", 240),
    ] as [(String, String, Int)])
  func aTableOfADatabaseIsNotTakenForOneOfSibionics(_ name: String, _ seconds: String, _ minutes: Int) throws
  {
    let rows = (0..<9).map { index in
      let minute = 60 + index * minutes % 1320
      let clock = "\(minute / 60 / 10)\(minute / 60 % 10):\(minute % 60 / 10)\(minute % 60 % 10)"
      return "13-05-2026 \(clock):\(seconds) UTC,10\(index)\n"
    }
    #expect(try !Claims.claims("time,\(name)\n" + rows.joined(), SibionicsFormat.self))
  }

  /// No word of these names is known, but the times are those of a sensor.
  @Test func aTableInAnUnknownLanguageIsReadIfItsTimesAreThoseOfASensor() throws {
    func rows(_ step: Int) -> String {
      (0..<9).map { "13-05-2026 0\($0 * step / 60):\($0 * step % 60 / 10)\($0 * step % 10) GMT+2,10\($0)\n" }
        .joined()
    }
    #expect(try Claims.claims("Aeg,Näit(mg/dL)\n" + rows(5), SibionicsFormat.self))
    #expect(try !Claims.claims("Aeg,Näit(mg/dL)\n" + rows(55), SibionicsFormat.self))
    #expect(try !Claims.claims("Aeg,Target(mg/dL)\n" + rows(5), SibionicsFormat.self))
    #expect(try Claims.claims("Zeit,Sensorwert (mg/dL)\n" + rows(55), SibionicsFormat.self))
    let given = try TextExport("Aeg,Näit(mg/dL)\n" + rows(55)) { $0.format = "sibionics" }
    #expect(given.readings.count == 9)
    #expect(try !Claims.claims("Aeg,Näit(mg/dL)\n13-05-2026 08:00 GMT+2,101\n", SibionicsFormat.self))
  }

  /// English dates have either order. The other languages with Latin letters put the day first.
  @Test func theLanguageOfASibionicsHeaderCanShowTheOrderOfDayAndMonth() throws {
    let row = "03-08-2026 10:36 GMT-3,143\n"
    let portuguese = try TextExport("Hora,Leitura de sensor(mg/dL)\n" + row)
    #expect(portuguese.readings.map(\.deviceTime.text) == ["2026-08-03T10:36:00"])
    for header in ["Time,Sensor Reading(mg/dL)\n", "時間,センサー値(mg/dL)\n"] {
      let failure = #expect(throws: Failure.self) { _ = try TextExport(header + row) }
      #expect(failure?.message.contains("--date-order") == true)
    }
  }

  @Test func aSibionicsHospitalTableStatesTheSensorAndNotThePerson() throws {
    let export = try TextExport(bytes: TextExport.sample("sibionics/hospital-mmol-zh.csv"))
    #expect(Self.numbers(export) == [7.9, 7.6] && export.devices.map(\.serial) == ["LT0000AA1Z"])
    #expect(export.skipped == ["row without a value": 1])
    #expect(!"\(export)".contains("某人"))
  }

  @Test(arguments: [
    "Time,Sensor Reading(mmol/L)\n", "Ora,Lettura del sensore(mmol/L)\n",
  ])
  func sibionicsGlucoseTablesWithKetoneLikeValuesAreRefused(_ header: String) throws {
    let rows = (0..<9).map { "13-05-2026 08:0\($0) GMT+1,\($0 < 5 ? "1.\($0)" : "3.\($0)")\n" }.joined()
    let failure = #expect(throws: Failure.self) { _ = try TextExport(header + rows) }
    #expect(failure?.message.contains("--kind ketone") == true && failure?.category == .badInput)
    let ketones = try TextExport(header + rows) { $0.kind = .ketone }
    #expect(ketones.readings.count == 9 && ketones.readings.allSatisfy { $0.kind == .ketone })
    let glucose = try TextExport(header + rows) { $0.kind = .cbg }
    #expect(glucose.readings.allSatisfy { $0.kind == .cbg })
  }

  @Test func aLastSibionicsValueThatMayHaveFurtherDigitsIsTruncated() throws {
    let text =
      "deviceModel,Hora,Leitura de sensor(mg/dL)\n,13-05-2026 08:05 GMT-3,171\n,13-05-2026 08:00 GMT-3,"
    for (value, count) in [("450", 2), ("45", 1), ("4", 1), ("", 1), ("98", 2)] {
      let export = try TextExport(text + value)
      #expect(export.readings.count == count && export.isTruncated == (count == 1), "\(value)")
    }
  }

  // MARK: The ketone sensor

  @Test func aTableOfTheSibionicsKetoneSensorIsNeverReadAsGlucose() throws {
    let export = try TextExport(bytes: TextExport.sample("sibio/ketone.csv"))
    #expect(
      Self.numbers(export) == [0.4, 0.7, 2.9, 3.8, 1.2] && export.readings.allSatisfy { $0.kind == .ketone })
    #expect(export.skipped == ["row without a value": 1] && export.rejections.isEmpty)
  }

  @Test func highValuesInATableOfTheSibionicsKetoneSensorAreRefused() throws {
    let text =
      "No.,Time,Sensor reading(mmol/L)\n"
      + (0..<9).map { "\($0),2026-05-13 08:0\($0):00,\($0 < 4 ? 2 : 6).\($0)\n" }.joined()
    let failure = #expect(throws: Failure.self) { _ = try TextExport(text) }
    #expect(failure?.message.contains("ketone=Sensor reading(mmol/L)") == true)
    #expect(failure?.message.contains("value=Sensor reading(mmol/L)") == true)
    let given = try TextExport(text) { $0.kind = .ketone }
    #expect(given.readings.count == 9 && given.readings.allSatisfy { $0.kind == .ketone })
  }

  /// A table is recognised by two of three signs: the column `No.`, the small r in `reading`, and the
  /// notation of the times.
  @Test(arguments: [
    ("No.,Time,Sensor reading(mmol/L)\n", true),
    ("Time,Sensor reading(mmol/L)\n2026-05-13 08:00:00,1.0\n", true),
    ("No.,Time,Sensor Reading(mmol/L)\n1,2026-05-13 08:00:00,1.0\n", true),
    ("No.,Time,Sensor reading(mmol/L),,\n1,2026-05-13 08:00:00,1.0,,\n", true),
    ("Time,Sensor Reading(mmol/L)\n2026-05-13 08:00:00,1.0\n", false),
    ("Time,Sensor reading(mmol/L)\n13-05-2026 08:00 GMT+1,5.6\n", false),
    ("No.,Time,Sensor reading(mg/dL)\n1,2026-05-13 08:00:00,104\n", false),
    ("No.,Time,Reading(mmol/L)\n1,2026-05-13 08:00:00,1.0\n", false),
  ])
  func aTableOfTheSibioSensorIsRecognisedByTwoSigns(_ text: String, _ isOwn: Bool) throws {
    #expect(try Claims.claims(text, SibioFormat.self) == isOwn)
  }
}
