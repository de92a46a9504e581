// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct HealthAutoExportTests {
  private static func export(_ points: [String], unit: String = "mg/dL") -> String {
    let list = points.joined(separator: ",")
    return #"{"data":{"metrics":[{"name":"blood_glucose","units":"\#(unit)","data":[\#(list)]}]}}"#
  }

  private static func point(_ time: String, _ value: String = "104", source: String = "App") -> String {
    #"{"date":"2026-02-06 \#(time) +0100","qty":\#(value),"source":"\#(source)"}"#
  }

  @Test func onlyGlucoseOfHealthAutoExportIsRead() throws {
    let export = try TextExport(bytes: TextExport.sample("health-auto-export/glucose.json"))
    #expect(
      export.readings.map { $0.measurement.quantity?.number } == [101, 139.5, 128, 117, 119, 5.6])
    #expect(export.readings.map(\.kind) == [.smbg, .smbg, .cbg, .cbg, .cbg, .smbg])
    #expect(export.readings.map(\.marks).prefix(3) == [.beforeMeal, .afterMeal, []])
    #expect(export.devices.map(\.model) == ["Meter App", "Dexcom G7", ""])
    // The shown hour that occurs twice has two instants, so the six readings have different positions.
    #expect(Set(export.readings.map(\.position)).count == 6)
    #expect(export.skipped == ["dietary_sugar": 1, "heart_rate": 1] && export.rejections.count == 1)
    #expect(export.decision("unit") == "mg/dL, mmol/L (read)")
  }

  /// A reading of a phone must be the same in an export of Health Auto Export and in an export of Apple
  /// Health.
  @Test func aHealthAutoExportReadingIsTheSameAsInAppleHealth() throws {
    let json = try TextExport(Self.export([Self.point("07:30:00")]))
    let xml = try TextExport(
      #"<HealthData><Record type="HKQuantityTypeIdentifierBloodGlucose" sourceName="App" unit="mg/dL" "#
        + #"startDate="2026-02-06 07:30:00 +0100" value="104"/></HealthData>"#)
    #expect(json.devices == xml.devices && json.readingTexts == xml.readingTexts)
  }

  @Test(arguments: [
    [#"{"date":"2026-02-06 00:00:00 +0100","Min":71,"Avg":118.4,"Max":201}"#],
    [#"{"date":"2026-02-06 08:10:00 +0100","qty":118.4,"Avg":118.4}"#],
    [#"{"date":"2026-02-06","qty":118.4}"#],
    [point("08:10:00", source: "One|Two")],
    (0..<5).map { point("0\($0):00:00") },
  ])
  func healthAutoExportAveragesAreRefused(_ points: [String]) throws {
    let failure = #expect(throws: Failure.self) { _ = try TextExport(Self.export(points)) }
    #expect(failure?.message.contains("switch 'Aggregate Data' off") == true)
    #expect(failure?.category == .badInput)
  }

  @Test func aFewHealthAutoExportValuesOnTheHourAreReadAsFingerSticks() throws {
    let few = try TextExport(Self.export((0..<4).map { Self.point("0\($0):00:00") }))
    #expect(few.readings.count == 4)
    let mixed = try TextExport(
      Self.export((0..<6).map { Self.point("0\($0):00:00") } + [Self.point("07:31:00")]))
    #expect(mixed.readings.count == 7)
  }

  @Test func theGivenKindOfReadingIsUsedForHealthAutoExport() throws {
    let export = try TextExport(Self.export([Self.point("07:30:00")])) { $0.kind = .cbg }
    #expect(export.readings.map(\.kind) == [.cbg] && export.decision("kind") == "cbg (given)")
  }

  @Test func anUnknownUnitOfHealthAutoExportIsRejected() throws {
    let export = try TextExport(Self.export([Self.point("07:30:00")], unit: "g"))
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  @Test func severalHealthAutoExportDocumentsInSequenceAreRead() throws {
    let one = Self.export([Self.point("07:30:00")])
    let export = try TextExport(one + "\n" + Self.export([Self.point("07:35:00")]) + "\n")
    #expect(export.readings.count == 2)
    let bare = one.dropFirst(#"{"data":"#.count).dropLast()
    #expect(try TextExport(String(bare)).readings.count == 1)
  }
}
