// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests Lingo, Juggluco and Glucose Buddy.
@Suite struct SmallExportTests {
  // MARK: Lingo

  private static let lingo = "Time of Glucose Reading [T=(local time) +/- (time zone offset)], "

  @Test func lingoReadingsOfBothPassesOfARepeatedHourAreKept() throws {
    let export = try TextExport(bytes: TextExport.sample("lingo/lingo-mgdl-repeated-hour.csv"))
    #expect(export.readings.map(\.position) == [1_762_065_000, 1_762_061_400])
    #expect(Set(export.readings.map(\.deviceTime)).count == 1)
    #expect(export.readings.map(\.placement.utcOffset) == [-18000, -14400])
    #expect(export.rejections.map(\.line) == [4] && export.skipped == ["row without a value": 1])
  }

  @Test func aLingoFileWithoutAFinalLineEndIsComplete() throws {
    let export = try TextExport(bytes: TextExport.sample("lingo/lingo-mmol.csv"))
    #expect(export.readings.map { $0.measurement.quantity?.number } == [5.8, 5.7, 5.6])
    #expect(!export.isTruncated)
    let cut = try TextExport(bytes: TextExport.sample("lingo/lingo-mmol.csv").dropLast(2) + [])
    #expect(cut.readings.count == 2 && cut.isTruncated)
  }

  @Test(arguments: [
    lingo + "Measurement\n", lingo + "Measurement(mmHg)\n", lingo + "Measurement(mg/dL),Notes\n",
    "Time of Glucose Reading,Measurement(mg/dL)\n",
  ])
  func anotherTableIsNotRecognisedAsLingo(_ header: String) throws {
    #expect(try !Claims.claims(header, LingoFormat.self))
    #expect(try Claims.claims(Self.lingo + "Measurement(mg/dL)\n", LingoFormat.self))
  }

  // MARK: Juggluco

  @Test func calibratedJugglucoHistoryHasItsValueInAnotherColumn() throws {
    let history = try TextExport(bytes: TextExport.sample("juggluco/history-calibrated.tsv"))
    let stream = try TextExport(bytes: TextExport.sample("juggluco/stream-calibrated.tsv"))
    #expect(history.readings.map { $0.measurement.quantity?.number } == [6.5])
    #expect(stream.readings.map { $0.measurement.quantity?.number } == [6.5])
    #expect(stream.readings.map(\.placement.utcOffset) == [19800])
  }

  @Test func theInstantDeterminesTheOffsetOfAJugglucoReading() throws {
    let export = try TextExport(bytes: TextExport.sample("juggluco/history.tsv"))
    #expect(export.readings.map(\.position) == [1_779_000_000, 1_779_000_900])
    #expect(export.readings.first?.deviceTime.text == "2026-05-17T08:40:00")
    #expect(export.devices.map(\.serial) == ["XXSENSOR01"])
    #expect(export.skipped == ["row without a value": 1] && export.rejections.map(\.line) == [5])
    let scans = try TextExport(bytes: TextExport.sample("juggluco/history.tsv")) { $0.kind = .scan }
    #expect(scans.readings.map(\.kind) == [.scan, .scan])
  }

  @Test func aJugglucoAmountIsReadAsANoteWithItsLabel() throws {
    let export = try TextExport(bytes: TextExport.sample("juggluco/amounts.tsv"))
    #expect(export.readings.isEmpty)
    #expect(
      export.recordTexts == [
        #"note 2026-05-17T08:45:00 {"text":"Rapid 4"}"#, #"note 2026-05-17T08:46:00 {"text":"Carbs 30"}"#,
      ])
  }

  @Test(arguments: [
    "Sensorid\tnr\tTime\tYYYY-mm-ddTHH:MM:SS\tTZ\tMin\tmg/dL\n",
    "Sensorid\tnr\tUnixTime\tYYYY-mm-ddTHH:MM:SS\tTZ\tMin\tbpm\n",
    "nr\tSensorid\tUnixTime\tYYYY-mm-ddTHH:MM:SS\tTZ\tMin\tmg/dL\n", "Sensorid\tnr\tUnixTime\tmg/dL\n",
  ])
  func anotherTableIsNotRecognisedAsJuggluco(_ header: String) throws {
    #expect(try !Claims.claims(header, JugglucoFormat.self))
  }

  // MARK: JugglucoNG

  @Test func aDerivedJugglucoValueDoesNotReplaceTheMeasuredOne() throws {
    let export = try TextExport(bytes: TextExport.sample("juggluco-ng/export.csv"))
    let values: [Measurement] = [
      .value(Quantity(117, .milligramsPerDecilitre)), .value(Quantity(6.5, .millimolesPerLitre)),
    ]
    #expect(export.readings.map(\.measurement) == values)
    #expect(export.skipped == ["journal_entry": 1, "journal_insulin_preset": 1])
    #expect(export.rejections.map(\.line) == [6, 7] && export.warnings.isEmpty)
  }

  @Test func aReadingIsTheSameInBothJugglucoTables() throws {
    let table = try TextExport(bytes: TextExport.sample("juggluco/history.tsv"))
    let other = try TextExport(bytes: TextExport.sample("juggluco-ng/export.csv"))
    #expect(table.readings.first?.position == other.readings.first?.position)
    #expect(table.devices.first?.serial == other.devices.first?.serial)
    #expect(table.devices.first?.vendor == other.devices.first?.vendor)
  }

  @Test(arguments: [
    "Timestamp,Date,Value,Unit\n", "Date,Timestamp,Value,Unit,SensorSerial\n",
    "Timestamp,Value,Unit,SensorSerial\n",
  ])
  func anotherTableIsNotRecognisedAsJugglucoNG(_ header: String) throws {
    #expect(try !Claims.claims(header, JugglucoNGFormat.self))
  }

  // MARK: Glucose Buddy

  @Test func glucoseBuddyRowsAreReadWithTheirUnit() throws {
    let export = try TextExport(bytes: TextExport.sample("glucose-buddy/log.csv"))
    #expect(
      export.readings.map(\.measurement) == [
        .value(Quantity(12, .millimolesPerLitre)), .value(Quantity(6.4, .millimolesPerLitre)),
        .value(Quantity(101, .milligramsPerDecilitre)), .low(below: nil, .milligramsPerDecilitre),
      ])
    #expect(
      export.readings.map(\.marks) == [
        [.manual, .beforeMeal], [.manual, .afterMeal], .manual, .manual,
      ])
    #expect(export.readings.first?.deviceTime.text == "2025-11-10T08:30:34")
    #expect(export.skipped == ["Medication": 1] && export.rejections.map(\.line) == [7, 8])
  }

  @Test func aGlucoseBuddyTableIsReadWithoutItsHeader() throws {
    let row = #"BG,101,mg/dL,"",Bedtime,11/14/2025 22:30:00,"""# + "\n"
    #expect(try Claims.claims(row, GlucoseBuddyFormat.self))
    #expect(try TextExport(row).readings.count == 1)
    for other in [
      #"BG,101,U,"",Bedtime,11/14/2025 22:30:00,"""#, #"HR,101,mg/dL,"",Bedtime,11/14/2025 22:30:00,"""#,
      #"BG,101,mg/dL,11/14/2025 22:30:00"#, #"BG,101,mg/dL,"",Bedtime,today,"""#,
      "Type,Value,Unit,Date Time", "Name,Type,Value,Unit,Event,Date Time,Notes",
    ] {
      #expect(try !Claims.claims(other + "\n", GlucoseBuddyFormat.self), "\(other)")
    }
  }
}
