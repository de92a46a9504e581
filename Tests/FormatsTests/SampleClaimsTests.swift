// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests which format recognises an input. A sample is recognised only by its format, in any order of
/// detection, and other files by none.
@Suite struct SampleClaimsTests {
  /// The formats whose samples are tested with every other format.
  private static let folders: Set<String> = [
    "accu-chek-360", "accu-chek-mobile", "contour", "diabetes-m", "diasend", "fhir", "glimp",
    "glucometerutils", "glucose-buddy", "juggluco", "juggluco-ng", "lingo", "mylife", "openmhealth",
    "smart-pix", "tandem", "cgm-entries", "cronometer", "d1namo", "diaguard", "gluroo", "health-auto-export",
    "levels", "nutrisense", "ohiot1dm", "shanghai", "sibio", "sibionics",
  ]
  private static let samples = Repository.sampleExports.filter {
    folders.contains(String($0.prefix { $0 != "/" }))
  }

  private static func claims<Format: ExportFormat>(_ type: Format.Type, _ head: InputHead) throws -> Bool {
    type.recognise(head, options: try Rendering.options()) != nil
  }

  private static func formats(that bytes: [UInt8]) throws -> [String] {
    let head = try InputHead(text: bytes, isWhole: true)
    return try FormatRegister.formats.filter { try claims($0, head) }.map { $0.id }
      .filter { $0 != GenericFormat.id }
  }

  @Test(arguments: samples) func aSampleIsRecognisedByOnlyItsFormat(_ path: String) throws {
    let bytes = try TextExport.sample(path)
    // An input in another encoding than UTF-8 is decoded before a format sees it, so here it is only read.
    guard String(bytes: bytes, encoding: .utf8) != nil, !bytes.contains(0) else {
      return try expectRead(path)
    }
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    #expect(try Self.formats(that: Array(bytes.dropFirst(start))) == [String(path.prefix { $0 != "/" })])
  }

  private func expectRead(_ path: String) throws {
    let format = String(path.prefix { $0 != "/" })
    #expect(try TextExport(bytes: TextExport.sample(path)).decision("format") == "\(format) (inferred)")
  }

  /// Each text differs in one word, one column or one character from a table that is recognised.
  @Test(arguments: [
    // These tables have a time and glucose, and the generic format reads them.
    "Time,mg/dl\n13/11/2025 08:00,100\n", "date,time,value,trend\n2026-02-01,00:03,121,Flat\n",
    "#,Date and Time,BG value [mmol/L],Meal [g]\n1,17.05.2026 08:00,5.6,\n",
    "Date;Time;Result;Unit;Control test\n17.05.2026;08:00;104;mg/dl; \n",
    "Timestamp,Value,Unit,SensorSerial\n1778997600000,117,mg/dL,S\n",
    "nr\tUnixTime\tTZ\tmg/dL\n1\t1778997600\t2\t117\n",
    "Time of Glucose Reading,Measurement(mg/dL)\n2026-05-17T08:00+02:00,117\n",
    // These tables have no header, and their rows differ from those of the known formats.
    "5;17/05/2026 20:46:30;1779030990;;;388;388;8;3;S;;;;;\n",
    "\"2026-05-14 07:31:00\",\"112.00\",\"\",\"laboratory\",\"\"\n",
    "\"14.05.2026 07:31:00\",\"112.00\",\"\",\"blood sample\",\"\"\n",
    "BG,101,mg/dL,\"\",Bedtime,2025-11-14 22:30:00,\"\"\n", "BG,101,mg/dL,\"\",Bedtime,\"\"\n",
    // These tables have no glucose.
    "Type,EventID,EventDateTime,IOB\nIOB,81,2026-05-04T00:00:19,3.24\n",
    "EventDateTime,DeviceMode,BolusType,Basal,CGM\n2024-02-01 16:03:30,regular,,0.5,120\n",
    "Tag;Datum;Uhrzeit;Ereignis;Wert;Einheit\nMo.;01.05.26;08:05;Blutzucker;104;mg/dL\n",
    "DateTimeFormatted,carbs,weight,timezone\n2026-03-01 18:00:00,30,80,Europe/Berlin\n",
    "Date;Time;Insulin1 (units);Insulin2 (units)\n05/14/2026;07:15;4;\n",
    "date,time,logged_food,calorie,sugar\n2026-05-17,08:00,bread,210,4\n",
    "date,time,fast_insulin,slow_insulin,comment\n2026-05-17,08:00,4,,\n",
    // No format reads these JSON texts, although some have members of known formats.
    #"{"resourceType":"ValueSet","url":"http://example.org"}"#,
    #"{"resourceType":"aws_instance","name":"a"}"#,
    #"{"data":{"metrics":[{"name":"heart_rate","data":[{"date":"2026-11-01 09:30:00 +0000","qty":61}]}]}}"#,
    #"{"header":{"id":"1"},"body":{"value":118,"unit":"mg/dL"}}"#,
    #"{"blood_glucose":{"value":118,"unit":"mg/dL"}}"#, #"{"database":"photos"}"#,
    #"{"table":"BgReadings","row":1,"timestamp":1767251104585,"calculated_value":120}"#,
    // No format reads these XML texts, although some have elements of known formats.
    "<IMPORT><BGDATA><BG Val=\"104\" Dt=\"2026-05-13\" Tm=\"08:00\"/></BGDATA></IMPORT>",
    "<export><ACSPIX Type=\"1\"/><DEVICE SN=\"1\" BGUnit=\"mg/dL\"/></export>",
    "<IMPORT><ACSPIX Type=\"1\"/><!-- <DEVICE SN=\"1\" BGUnit=\"mg/dL\"/> --></IMPORT>",
    "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
  ])
  func anUnrelatedFileIsRecognisedByNoFormat(_ text: String) throws {
    #expect(try Self.formats(that: Array(text.utf8)).filter(Self.folders.union(["xdrip"]).contains) == [])
  }

  /// A format that a person states with `--format` must also recognise the input.
  @Test(arguments: FormatRegister.all.map(\.id).filter { !["generic", "glucoport"].contains($0) })
  func aGivenFormatRefusesATableOfWords(_ format: String) throws {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport("one,two,three\nfour,five,six\n") { $0.format = format }
    }
    #expect(failure?.message.contains("the input is not ") == true)
  }

  @Test(arguments: ["", "\n", "   \n  \n", "\u{FEFF}"]) func anEmptyInputIsReportedAsEmpty(_ text: String)
    throws
  {
    for format in [nil] + FormatRegister.all.map({ Optional($0.id) }) {
      let failure = #expect(throws: Failure.self) { _ = try TextExport(text) { $0.format = format } }
      #expect(failure?.message.contains("empty") == true, "\(format ?? "none"): \(failure?.message ?? "")")
      #expect(failure?.category == .badInput)
    }
  }
}
