// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import Testing

@Suite struct ClarityTests {
  private static let header =
    "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Event Subtype,Patient Info,Device Info,"
    + "Source Device ID,Glucose Value (mg/dL),Insulin Value (u),Carb Value (grams),Duration (hh:mm:ss),"
    + "Glucose Rate of Change (mg/dL/min),Transmitter Time (Long Integer),Transmitter ID"
  private static let shortHeader = header.split(separator: ",").prefix(12).joined(separator: ",")

  private static func estimate(_ time: String, _ value: String, _ tick: Int, _ transmitter: String = "8AAAA1")
    -> String
  {
    "7,\(time),EGV,,,,Android G6,\(value),,,,,\(tick),\(transmitter)"
  }

  private static func shortEstimate(_ time: String, _ value: String, source: String = "Android G6") -> String
  {
    "7,\(time),EGV,,,,\(source),\(value),,,,"
  }

  private static func read(_ lines: [String], zone: String = "Europe/Madrid", newline: String = "\n") throws
    -> TextExport
  {
    try TextExport(lines.joined(separator: newline) + newline, zone: zone)
  }

  // MARK: Truncated files

  @Test(arguments: [
    "clarity-cut.csv", "clarity-mgdl-de.csv", "clarity-12col-repeated-hour.csv", "clarity-mgdl-es.csv",
  ])
  func aTruncatedClarityFileProducesNoItemThatTheCompleteFileLacks(_ name: String) throws {
    let bytes = try TextExport.sample("clarity/\(name)")
    let newline: [UInt8] = bytes.last == 0x0A ? [] : [0x0A]
    let whole = try TextExport(bytes: name == "clarity-cut.csv" ? bytes + Array("AA1".utf8) + newline : bytes)
    for length in TextExport.cuts(of: bytes) {
      let cut = try TextExport(bytes: Array(bytes[..<length]))
      #expect(cut.readingTexts.isSubset(of: whole.readingTexts), "cut at \(length)")
      #expect(cut.recordTexts.isSubset(of: whole.recordTexts), "cut at \(length)")
    }
  }

  @Test func aCompleteLastClarityLineWithoutALineEndIsRead() throws {
    let lines = [
      Self.header, Self.estimate("2026-05-01T08:00:00", "110", 600),
      Self.estimate("2026-05-01T08:05:00", "111", 900),
    ]
    let export = try TextExport(lines.joined(separator: "\n"))
    #expect(export.readings.count == 2)
    #expect(export.end == .whole)
    let short = [Self.shortHeader, Self.shortEstimate("2026-05-01T08:00:00", "110")]
    #expect(try TextExport(short.joined(separator: "\n")).readings.count == 1)
  }

  @Test func aTransmitterNamedOnlyInTheLastClarityLineMayBeTruncated() throws {
    let lines = [
      Self.header, Self.estimate("2026-05-01T08:00:00", "110", 600),
      Self.estimate("2026-05-01T08:05:00", "111", 900, "8AAAA"),
    ]
    let export = try TextExport(lines.joined(separator: "\n"))
    #expect(export.readings.count == 1)
    #expect(export.isTruncated)
    #expect(export.rejections.isEmpty)
  }

  @Test func aLastClarityCalibrationWithoutItsTransmitterIsTruncated() throws {
    let lines = [
      Self.header, Self.estimate("2026-05-01T08:00:00", "110", 600),
      "8,2026-05-01T08:01:00,Calibration,,,,Android G6,121,,,,,",
    ]
    let export = try TextExport(lines.joined(separator: "\n"))
    #expect(export.readings.count == 1)
    #expect(export.isTruncated)
  }

  // MARK: Headers

  @Test func aClarityFileWithOnlyAHeaderIsAnEmptyExport() throws {
    let export = try TextExport(Self.header)
    #expect(export.readings.isEmpty && export.rejections.isEmpty)
    #expect(export.end == .whole)
  }

