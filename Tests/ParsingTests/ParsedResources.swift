// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

// Inputs of FHIR and Open mHealth for `LinearParsingTests`, which doubles their length. Each input is named
// after the part that makes it long: one that is repeated, or one that differs in every line.

extension ParsedContent {
  private static let start =
    #"{"resourceType":"Observation","status":"final","effectivePeriod":{"start":"2026-03-01T08:00:00Z"},"#
  private static let code = #""code":{"coding":[{"system":"http://loinc.org","code":"99504-3"}]},"#
  private static let quantity = #""valueQuantity":{"value":118,"code":"mg/dL"}"#
  private static let reading = start + code + quantity + "}"
  /// A long Observation after a short one, from which the format is recognised.
  private static let long = reading + "\n" + start
  private static let series =
    long + code + #""valueSampledData":{"origin":{"value":0,"code":"mg/dL"},"period":60000,"data":""#
  private static let point =
    #"{"header":{"schema_id":{"namespace":"omh","name":"blood-glucose","version":"4.0"}},"#
    + #""body":{"blood_glucose":{"value":118,"unit":"mg/dL"},"effective_time_frame":{"date_time":"2026-03-01T08:00:00Z"}}}"#
  private static let device =
    #"{"resourceType":"Device","id":"a","serialNumber":"\#(String(repeating: "s", count: 50))"}"#

  static let resources: [ParsedContent] = [
    export("fhir: Observations", 1000, repeated(reading + "\n")),
    export("fhir: entries", 1000, repeated(#"{"resource":\#(reading)},"#, between: bundle, "{}]}")),
    export("fhir: entries of a Bundle in a list", 1000) {
      repeated(#"{"resource":\#(reading)},"#, between: "[" + reading + "," + bundle, "{}]}]")($0)
    },
    export("fhir: Devices", 1500, repeated(device + "\n", between: reading + "\n")),
    export("fhir: different Devices", 1500, lines { device.replacing(#""a""#, with: #""\#($0)""#) }),
    export("fhir: different subjects", 1500) { count in
      lines { reading.dropLast() + #","subject":{"reference":"Patient/\#($0)"}}"# }(count)
    },
    export("fhir: other Observations", 1500, lines { reading.replacing("99504-3", with: "\($0)") }),
    export("fhir: samples", 9000, repeated("110 ", between: series, "\"}}\n")),
    export("fhir: too many samples", 40_000, repeated("1 ", between: series, "\"}}\n")),
    export("fhir: blanks between samples", 200_000, repeated(" ", between: series, "110\"}}\n")),
    export(
      "fhir: codings", 8000,
      repeated(#"{"code":"x"},"#, between: long + #""code":{"coding":["#, "{}]}," + quantity + "}\n")),
    export(
      "fhir: notes", 8000,
      repeated(#"{"text":"x"},"#, between: long + code + #""note":["#, "{}]," + quantity + "}\n")),
    export(
      "fhir: extensions", 8000,
      repeated(#"{"url":"x"},"#, between: long + code + #""extension":["#, "{}]," + quantity + "}\n")),
    export("fhir: a long reference", 100_000) {
      repeated("a/", between: long + code + quantity + #","device":{"reference":""#, "\"}}\n")($0)
    },
    export("fhir: a long name", 100_000) {
      repeated("x", between: long + code + quantity + #","device":{"display":""#, "\"}}\n")($0)
    },
    export("openmhealth: data points", 1500, repeated(point + ",\n", between: "[", "{}]")),
    export("openmhealth: different users", 1500) { count in
      lines { point.replacing(#""header":{"#, with: #""header":{"user_id":"\#($0)","#) }(count)
    },
    export("openmhealth: other schemas", 1500, lines { point.replacing("blood", with: "b\($0)") }),
    export("openmhealth: a long source", 100_000) {
      let header = point + "\n" + #"{"header":{"acquisition_provenance":{"source_name":""#
      return repeated("x", between: header, #""},"# + point.dropFirst(11) + "\n")($0)
    },
  ]

  private static let bundle = #"{"resourceType":"Bundle","type":"collection","entry":["#

  private static func lines(_ line: @escaping @Sendable (Int) -> String) -> @Sendable (Int) -> [UInt8] {
    { count in Array((0..<count).map { line(100_000 + $0) }.joined(separator: "\n").utf8) }
  }

  /// Reads a whole input. If the input is refused or rejected, this must also happen in time.
  private static func export(
    _ name: String, _ size: Int, _ make: @escaping @Sendable (Int) -> [UInt8]
  ) -> ParsedContent {
    ParsedContent(name, size, make) { bytes in
      let file = try ScratchFile(bytes)
      do {
        var reader = try InputReader(path: file.url.path, options: Rendering.options())
        var batch = IngestBatch()
        while try reader.read(into: &batch) { batch.removeItems() }
      } catch let failure as Failure {
        #expect(failure.category == .badInput, "\(failure.message)")
      }
    }
  }
}
