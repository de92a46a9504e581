// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests the FHIR and Open mHealth documents that the writers make, and that they are read back unchanged.
@Suite struct ReadingDocumentTests {
  /// The readings of a sample that has every kind of reading.
  private static func sample() throws -> [GlucoportReading] {
    let export = try TextExport(bytes: TextExport.sample("glucoport/everything.ndjson"))
    return export.readings.map { item($0, export.devices[Int($0.device.number)]) }
  }

  private static func item(
    _ reading: Reading, _ device: Device, isWithdrawn: Bool = false
  ) -> GlucoportReading {
    GlucoportReading(
      device: device, kind: reading.kind, deviceTime: reading.deviceTime, placement: reading.placement,
      measurement: reading.measurement, marks: reading.marks, isWithdrawn: isWithdrawn,
      positionKind: reading.positionKind, position: reading.position, valueBucket: reading.valueBucket,
      occurrence: Int64(reading.occurrence))
  }

  private static func written<Writer: ReadingDocumentWriter>(
    _ readings: [GlucoportReading], _ writer: Writer
  ) -> String {
    var writer = writer
    var out = Array(writer.header.utf8)
    for reading in readings where Writer.omission(of: reading) == nil { writer.append(reading, to: &out) }
    return String(decoding: out, as: UTF8.self) + writer.footer
  }

  /// All stored parts of a reading, and its device.
  private static func text(_ item: GlucoportReading) -> String {
    GlucoportColumn.allCases.map { GlucoportCells(.reading(item)).text($0) }.joined(separator: "|")
  }

  private func expectReturn<Writer: ReadingDocumentWriter>(of writer: Writer, as format: String) throws {
    let readings = try Self.sample().filter { Writer.omission(of: $0) == nil }
    #expect(readings.count > 4)
    // The document states the offsets, so it can be read in another zone without a change.
    let back = try TextExport(Self.written(readings, writer), zone: "Asia/Tokyo")
    #expect(back.rejections.isEmpty && back.skipped.isEmpty && back.end == .whole, "\(back.rejections)")
    #expect(back.decision("format") == "\(format) (inferred)")
    let returned = back.readings.map { Self.item($0, back.devices[Int($0.device.number)]) }
    #expect(returned.map(Self.text) == readings.map(Self.text))
    #expect(back.readings.allSatisfy { $0.occurrenceIsStated })
  }

  @Test func anExportedFHIRBundleIsReadBackUnchanged() throws {
    try expectReturn(of: FHIRWriter(.bundle), as: "fhir")
  }

  @Test func exportedFHIRResourcesInLinesAreReadBackUnchanged() throws {
    try expectReturn(of: FHIRWriter(.ndjson, profile: .cgm, patientName: "A \"B\""), as: "fhir")
  }

  @Test func exportedOpenMHealthDataPointsAreReadBackUnchanged() throws {
    try expectReturn(of: OpenMHealthWriter(), as: "openmhealth")
  }

  @Test func anEmptyDocumentExportIsReadAsAnEmptyExport() throws {
    for text in [
      Self.written([], FHIRWriter(.bundle)), Self.written([], FHIRWriter(.ndjson)),
      "{\"resourceType\":\"Bundle\",\"type\":\"collection\"}", "{\"resourceType\":\"Bundle\",\"entry\":[]}\n",
    ] {
      let export = try TextExport(text)
      #expect(export.decision("format") == "fhir (inferred)" && export.readings.isEmpty, "\(text)")
      #expect(export.rejections.isEmpty && export.skipped.isEmpty && export.end == .whole, "\(text)")
    }
    #expect(Self.written([], OpenMHealthWriter()) == "[\n]\n")
  }

  @Test func theExportedPatientIDDependsOnTheLogbookAndNotOnTheName() {
    func patient(_ logbook: [String], name: String? = nil) -> String {
      let line = FHIRWriter(.ndjson, logbook: logbook, patientName: name).header
      return line.firstMatch(of: /"id":"([0-9a-f-]{36})"/).map { String($0.1) } ?? line
    }
    let own = patient(["1777618800", "ab"])
    #expect(own.count == 36 && patient(["1777618800", "ab"]) == own)
    #expect(patient(["1777618800", "ab"], name: "A") == own)
    let others = [patient(["1777618800", "ac"]), patient(["1777618801", "ab"]), patient([])]
    #expect(Set(others + [own]).count == 4)
    #expect(patient(["1777618801", "ab"], name: "A") == others[1])
  }

  /// Another program made the sample from the description of the format. Each exported line must be in it.
  @Test func exportedFHIRObservationsEqualThoseInTheSample() throws {
    let sample = String(decoding: try TextExport.sample("fhir/glucoport.json"), as: UTF8.self)
    let export = try TextExport(sample)
    let readings = export.readings.map { Self.item($0, export.devices[Int($0.device.number)]) }
    #expect(readings.count == 8)
    let lines = Set(
      sample.split(separator: "\n").map { $0.drop(while: { $0 == "," }) }.map(Self.withoutComma))
    for line in Self.written(readings, FHIRWriter(.bundle)).split(separator: "\n").map(Self.withoutComma) {
      // The reading of the year 1919 was marked as doubtful when the sample was read. So the mark is not in
      // the sample's text.
      #expect(lines.contains(line) || line.contains(#""valueString":"doubtful-time""#), "\(line)")
    }
  }

