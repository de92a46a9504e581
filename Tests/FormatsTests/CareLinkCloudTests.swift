// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

@Suite struct CareLinkCloudTests {
  @Test func theZAfterACareLinkTimeIsNotReadAsItsUTCOffset() throws {
    let export = try TextExport(bytes: TextExport.sample("carelink-cloud/patient-data.json"), zone: "UTC")
    #expect(export.readings.map(\.deviceTime.text) == ["2026-09-21T16:00:00", "2026-09-21T16:05:00"])
    #expect(Set(export.readings.map(\.placement)) == [Placement(utcOffset: 7200, source: .stated)])
  }

  /// A square bolus has only an extended part. Older apps write the members into the marker itself and not
  /// into `data`.
  @Test(arguments: [
    (
      #""deliveredFastAmount":"2.0","deliveredExtendedAmount":"3.0","effectiveDuration":120"#,
      #"{"extended":3,"minutes":120,"subtype":"rapid","units":2}"#
    ),
    (
      #""deliveredFastAmount":0,"deliveredExtendedAmount":5,"programmedDuration":30"#,
      #"{"extended":5,"minutes":30,"subtype":"rapid"}"#
    ),
    (
      #""deliveredFastAmount":3.5,"deliveredExtendedAmount":0,"effectiveDuration":0"#,
      #"{"subtype":"rapid","units":3.5}"#
    ),
    (#""deliveredExtendedAmount":5,"effectiveDuration":7200000"#, #"{"extended":5,"subtype":"rapid"}"#),
  ])
  func aCareLinkDoseHasItsExtendedPart(_ members: String, _ fields: String) throws {
    let bodies = [
      #""timestamp":"2026-09-21T12:09:00.000Z","data":{"dataValues":{\#(members)}}"#,
      #""dateTime":"2026-09-21T12:09:00.000-00:00",\#(members)"#,
    ]
    for body in bodies {
      let export = try TextExport(
        #"{"sgs":[{"sg":120,"timestamp":"2026-09-21T12:05:00.000Z"}],"markers":[{"type":"INSULIN",\#(body)}]}"#
      )
      #expect(export.records.map(\.fields.json) == [fields], "\(body)")
      #expect(export.records.map(\.deviceTime.text) == ["2026-09-21T12:09:00"])
    }
  }

  // MARK: Persons

  private static func body(_ names: [String: String], _ day: Int, isNested: Bool = false, padding: Int = 0)
    -> String
  {
    let members = names.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }.joined(
      separator: ",")
    let empty = (0..<padding).map { _ in
      #"{"sg":0,"timestamp":"2026-09-21T16:00:00.000Z","sensorState":"NO_DATA"}"#
    }
    let values = empty + [#"{"sg":\#(100 + day),"timestamp":"2026-09-0\#(day)T16:05:00.000Z"}"#]
    let body = #"{"sgs":[\#(values.joined(separator: ","))]\#(members.isEmpty ? "" : ",")\#(members)}"#
    return (isNested ? #"{"patientData":\#(body)}"# : body) + "\n"
  }

  @Test(arguments: [false, true], [0, 900])
  func careLinkAnswersOfTwoPeopleAreRefusedUntilOneIsSelected(isNested: Bool, padding: Int) throws {
    for member in ["firstName", "lastName", "patientId"] {
      let text = [("anna", 1), ("ben", 2), ("anna", 3)].map { (person: String, day: Int) in
        var names = ["lastName": "smith"]
        names[member] = person
        return Self.body(names, day, isNested: isNested, padding: padding)
      }.joined()
      let file = try ScratchFile(text)
      let refusal = try #require(try file.refusal(), "\(member)")
      #expect(refusal.contains("2 people") && refusal.contains("--where person=2"), "\(refusal)")
      #expect(!refusal.contains("anna") && !refusal.contains("smith"))
      func values(_ number: String) throws -> [Double] {
        try file.readings { $0.rows = [RowFilter(column: "person", value: number)] }.readings
          .compactMap(\.measurement.quantity?.number)
      }
      #expect(try values("1") == [101, 103] && values("2") == [102])
      #expect(try file.refusal { $0.rows = [RowFilter(column: "person", value: "3")] } != nil)
    }
  }

  /// Responses to an older app name the person only in part, or not at all. They must not count as those of
  /// another person.
  @Test func careLinkAnswersOfOnePersonAreRead() throws {
    let all = ["firstName": "Anna", "lastName": "Smith", "patientId": "7"]
    for names in [all, ["firstName": "Anna"], ["patientId": "7"], [:]] {
      let file = try ScratchFile(Self.body(all, 1) + Self.body(names, 2, isNested: true) + Self.body(all, 3))
      #expect(try file.readings().readings.count == 3, "\(names)")
    }
  }

  @Test func aCareLinkValueOfZeroIsReadAsLowOrMissing() throws {
    let export = try TextExport(bytes: TextExport.sample("carelink-cloud/patient-data.json"))
    #expect(export.readings.first?.measurement == .low(below: 40, .milligramsPerDecilitre))
    #expect(export.skipped == ["sensor reading without a value": 1, "CALIBRATION": 1])
  }

  @Test func careLinkReadingsWithoutPhoneTimesHaveTheOffsetOfTheLogbookZone() throws {
    let text =
      #"{"lastConduitDateTime":"1970-01-01T00:00:00.000Z","sgs":[{"sg":120,"timestamp":"2026-09-21T16:05:00.000Z"}]}"#
    #expect(
      try TextExport(text, zone: "Europe/Madrid").readings.map(\.placement) == [
        Placement(utcOffset: 7200, source: .zone)
      ])
  }
}
