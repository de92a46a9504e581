// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests what is above or around the rows of a table or of JSON: zones, persons, and lists that are not read.
@Suite struct GenericTitleTests {
  private static let table =
    "time,glucose (mg/dL)\n2026-05-01 07:00,101\n2026-05-01 12:10,104\n2026-05-02 07:04,118\n"
  private static let list =
    #"[{"time":"2026-05-01 07:00","glucose":101},{"time":"2026-05-01 12:10","glucose":104}]"#
  /// The same times, each with its offset.
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
    "Name,Anna Muster\n",
  ])
  func aNameInATitleAboveATableIsStatedAsThePerson(_ title: String) throws {
    let name = try #require(StatedPerson(name: "Anna Muster"))
    #expect(try Self.persons(title + Self.table) == [name])
  }

  @Test func anIDAndADateOfBirthAboveATableAreStatedOfThePerson() throws {
    let stated = try Self.persons("Patient ID: 1001\nDOB,1980-01-02\n" + Self.table)
    #expect(stated.map(\.kind) == [.id, .birthDate])
    #expect(try Self.persons("Patient ID: 1002\nDOB,1980-01-02\n" + Self.table) != stated)
  }

  @Test(arguments: [
    "Name: Blood sugar log\n", "Client: 4.2\n", "Patient:\n", "Report of May\n", "Name,Accu-Chek Guide\n", "",
  ])
  func titlesThatOnlyResembleANameStateNoPerson(_ title: String) throws {
    #expect(try Self.persons(title + Self.table).isEmpty, "\(title)")
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
