// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests zones and persons named outside the rows of a table or JSON, and lists in JSON that are not read.
@Suite struct GenericTitleTests {
  private static let table =
    "time,glucose (mg/dL)\n2026-05-01 07:00,101\n2026-05-01 12:10,104\n2026-05-02 07:04,118\n"
  private static let list =
    #"[{"time":"2026-05-01 07:00","glucose":101},{"time":"2026-05-01 12:10","glucose":104}]"#
  /// The same list, in which each time ends with `Z`.
  private static let stated = list.replacing(":00\"", with: ":00:00Z\"").replacing(":10\"", with: ":10:00Z\"")

  @Test(arguments: [
    "# Time zone: America/New_York\n", "Timezone,America/New_York\n\n", "Time zone,EST\n",
    "America/New_York\n",
    "Zeitzone: UTC+01:00\n",
  ])
  func aTableBelowATimeZoneIsRefusedUntilTheTimeZoneIsGiven(_ title: String) throws {
    let file = try ScratchFile(title + Self.table)
    let message = try #require(try file.refusal(), "\(title)")
    #expect(message.contains("is named outside of the rows") && message.contains("--timezone"), "\(message)")
    #expect(try file.readings { $0.zoneIsGiven = true }.readings.count == 3)
  }

  @Test(arguments: [
    "Generated: 2026-05-03 10:00 UTC\n", "# Zone 2 training\n", "EST\n", "Notes: CET\n", "Export,2026/05\n",
  ])
  func aTitleThatOnlyResemblesATimeZoneIsIgnored(_ title: String) throws {
    #expect(try ScratchFile(title + Self.table).readings().readings.count == 3)
  }

  @Test(arguments: [
    #""timezone":"America/New_York""#, #""meta":{"tz":"America/New_York"}"#, #""utcOffset":"-05:00""#,
  ])
  func jsonThatNamesATimeZoneOnceIsRefusedUntilTheTimeZoneIsGiven(_ member: String) throws {
    let file = try ScratchFile("{\(member),\"readings\":\(Self.list)}")
    #expect(try file.refusal()?.contains("is named outside of the rows") == true, "\(member)")
    #expect(try file.readings { $0.zoneIsGiven = true }.readings.count == 2)
    // Times with offsets need no zone.
    #expect(try ScratchFile("{\(member),\"readings\":\(Self.stated)}").readings().readings.count == 2)
  }