  @Test func clarityColumnsInAnotherOrderAreFoundByName() throws {
    let export = try Self.read([
      "Glucose Value (mmol/L),Event Type,Transmitter ID,datetime,Transmitter Time (Long Integer)",
      "5.5,EGV,8AAAA1,2026-05-01 08:00:00,600",
      "9.9,Alert,,2026-05-01 08:01:00,",
    ])
    #expect(export.readingTexts == ["8AAAA1 cbg tick 600 2026-05-01T08:00:00 5.5"])
    #expect(export.skipped == ["Alert": 1])
  }

  @Test func rowNumbersAddedBeforeATranslatedClarityHeaderAreRecognised() throws {
    let sample = try String(decoding: TextExport.sample("clarity/clarity-mgdl-es.csv"), as: UTF8.self)
    let shifted = sample.split(separator: "\n").map { "0;" + $0 }.joined(separator: "\n") + "\n"
    let plain = try TextExport(sample)
    let export = try TextExport(shifted)
    #expect(export.readingTexts == plain.readingTexts)
    #expect(export.recordTexts == plain.recordTexts)
    #expect(!plain.readings.isEmpty)
  }

  @Test func aTableWithoutEventTypesIsNotRecognisedAsClarity() throws {
    #expect(throws: Failure.self) {
      _ = try TextExport("Timestamp,Glucose Value (mg/dL)\n2026-05-01T08:00:00,110\n") {
        $0.format = "clarity"
      }
    }
  }

  @Test(arguments: [
    ("Transmitter Time (Long Integer)", "Transmiter Time (Long Integer)", "transmitter time"),
    ("Event Type", "Event Typ", "event type"), ("Transmitter ID", "Transmitter", "transmitter id"),
  ])
  func aClarityColumnWithAMisspeltNameIsReportedAndRead(_ name: String, _ unusual: String, _ usual: String)
    throws
  {
    let row = Self.estimate("2026-05-01T08:00:00", "110", 600)
    let plain = try TextExport("\(Self.header)\n\(row)\n")
    let header = Self.header.replacing(name, with: unusual)
    try #require(header != Self.header)
    let misspelt = try TextExport("\(header)\n\(row)\n")
    #expect(misspelt.readingTexts == plain.readingTexts && !plain.readings.isEmpty)
    #expect(misspelt.warnings == ["unknown column '\(unusual)': read as '\(usual)', because of its position"])
  }

  @Test func anAppendedClarityColumnDoesNotReplaceAMissingOne() throws {
    let export = try TextExport(
      Self.shortHeader + ",Mood\n" + Self.shortEstimate("2026-05-01T08:00:00", "110") + ",7\n")
    #expect(export.readings.map(\.positionKind) == [.time])
    #expect(export.warnings == ["unknown column 'Mood': not read"])
  }

  @Test func clarityPortionsAreNotConvertedToGrams() throws {
    let header = Self.header.replacing("(grams)", with: "(servings)")
    try #require(header != Self.header)
    let export = try TextExport("\(header)\n1,2026-05-01T08:00:00,Carbs,,,,Android G6,,,2,,,,\n")
    #expect(export.records.map(\.fields) == [RecordFields(["servings": .number(2)])])
  }

  @Test func aClarityHeaderWithoutAUnitIsRefused() throws {
    let lines = [
      Self.header.replacing(" (mg/dL)", with: ""), Self.estimate("2026-05-01T08:00:00", "110", 600),
    ]
    #expect(throws: Failure.self) {
      _ = try TextExport(lines.joined(separator: "\n")) { $0.format = "clarity" }
    }
  }

  @Test func theUnitInAJoinedClarityFileIsThatOfTheHeaderAbove() throws {
    let export = try TextExport(bytes: TextExport.sample("clarity/clarity-joined.csv"))
    #expect(
      export.readings.map(\.measurement.unit.name) == [
        "mg/dL", "mg/dL", "mg/dL", "mmol/L", "mmol/L", "mmol/L",
      ])
    #expect(export.warnings.count == 1)
  }

  // MARK: Values

  @Test func aClarityValueInTheOtherUnitIsRejectedWithoutShowingItsNumber() throws {
    let export = try Self.read([Self.header, Self.estimate("2026-05-01T08:00:00", "5.6", 600)])
    #expect(export.readings.isEmpty)
    let reason = try #require(export.rejections.first?.reason)
    #expect(reason.contains("mg/dL") && !reason.contains("5.6"))
  }

  @Test(arguments: [
    "9223372036854775807", "-9223372036854775808", "9223372036854770000.0", "7573.5", "4E+06",
  ])
  func aClarityRowWithAnImpossibleTransmitterTimeIsRejected(_ tick: String) throws {
    let row = Self.estimate("2025-10-26T02:30:00", "110", 600).replacing(",600,", with: ",\(tick),")
    let export = try Self.read([Self.header, Self.estimate("2025-10-26T01:30:00", "110", 600), row, row])
    #expect(export.readings.count == 1)
    #expect(export.rejections.map(\.line) == [3, 4])
  }

  @Test func clarityAlertLimitsAreNotReadAsReadings() throws {
    let export = try Self.read([
      Self.header, "1,,FirstName,,Sample,,,,,,,,", "4,,Alert,High,,,Android G6,250,,,,,",
      Self.estimate("2026-05-01T08:00:00", "110", 600),
    ])
    #expect(export.readings.count == 1)
    #expect(export.skipped == ["settings": 2])
  }

  @Test func aClarityReadingWithoutATimeIsRejectedAndNotReadAsASetting() throws {
    let export = try Self.read([Self.header, Self.estimate("", "110", 600)])
    #expect(export.rejections.map(\.reason) == ["the event has no time"])
    #expect(export.skipped.isEmpty)
  }

  @Test func aClarityFileWithSemicolonsMayHaveDecimalPoints() throws {
    let head = Self.header.replacing(",", with: ";")
    let export = try Self.read([
      head, "1;2026-05-01T08:00:00;Insulin;Fast-Acting;;;Android G6;;4.50;;;;",
      "2;2026-05-01T09:00:00;Insulin;Fast-Acting;;;Android G6;;4,50;;;;",
    ])
    #expect(export.recordTexts == [#"insulin 2026-05-01T08:00:00 {"subtype":"rapid","units":4.5}"#])
    #expect(export.rejections.map(\.line) == [3])
    #expect(export.decision("decimal-mark") == "point (inferred)")
  }

  @Test func clarityValuesSplitByADecimalCommaAreRejected() throws {
    let export = try Self.read([
      Self.header.replacing("mg/dL", with: "mmol/L"), Self.estimate("2026-05-01T08:00:00", "5,6", 600),
      "2,2026-05-01T08:01:00,Insulin,Fast-Acting,,,Android G6,,4,50,,,,",
      "3,2026-05-01T08:02:00,Carbs,,,,Android G6,,,15,5,,,",
    ])
    #expect(export.readings.isEmpty && export.records.isEmpty)
    #expect(export.rejections.map(\.line) == [2, 3, 4])
  }

  @Test func aClarityReadingInAnUnknownLanguageIsRecognisedByItsTransmitterTime() throws {
    let export = try Self.read([
      Self.header, "1,2026-05-01T08:00:00,Glukoza,,,,Android G6,110,,,,,600,8AAAA1",
      "2,2026-05-01T08:05:00,Kalibracja,,,,Android G6,111,,,,,,8AAAA1",
    ])
    #expect(export.readings.map(\.kind) == [.cbg, .smbg])
    #expect(export.readings.map(\.marks) == [[], .calibration])
  }

  @Test func textOfADamagedClarityRowIsNotCountedAsAnEventName() throws {
    let text = "called Sample Person at home, who felt rather unwell".replacing(",", with: "")
    let export = try Self.read([Self.header, "1,2026-05-01T08:00:00,\(text),,,,,,,,,,"])
    #expect(export.skipped == ["other event": 1])
  }

  @Test func manyUnknownClarityEventTypesAreCountedUnderOneName() throws {
    let rows = (0..<100).map { "1,2026-05-01T08:00:00,Type \($0),,,,,,,,,," }
    let export = try Self.read([Self.header] + rows)
    #expect(export.skipped.count == 33)
    #expect(export.skipped["other event"] == 68)
  }

  // MARK: Times

  @Test func inARepeatedHourTheTransmitterTimeDeterminesTheOffset() throws {
    let export = try TextExport(bytes: TextExport.sample("clarity/clarity-dst-fallback.csv"))
    let utc = export.readings.map { $0.deviceTime.seconds - Int64($0.placement.utcOffset) - $0.position }
    #expect(Set(export.readings.map(\.position)).count == 32)
    #expect(export.readings.filter { $0.placement.source == .ticks }.count == 24)
    #expect(Set(utc).count == 1)
  }

  @Test func transmitterTimesDetermineTheOffsetsInARepeatedHalfHour() throws {
    let bytes = try TextExport.sample("clarity/clarity-dst-lord-howe.csv")
    let export = try TextExport(bytes: bytes, zone: "Australia/Lord_Howe")
    let utc = export.readings.map { $0.deviceTime.seconds - Int64($0.placement.utcOffset) - $0.position }
    #expect(export.readings.filter { $0.placement.source == .ticks }.count == 12)
    #expect(Set(utc).count == 1)
  }

  @Test func aRepeatedHourWithoutAnEarlierReadingIsReadAsItsFirstPass() throws {
    let export = try Self.read([
      Self.header, Self.estimate("2025-10-26T02:30:00", "110", 600),
      Self.estimate("2025-10-26T02:30:00", "120", 4200),
    ])
    #expect(export.readings.map(\.placement.source) == [.zoneOverlap, .zoneOverlap])
    #expect(export.readings.map(\.placement.utcOffset) == [7200, 7200])
  }

  @Test func aSecondClarityDisplayDoesNotChangeTheOffsetsOfTheFirst() throws {
    let other = Self.estimate("2025-10-25T20:00:00", "100", 600).replacing("Android G6", with: "Receiver")
    let export = try Self.read([
      Self.header, other, Self.estimate("2025-10-26T02:30:00", "110", 24000),
    ])
    #expect(export.readings.last?.placement.source == .zoneOverlap)
  }

  @Test func clarityReadingsAfterAClockSetBackAreMarkedUntilItCatchesUp() throws {
    let times = ["09:00", "09:10", "09:05", "09:10", "09:11", "09:20"]
    let export = try Self.read(
      [Self.shortHeader] + times.map { Self.shortEstimate("2026-05-01T\($0):00", "110") })
    #expect(
      export.readings.map { $0.marks.contains(.clockSetBack) } == [false, false, true, true, false, false])
  }

  @Test func aHeaderInTheMiddleOfAClarityFileIsNotTakenForAClockSetBack() throws {
    let rows = [
      Self.shortHeader, Self.shortEstimate("2026-05-01T09:00:00", "110"),
      Self.shortEstimate("2026-05-01T09:05:00", "111"),
    ]
    let export = try Self.read(rows + rows)
    #expect(export.readings.count == 4)
    #expect(export.readings.allSatisfy { $0.marks.isEmpty })
  }

  @Test func clarityReadingsNewestFirstAreNotTakenForAClockSetBack() throws {
    let times = ["09:10", "09:05", "09:00"]
    let export = try Self.read(
      [Self.shortHeader] + times.map { Self.shortEstimate("2026-05-01T\($0):00", "110") })
    #expect(export.readings.allSatisfy { $0.marks.isEmpty })
  }

  @Test func twoClarityDisplaysInSequenceAreNotTakenForAClockSetBack() throws {
    let export = try Self.read([
      Self.shortHeader, Self.shortEstimate("2026-05-01T09:00:00", "110"),
      Self.shortEstimate("2026-05-01T09:05:00", "110"),
      Self.shortEstimate("2026-05-01T09:01:00", "111", source: "Receiver"),
    ])
    #expect(export.readings.allSatisfy { $0.marks.isEmpty })
  }

  @Test func aDaylightSavingChangeIsNotTakenForAClockSetBack() throws {
    let times = ["02:50", "02:55", "02:00", "02:05", "03:00"]
    let export = try Self.read(
      [Self.shortHeader] + times.map { Self.shortEstimate("2025-10-26T\($0):00", "110") })
    #expect(export.readings.allSatisfy { $0.marks.isEmpty })
    #expect(export.readings.prefix(4).allSatisfy { $0.timeCanRepeat })
  }

  @Test func clarityReadingsWithTransmitterTimesAreNeverMarkedAsClockSetBack() throws {
    let export = try TextExport(bytes: TextExport.sample("clarity/clarity-clock-change.csv"))
    #expect(export.readings.allSatisfy { $0.marks.isEmpty && $0.positionKind == .tick })
  }

  @Test func clarityDatesRewrittenByASpreadsheetHaveOneOrderOrAreRefused() throws {
    let open = [Self.header] + ["03/04/2026", "03/04/2026"].map { Self.estimate("\($0) 08:00", "110", 600) }
    #expect(throws: Failure.self) { _ = try Self.read(open) }
    let given = try TextExport(open.joined(separator: "\n") + "\n") { $0.dateOrder = "mdy" }
    #expect(given.readings.first?.deviceTime.text == "2026-03-04T08:00:00")
    #expect(given.decision("date-order") == "month first (given)")
    let decided = try Self.read(open + [Self.estimate("13/04/2026 08:00", "111", 900)])
    #expect(decided.readings.first?.deviceTime.text == "2026-04-03T08:00:00")
  }

  // MARK: Formats of the same days

  @Test func overlappingClarityExportsShareTheirTransmitterTimes() throws {
    let first = try TextExport(bytes: TextExport.sample("clarity/reexport-a.csv")).readings
    let second = try TextExport(bytes: TextExport.sample("clarity/reexport-b.csv")).readings
    let byTick = Dictionary(uniqueKeysWithValues: first.map { ($0.position, $0) })
    let shared = second.compactMap { later in byTick[later.position].map { ($0, later) } }
    #expect(shared.count == 18)
    #expect(shared.filter { !$0.measurement.agrees(with: $1.measurement) }.count == 11)
    #expect(
      shared.filter { $0.deviceTime != $1.deviceTime }.map { $1.deviceTime.seconds - $0.deviceTime.seconds }
        == [3600])
  }

  @Test func aClarityFileInUTF16HasTheSameItems() throws {
    let text = try String(
      decoding: TextExport.sample("clarity/clarity-mgdl-de.csv").dropFirst(3), as: UTF8.self)
    let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    let export = try TextExport(bytes: wide)
    let plain = try TextExport(text)
    #expect(export.readingTexts == plain.readingTexts)
    #expect(export.recordTexts == plain.recordTexts)
    #expect(plain.records.count == 6)
  }

  // MARK: Japanese

  @Test func aTypedValueOfAJapaneseClarityExportIsAFingerStick() throws {
    let export = try TextExport(bytes: TextExport.sample("clarity/clarity-mgdl-ja.csv"))
    #expect(export.readings.map(\.kind) == [.cbg, .cbg, .smbg])
    #expect(export.readings.map(\.marks) == [[], [], .manual])
    #expect(
      export.recordTexts == [
        #"food 2026-02-03T22:10:00 {"carbs":45}"#,
        #"exercise 2026-02-03T22:20:00 {"intensity":"light","minutes":45}"#,
      ])
    #expect(export.skipped == ["settings": 4] && export.rejections.isEmpty)
  }

  @Test func aTypedClarityValueWithAnUnknownNameIsNotRead() throws {
    let text = String(decoding: try TextExport.sample("clarity/clarity-mgdl-ja.csv"), as: UTF8.self)
    let export = try TextExport(text.replacing("空腹時グルコース", with: "目標"))
    #expect(export.readings.map(\.kind) == [.cbg, .cbg])
  }

  // MARK: Words for Low and High

  private static let canadian =
    "Index,Horodateur (AAAA-MM-JJThh:mm:ss),Type d’événement,Sous-type d’événement,Informations du patient,"
    + "Informations sur l’appareil,ID de l’appareil source,Valeur de glycémie (mmol/L),Taux d’insuline (u),"
    + "Valeur glycémique (grammes),Durée (hh:mm:ss),Vitesse de variation de la glycémie (mmol/L/min),"
    + "Heure de l’émetteur (Nombre entier long),ID du transmetteur"

  private static func canadian(
    _ minute: Int, _ value: String, _ subtype: String = "", sensor: String = "8AAAA1"
  ) -> String {
    "7,2026-05-01T08:\(minute < 10 ? "0" : "")\(minute):00,Valeur de glycémie estimée,\(subtype),,,iPhone G6,"
      + "\(value),,,,,\(6000 + minute * 60),\(sensor)"
  }

  private static func kinds(_ rows: [String]) throws -> (export: TextExport, values: [String]) {
    let export = try read([canadian] + rows)
    let values = export.readings.sorted { $0.position < $1.position }.map { reading in
      switch reading.measurement {
      case .value(let quantity): plainNumber(quantity.number)
      case .low(let limit, _): "low \(limit ?? 0)"
      case .high(let limit, _): "high \(limit ?? 0)"
      }
    }
    return (export, values)
  }

  @Test func aCanadianFrenchClarityExportIsReadWithItsDecimalCommas() throws {
    let export = try TextExport(bytes: TextExport.sample("clarity/clarity-mmol-fr-ca.csv"))
    #expect(export.readings.count { $0.kind == .cbg } == 7 && export.readings.count { $0.kind == .smbg } == 1)
    #expect(export.readings.count { $0.measurement == .low(below: 2.2, .millimolesPerLitre) } == 1)
    #expect(export.readings.count { $0.measurement == .high(above: 22.2, .millimolesPerLitre) } == 1)
    #expect(
      export.recordTexts == [
        #"food 2026-09-12T06:28:03 {"carbs":24}"#,
        #"insulin 2026-09-12T11:20:00 {"subtype":"rapid","units":3.5}"#,
      ])
    #expect(export.rejections.isEmpty)
  }

  @Test(arguments: [
    ("Glycémie basse", "low 2.2"), ("Glycémie élevée", "high 22.2"), ("Niedrig", "low 2.2"),
    ("Alto", "high 22.2"), ("Νίζκα ниска", "low 2.2"), ("Vysoká", "high 22.2"), ("低", "low 2.2"),
  ])
  func aClarityWordForLowOrHighIsRecognisedByItsStem(_ word: String, _ level: String) throws {
    #expect(try Self.kinds([Self.canadian(0, word, word)]).values == [level])
  }

  @Test func aNearbyValueShowsWhetherAnUnknownClarityWordMeansLowOrHigh() throws {
    let (low, before) = try Self.kinds([Self.canadian(0, "\"3,9\""), Self.canadian(5, "Qqq", "Qqq")])
    #expect(before == ["3.9", "low 2.2"] && low.rejections.isEmpty)
    let rows = [Self.canadian(0, "Qqq", "Qqq"), Self.canadian(14, "Qqq", "Qqq"), Self.canadian(25, "15")]
    let (high, after) = try Self.kinds(rows)
    #expect(after == ["high 22.2", "high 22.2", "15"] && high.rejections.isEmpty)
  }

  /// A distant value, a value in the middle of the range, or a value of another sensor proves neither Low nor
  /// High.
  @Test(arguments: [
    (canadian(0, "\"3,9\""), canadian(16, "Qqq", "Qqq")), (canadian(0, "8"), canadian(5, "Qqq", "Qqq")),
    (canadian(0, "\"3,9\"", sensor: "8BBBB2"), canadian(5, "Qqq", "Qqq")),
  ])
  func anUnknownClarityWordIsRejectedIfNoNearbyValueShowsItsMeaning(_ value: String, _ word: String) throws {
    let (export, values) = try Self.kinds([value, word])
    #expect(values.count == 1 && export.rejections.count == 1)
    #expect(export.rejections.first?.reason.contains("'qqq'") == true)
  }

  @Test(arguments: ["basal", "12 basse", "Glycémie", "low high"])
  func unrelatedClarityWordsAreNotReadAsLowOrHigh(_ word: String) throws {
    let (export, values) = try Self.kinds([Self.canadian(0, "8"), Self.canadian(5, word)])
    #expect(values == ["8"] && export.rejections.count == 1)
  }
}
