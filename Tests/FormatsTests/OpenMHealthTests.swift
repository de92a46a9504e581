// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct OpenMHealthTests {
  private static func point(
    _ body: String, name: String = "blood-glucose", header: String = ""
  ) -> String {
    #"{"header":{"id":"1","schema_id":{"namespace":"omh","name":"\#(name)","version":"4.0"}\#(header)},"body":{\#(body)}}"#
  }

  private static func glucose(
    _ value: String = #""value":118,"unit":"mg/dL""#, more: String = ""
  ) -> String {
    #""blood_glucose":{\#(value)},"effective_time_frame":{"date_time":"2026-03-01T12:15:00+01:00"}\#(more)"#
  }

  @Test(arguments: [
    ("", ReadingKind.smbg), (#","specimen_source":"capillary blood""#, .smbg),
    (#","specimen_source":"interstitial fluid""#, .cbg), (#","blood_specimen_type":"whole blood""#, .smbg),
  ])
  func theSpecimenDeterminesTheKindOfAnOpenMHealthReading(_ more: String, _ kind: ReadingKind) throws {
    for text in [Self.point(Self.glucose(more: more)), "{\(Self.glucose(more: more))}"] {
      let export = try TextExport(text)
      #expect(export.readings.map(\.kind) == [kind] && export.readings.map(\.position) == [1_772_363_700])
    }
  }

  @Test func withoutASpecimenTheKindOfOpenMHealthReadingsCanBeGiven() throws {
    let export = try TextExport(Self.point(Self.glucose())) { $0.kind = .cbg }
    #expect(export.readings.map(\.kind) == [.cbg])
    let stated = try TextExport(Self.point(Self.glucose(more: #","specimen_source":"capillary blood""#))) {
      $0.kind = .cbg
    }
    #expect(stated.readings.map(\.kind) == [.smbg])
  }

  @Test(arguments: [
    (#","descriptive_statistic":"average""#, "statistic of blood glucose"),
    (#","specimen_source":"tears""#, "glucose in tears"),
    (#","blood_specimen_type":"serum""#, "glucose in serum"),
  ])
  func otherOpenMHealthDataPointsAreCountedByName(_ more: String, _ name: String) throws {
    let export = try TextExport(Self.point(Self.glucose(more: more)))
    #expect(export.readings.isEmpty && export.rejections.isEmpty && export.skipped == [name: 1])
  }

  @Test func otherOpenMHealthSchemasAreCountedByName() throws {
    let heart = Self.point(#""heart_rate":{"value":71,"unit":"beats/min"}"#, name: "heart-rate")
    let export = try TextExport("[\(heart),\(Self.point(Self.glucose()))]")
    #expect(export.readings.count == 1 && export.skipped == ["heart-rate": 1])
  }

  @Test(arguments: [
    #""value":118,"unit":"mg""#, #""value":"x","unit":"mg/dL""#, #""value":6000,"unit":"mg/dL""#,
    #""value":118,"unit":"mmol/L""#, #""value":118"#,
  ])
  func anInvalidOpenMHealthGlucoseValueIsRejected(_ value: String) throws {
    let export = try TextExport(Self.point(Self.glucose(value)))
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  @Test func severalOpenMHealthUsersAreRefusedUntilOneIsSelected() throws {
    let points = ["anna", "berta"].map { Self.point(Self.glucose(), header: #","user_id":"\#($0)""#) }
    let text = "[\(points.joined(separator: ","))]"
    let failure = try #require(throws: Failure.self) { _ = try TextExport(text) }
    #expect(failure.message.contains("--where header.user_id=1") && !failure.message.contains("anna"))
    let devices = try ["1", "2"].flatMap { number in
      try TextExport(text) { $0.rows = [RowFilter(column: "header.user_id", value: number)] }.devices
    }
    #expect(Set(devices).count == 2)
    #expect(devices.allSatisfy { !$0.model.contains("anna") && !$0.model.contains("berta") })
  }

  @Test func otherJSONIsNotRecognisedAsOpenMHealth() throws {
    for text in [
      #"{"blood_glucose":118,"time":"2026-03-01T12:15:00"}"#,
      #"{"blood_glucose":{"value":118,"unit":"mg/dL"},"time":"2026-03-01T12:15:00"}"#,
      #"{"header":{"name":"blood-glucose"},"body":{"value":118}}"#,
    ] {
      let head = try InputHead(text: Array(text.utf8), isWhole: true)
      let options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
      #expect(OpenMHealthFormat.recognise(head, options: options) == nil, "\(text)")
    }
  }
}