  private static func withoutComma(_ line: Substring) -> String {
    String(line.last == "," ? line.dropLast() : line)
  }

  @Test func anExportedHiddenReadingIsMarkedAsEnteredInErrorAndNotReadBack() throws {
    let reading = try #require(try Self.sample().first)
    let hidden = GlucoportReading(
      device: reading.device, kind: reading.kind, deviceTime: reading.deviceTime,
      placement: reading.placement, measurement: reading.measurement, marks: reading.marks, isWithdrawn: true,
      positionKind: reading.positionKind, position: reading.position, valueBucket: reading.valueBucket,
      occurrence: reading.occurrence)
    let text = Self.written([hidden], FHIRWriter(.bundle))
    #expect(text.contains(#""status":"entered-in-error""#) && !text.contains(#""status":"final""#))
    let export = try TextExport(text)
    #expect(export.readings.isEmpty && export.skipped == ["entered in error": 1])
    #expect(OpenMHealthWriter.omission(of: hidden) == .withdrawn && FHIRWriter.omission(of: hidden) == nil)
  }

  @Test(arguments: [
    (
      ReadingKind.cbg, GlucoseUnit.milligramsPerDecilitre, "99504-3", "cgm-sensor-reading-mass-per-volume", ""
    ),
    (.scan, .millimolesPerLitre, "105272-9", "cgm-sensor-reading-moles-per-volume", ""),
    (.smbg, .milligramsPerDecilitre, "41653-7", "", "hddt-blood-glucose-measurement"),
    (.smbg, .millimolesPerLitre, "14743-9", "", "hddt-blood-glucose-measurement"),
    (.ketone, .millimolesPerLitre, "66441-7", "", ""),
  ])
  func theGlucoseUnitDeterminesTheCodesOfAnExportedReading(
    _ kind: ReadingKind, _ unit: GlucoseUnit, _ code: String, _ cgm: String, _ hddt: String
  ) {
    let reading = Reading(
      device: DeviceIndex(0), kind: kind, at: DeviceTime(seconds: 1_772_353_810),
      placement: Placement(utcOffset: 3600, source: .stated), .value(Quantity(10, unit)), line: 1)
    let item = Self.item(reading, Device(vendor: "V", model: "M", serial: "S", format: "f"))
    let plain = Self.written([item], FHIRWriter(.bundle))
    #expect(plain.contains(#""code":"\#(code)""#) && plain.contains(#""code":"\#(unit.name)""#))
    #expect(plain.contains(#""unit":"\#(unit.name.lowercased())""#))
    #expect(plain.contains(#""effectiveDateTime":"2026-03-01T08:30:10+01:00""#))
    #expect(!plain.contains(#""profile""#) && !plain.contains(#""name":[{"text""#))
    let profiles = [
      (FHIRWriter.Profile.cgm, "http://hl7.org/fhir/uv/cgm/StructureDefinition/", cgm),
      (.hddt, "https://gematik.de/fhir/hddt/StructureDefinition/", hddt),
    ]
    for (profile, base, name) in profiles {
      let text = Self.written([item], FHIRWriter(.bundle, profile: profile))
      #expect(text.contains(#""meta":{"profile":["\#(base)\#(name)"]}"#) == !name.isEmpty)
      #expect(text.contains(#""profile""#) == !name.isEmpty)
    }
  }

  @Test func anExportedDeviceIsWrittenOnceBeforeItsFirstReading() throws {
    let text = Self.written(try Self.sample(), FHIRWriter(.ndjson))
    let types = text.split(separator: "\n").map { String($0.dropFirst(17).prefix { $0 != "\"" }) }
    #expect(types.first == "Patient" && types[1] == "Device" && types[2] == "Observation")
    #expect(types.count { $0 == "Device" } == 3 && types.count { $0 == "Patient" } == 1)
  }

  /// FHIR and RFC 3339 allow no seconds in an offset.
  @Test(arguments: [
    (Int32(0), "1970-01-02T00:00:00Z"), (3600, "1970-01-02T00:00:00+01:00"),
    (-34200, "1970-01-02T00:00:00-09:30"), (1172, "1970-01-01T23:40:28Z"), (54000, "1970-01-01T09:00:00Z"),
  ])
  func aTimeWithAnOffsetThatFHIRCannotStateIsExportedInUTC(_ offset: Int32, _ text: String) {
    let time = DeviceTime(seconds: 86400)
    #expect(time.zonedText(Placement(utcOffset: offset, source: .zone)) == text)
  }
}
