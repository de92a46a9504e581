// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests the provenance of records: the program or device that wrote them, if the format names it, and the
/// provenance in an export of glucoport.
@Suite struct RecordSourceTests {
  private static let guid = "0a1b2c3d-0000-8000-8000-000000000001"

  @Test func theProvenanceOfAnAppleHealthRecordNamesTheApp() throws {
    let record = { (source: String) in
      #"<Record type="HKQuantityTypeIdentifierInsulinDelivery" sourceName="\#(source)" unit="IU""#
        + #" startDate="2026-05-30 12:30:00 +0200" value="4"/>"#
    }
    let export = try TextExport(
      "<HealthData>\(record("Anna’s &quot;iPhone&quot;"))\(record("mySugr"))</HealthData>")
    #expect(export.records.map(\.source) == ["Anna’s \"iPhone\"", "mySugr"])
  }

  @Test func theProvenanceOfATidepoolRecordNamesTheDevice() throws {
    let item = { (device: String, note: String) in
      #"{"type":"bolus","normal":4,"time":"2026-05-06T12:00:00Z","id":"\#(device)"\#(note),"deviceId":"\#(device)"}"#
    }
    let note = #"{"type":"status","time":"2026-05-06T13:00:00Z","id":"n","deviceId":"P","notes":["a"]}"#
    let export = try TextExport("[\(item("tandemCIQ1", "")),\(item("Loop_2", "")),\(note)]")
    #expect(export.records.map(\.source) == ["tandemCIQ1", "Loop_2", "P"])
  }

  @Test(arguments: [
    (#""enteredBy":"Loop","app":"x""#, "Loop"), (#""enteredBy":"","app":"AAPS""#, "AAPS"),
    (#""app":"AAPS""#, "AAPS"),
    (#""enteredBy":"Mum &lt;3""#, "Mum <3"), (#""enteredBy":null"#, ""), (#""enteredBy":{"a":1}"#, ""),
    (#""notes":"a""#, ""),
  ])
  func theProvenanceOfANightscoutRecordNamesTheEnteringProgram(_ members: String, _ source: String) throws {
    let text =
      #"[{"_id":"1","eventType":"Meal Bolus","created_at":"2026-05-06T12:00:00Z","insulin":2,"carbs":30,\#(members)}]"#
    let export = try TextExport(text)
    #expect(export.records.map(\.kind) == [.food, .insulin])
    #expect(Set(export.records.map(\.source)) == [source])
  }

  @Test func theProvenanceOfANightscoutTableRowNamesTheProgram() throws {
    let export = try TextExport(
      "_id,eventType,created_at,insulin,enteredBy\n1,Correction Bolus,2026-05-06T12:00:00Z,2,Loop\n")
    #expect(export.records.map(\.source) == ["Loop"])
  }

  @Test(arguments: ["mysugr/", "contour/", "clarity/", "carelink/"])
  func aFormatWithoutSourcesGivesAnEmptyProvenanceSource(_ folder: String) throws {
    let samples = Repository.sampleExports.filter { $0.hasPrefix(folder) }
    #expect(!samples.isEmpty)
    for sample in samples {
      let file = Repository.samples.appending(path: sample)
      let lines = try Rendering.lines(of: file, options: Rendering.options(besides: file))
      #expect(!lines.contains { $0.contains("\"source\":") }, "\(sample)")
    }
  }

  // MARK: Exports of glucoport

  private static func record(_ provenance: Provenance?) -> GlucoportItem {
    .record(
      GlucoportRecord(
        guid: guid, kind: .food, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_761_440_000),
        placement: Placement(utcOffset: 7200, source: .stated), fields: #"{"carbs":30}"#,
        provenance: provenance,
        isDeleted: false))
  }

  private static func text(_ item: GlucoportItem, _ form: GlucoportWriter.Form) -> String {
    var writer = GlucoportWriter(form)
    var out = Array(writer.header.utf8)
    writer.append(item, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  @Test(arguments: [
    nil, .typed, Provenance(format: "apple-health", source: "=Anna’s \"iPhone\", \\ <b>;'"),
    Provenance(format: "test", source: String(repeating: "\"", count: 128)),
  ])
  func theProvenanceIsUnchangedAfterExportAndImport(_ provenance: Provenance?) throws {
    let forms: [GlucoportWriter.Form] = [
      .ndjson, .csv(isSpreadsheetSafe: true), .csv(isSpreadsheetSafe: false),
    ]
    for form in forms {
      let text = Self.text(Self.record(provenance), form)
      let export = try TextExport(text)
      #expect(export.records.map(\.guid) == [Self.guid] && export.rejections.isEmpty, "\(text)")
      #expect(export.records.first?.provenance == provenance, "\(text)")
      let source = export.records.first?.provenance?.source ?? ""
      #expect(source.utf8.elementsEqual((provenance?.source ?? "").utf8))
    }
  }

  @Test(arguments: [
    "{}", "[]", "1", "mysugr", #"{"format":""}"#, #"{"format":"a","source":"\u0007"}"#, #"{"format":"a"}{"#,
  ])
  func aRecordWithAnInvalidProvenanceIsRejected(_ json: String) throws {
    let known = Provenance(format: "mysugr")
    let quoted = { (text: String) in "\"" + text.replacing("\"", with: "\"\"") + "\"" }
    let table = Self.text(Self.record(known), .csv(isSpreadsheetSafe: false))
    let changed = table.replacing(quoted(known.json), with: quoted(json))
    #expect(changed != table)
    let export = try TextExport(changed)
    #expect(
      export.rejections.map(\.reason) == ["the provenance is not a JSON object of a format and a source"])
    #expect(export.records.isEmpty)
  }

  @Test func anExportWithoutTheProvenanceColumnGivesNoProvenance() throws {
    let line = Self.text(Self.record(nil), .ndjson)
    let older = line.replacing(#""provenance":null,"#, with: "")
    #expect(older != line)
    #expect(try TextExport(older).records.map(\.provenance) == [nil])
  }
}