  @Test func aJSONMemberThatNamesNoTimeZoneIsIgnored() throws {
    let file = try ScratchFile(#"{"zone":"2","tz":"","readings":\#(Self.list)}"#)
    #expect(try file.readings().readings.count == 2)
  }

  @Test(arguments: ["manualReadings", "fingersticks", "archive"])
  func aSecondJSONListOfReadingsIsRejected(_ name: String) throws {
    for text in [
      #"{"readings":\#(Self.list),"\#(name)":\#(Self.list)}"#,
      #"{"\#(name)":\#(Self.list),"readings":\#(Self.list)}"#,
    ] {
      let export = try TextExport(text)
      #expect(export.readings.count == 2 && export.rejections.count == 1)
      #expect(export.rejections.first?.reason.contains("'\(name)'") == true)
    }
  }

  @Test(arguments: [
    #""predictions":[{"time":"2026-05-01 07:00","glucose":1}]"#,
    #""averages":[{"date":"2026-05-01","glucose":101}]"#,
    #""meals":[{"time":"2026-05-01 07:00","carbs":30}]"#, #""tags":["a"]"#, #""empty":[]"#,
    #""user":{"age":3}"#,
  ])
  func jsonListsOfOtherThingsThanReadingsAreIgnored(_ member: String) throws {
    for text in [#"{"readings":\#(Self.list),\#(member)}"#, #"{\#(member),"readings":\#(Self.list)}"#] {
      let export = try TextExport(text)
      #expect(export.readings.count == 2 && export.rejections.isEmpty, "\(text)")
    }
  }

  private static func persons(_ text: String) throws -> [StatedPerson] {
    let file = try ScratchFile(text)
    return try withExtendedLifetime(file) {
      try InputReader(path: file.url.path, options: Rendering.options()).statedPersons
    }
  }

  @Test(arguments: [
    "Name:Anna Muster,Date Range:2026\n", "# Patient: Anna Muster\n", "Patient Name,Anna Muster\n",
    "Name,Anna Muster\n", "Patient;Anna Muster\n", "Name\tAnna Muster\n", "Patient;Muster, Anna;Female\n",
    "# patient: MUSTER, anna\n", "Name,Muster,Anna\n", "Blood glucose log of Anna Muster\n",
    "# Blood sugar diary for Anna Muster (born 1980)\n", "Blutzuckertagebuch von Muster, Anna\n",
    "Journal de glycémie de Anna Muster\n", "Anna Muster's blood sugar log\n",
    "Glucose diary - Anna Muster\n",
    "\"Diary: Anna Muster\"\n", "Dexcom readings of Anna Muster, May 2026\n",
  ])
  func aNameInATitleAboveATableIsStatedAsThePerson(_ title: String) throws {
    let name = try #require(StatedPerson(name: "Anna Muster"))
    #expect(try Self.persons(title + Self.table) == [name])
    #expect(try Self.persons(title + Self.table.replacing(",", with: ";")) == [name])
  }

  @Test func wordsForASexOrALogAreNotPartOfAPersonsName() throws {
    let name = try #require(StatedPerson(name: "Anna"))
    #expect(try Self.persons("Name,Anna,Female\n" + Self.table) == [name])
    for title in ["Glucose log of Anna\n", "Tagebuch Anna\n", "# Diary Anna\n"] {
      #expect(try Self.persons(title + Self.table) == [name], "\(title)")
    }
    #expect(
      try Self.persons("Mom's blood sugar log\n" + Self.table) == [try #require(StatedPerson(name: "Mom"))])
  }

  @Test func anIDAndADateOfBirthAboveATableAreStatedOfThePerson() throws {
    let stated = try Self.persons("Patient ID: 1001\nDOB,1980-01-02\n" + Self.table)
    #expect(stated.map(\.kind) == [.id, .birthDate])
    #expect(try Self.persons("Patient ID: 1002\nDOB,1980-01-02\n" + Self.table) != stated)
  }

  @Test(arguments: [
    "Name: Blood sugar log\n", "Client: 4.2\n", "Patient:\n", "Report of May\n", "Name,Accu-Chek Guide\n", "",
    "Blood glucose log of May 2026\n", "Glucose readings of the last week\n", "Log of Contour Next\n",
    "Diabetes diary for Children\n", "Blutzuckertagebuch für Diabetiker\n", "Protokoll von Januar\n",
    "Today's glucose readings\n", "Glucose log for Dr. Smith\n", "Women's health report\n",
    "Glucose meter: Keto Mojo\n",
    "Report: Daily Summary\n", "Export of Health Connect\n", "Blood glucose log - Left hand\n",
    "Tagebuch Mai\n", "Tagebuch Diabetes\n", "Tagebuch Urlaub\n", "Diary Contour\n", "Diary entries\n",
    "Journal 2026\n", "Logbook Glucose\n", "Mean of Anna's walks\n", "Notes; nothing\n",
    "Glucose log, exported from Android\n",
  ])
  func titlesThatOnlyResembleANameStateNoPerson(_ title: String) throws {
    #expect(try Self.persons(title + Self.table).isEmpty, "\(title)")
  }

  @Test func sectionsBelowTitlesOfSeveralPersonsAreRefused() throws {
    let (one, other) = ("Glucose log of Anna Muster\n", "Glucose log of Bob Muster\n")
    let refusal = try ScratchFile(one + Self.table + other + Self.table).refusal()
    #expect(refusal?.contains("sections of several persons") == true)
    let same = "Glucose log of Muster, Anna\n"
    #expect(try ScratchFile(one + Self.table + same + Self.table).refusal() == nil)
  }

  @Test func aTitleIsReadIfTheColumnOfRowNumbersHasNoName() throws {
    let rows = Self.table.split(separator: "\n").enumerated().map { $0 == 0 ? $1 : "\($0)," + $1 }
    let text = "Patient: Anna Muster\n" + rows.joined(separator: "\n") + "\n"
    #expect(try Self.persons(text) == [try #require(StatedPerson(name: "Anna Muster"))])
  }

  @Test func aPersonNamedOutsideTheJSONObjectsIsStated() throws {
    let text = #"{"patient":{"name":"Anna","id":"1001"},"readings":\#(Self.list)}"#
    let stated = try Self.persons(text)
    #expect(
      stated == [
        try #require(StatedPerson(name: "Anna")),
        try #require(StatedPerson(id: "1001", of: "generic patient")),
      ])
    #expect(try Self.persons(text.replacing("Anna", with: "Bob").replacing("1001", with: "7")) != stated)
    #expect(try Self.persons(#"{"device":{"name":"G7","id":"1"},"readings":\#(Self.list)}"#).isEmpty)
  }
}
