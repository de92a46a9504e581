// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct SmartPixTests {
  private func export(_ unit: String, _ entries: String) -> String {
    #"<IMPORT><ACSPIX Type="2106"/><DEVICE SN="1" BGUnit="\#(unit)"/><BGDATA>\#(entries)</BGDATA></IMPORT>"#
  }

  @Test func smartPixEntriesOfTheMeterAreRead() throws {
    let export = try TextExport(bytes: TextExport.sample("smart-pix/meter-mmol.xml"))
    #expect(
      export.readings.map(\.measurement) == [
        .value(Quantity(5.1, .millimolesPerLitre)), .high(above: nil, .millimolesPerLitre),
        .low(below: nil, .millimolesPerLitre), .value(Quantity(6.4, .millimolesPerLitre)),
      ])
    #expect(export.readings.map(\.marks) == [[], [], [], .controlSolution])
    #expect(export.devices.map(\.serial) == ["00000001"] && export.devices.map(\.vendor) == ["Roche"])
    let records: Set = [
      #"food 2026-05-14T12:30:00 {"carbs":45}"#,
      #"insulin 2026-05-14T12:30:00 {"text":"insulin 1","units":4.5}"#,
      #"insulin 2026-05-14T12:30:00 {"text":"insulin 2","units":12}"#,
    ]
    #expect(export.recordTexts == records)
    #expect(export.skipped == ["flag": 1, "row without a value": 1] && export.rejections.count == 2)
  }

  @Test func theUnitOfASmartPixExportIsThatOfTheMeter() throws {
    let entry = #"<BG Val="104" Dt="2026-05-13" Tm="08:00"/>"#
    #expect(
      try TextExport(export("mg/dL", entry)).readings.map(\.measurement.unit) == [.milligramsPerDecilitre])
    let failure = #expect(throws: Failure.self) { _ = try TextExport(export("other", entry)) }
    #expect(failure?.message.contains("--unit") == true)
    let given = try TextExport(export("other", entry)) { $0.unit = .milligramsPerDecilitre }
    #expect(given.decision("unit") == "mg/dL (given)")
  }

  @Test func otherXMLIsNotRecognisedAsSmartPix() throws {
    #expect(try Claims.claims(export("mg/dL", ""), SmartPixFormat.self))
    for text in [
      "<IMPORT><BGDATA/></IMPORT>", #"<IMPORT><ACSPIX Type="1"/><DEVICE SN="1"/></IMPORT>"#,
      #"<DATA><ACSPIX Type="1"/><DEVICE BGUnit="mg/dL"/></DATA>"#, "<HealthData locale='en'/>",
      #"<IMPORT><ACSPIX Type="1"/><DEVICE OldBGUnit="mg/dL"/></IMPORT>"#,
    ] {
      #expect(try !Claims.claims(text, SmartPixFormat.self), "\(text)")
    }
  }
}
