// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

@Suite struct FHIRTests {
  private static func observation(
    _ code: String = "41653-7", system: String = "http://loinc.org", value: String = #""value":118"#,
    time: String = #""effectiveDateTime":"2026-03-01T12:15:00+01:00""#, more: String = ""
  ) -> String {
    #"{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"\#(system)","code":"\#(code)"}]},"#
      + #"\#(time),"valueQuantity":{\#(value)}\#(more)}"#
  }

  private static func reasons(_ export: TextExport) -> [String] { export.rejections.map(\.reason) }

  @Test func aFHIRValueWithoutAUnitHasTheUnitOfItsCode() throws {
    let mass = try TextExport(Self.observation())
    #expect(mass.readings.map(\.measurement) == [.value(Quantity(118, .milligramsPerDecilitre))])
    let moles = try TextExport(Self.observation("15074-8", value: #""value":6.1,"code":"mmol/L""#))
    #expect(moles.readings.map(\.measurement) == [.value(Quantity(6.1, .millimolesPerLitre))])
  }

  @Test(arguments: [
    (#""value":6.1,"code":"mmol/L""#, "the unit is not that of the code"),
    (#""value":118,"code":"g/L""#, "the unit is neither mg/dL nor mmol/L"),
    (#""value":118,"unit":"mg""#, "the unit is neither mg/dL nor mmol/L"),
    (#""value":"high""#, "the value is not a number"), (#""unit":"mg/dL""#, "the value is not a number"),
    (#""value":118,"comparator":"ad""#, "unknown comparator"),
    (#""value":4000"#, "a glucose value outside 10–1000 mg/dL"),
  ])
  func anInvalidFHIRGlucoseQuantityIsRejected(_ value: String, _ reason: String) throws {
    let export = try TextExport(Self.observation(value: value))
    #expect(export.readings.isEmpty && Self.reasons(export) == [reason])
  }

  @Test(arguments: [
    #""effectiveDateTime":"2026-03-01""#, #""effectiveDateTime":"2026-03-01T25:00:00Z""#,
    #""effectiveTiming":{}"#,
  ])
  func aFHIRTimeWithoutATimeOfDayIsRejected(_ time: String) throws {
    let export = try TextExport(Self.observation(time: time))
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  private static func version(
    _ version: String, _ value: Int, id: String = "a", patient: String = "1", status: String = "final"
  ) -> String {
    observation(
      value: #""value":\#(value)"#,
      more: #","id":"\#(id)","meta":{"versionId":"\#(version)"}"#
        + #","subject":{"reference":"Patient/\#(patient)"}"#
    ).replacing(#""status":"final""#, with: #""status":"\#(status)""#)
  }

  @Test(arguments: [
    ([version("1", 160), version("2", 60)], [60.0]), ([version("10", 60), version("9", 160)], [60]),
    ([version("1", 160), version("2", 60, status: "entered-in-error")], []),
    // Other ids, and versions without an order, are separate Observations.
    ([version("1", 160), version("2", 60, id: "b")], [160, 60]),
    ([version("MTY4", 160), version("MTY5", 60)], [160, 60]),
    ([version("2", 160), version("2", 60)], [160, 60]),
  ])
  func ofSeveralVersionsOfAFHIRObservationTheLatestIsImported(_ lines: [String], _ values: [Double]) throws {
    let expected = values.map { Measurement.value(Quantity($0, .milligramsPerDecilitre)) }
    let bundle = lines.map { #"{"resource":\#($0)}"# }.joined(separator: ",")
    for input in [
      lines.joined(separator: "\n"), #"{"resourceType":"Bundle","type":"collection","entry":[\#(bundle)]}"#,
    ] {
      let export = try TextExport(input)
      #expect(export.readings.map(\.measurement) == expected, "\(input)")
      let earlier = export.skipped["earlier version of an Observation"] ?? 0
      #expect(earlier == (values.count == 2 ? 0 : 1), "\(export.skipped)")
    }
  }

  @Test func versionsOfTwoPatientsWithTheSameIDAreSeparateFHIRObservations() throws {
    let lines = [Self.version("1", 160), Self.version("2", 60, patient: "2")]
    let export = try TextExport(lines.joined(separator: "\n")) {
      $0.rows = [RowFilter(column: "patient", value: "1")]
    }
    #expect(export.readings.map(\.measurement) == [.value(Quantity(160, .milligramsPerDecilitre))])
  }

  private static let issued = #""issued":"2026-03-20T09:00:00+01:00""#

  @Test(arguments: [
    (#""effectiveTiming":{"event":["2026-03-14T12:30:00+01:00"]}"#, "2026-03-14T12:30:00" as String?),
    (#""effectivePeriod":{"end":"2026-03-14T18:30:00+01:00"}"#, "2026-03-14T18:30:00"),
    (#""effectiveTiming":{"event":["2026-03-14T12:30:00+01:00","2026-03-14T13:30:00+01:00"]}"#, nil),
    (#""effectiveTiming":{"repeat":{"boundsPeriod":{"start":"2026-03-14T00:00:00+01:00"}}}"#, nil),
    (#""effectivePeriod":{}"#, nil), (issued, "2026-03-20T09:00:00"),
  ])
  func theTimeOfIssueIsUsedOnlyIfAFHIRObservationHasNoOtherTime(_ time: String, _ shown: String?) throws {
    let export = try TextExport(Self.observation(time: time == Self.issued ? time : "\(time),\(Self.issued)"))
    #expect(export.readings.map(\.deviceTime.text) == [shown].compactMap(\.self))
    #expect(export.rejections.count == (shown == nil ? 1 : 0))
  }

  @Test(arguments: [
    (#","focus":[{"reference":"Patient/baby"}]"#, "Observation about another subject"),
    (#","specimen":{"display":"Control solution level 2"}"#, "control solution"),
    (#","specimen":{"display":"Cerebrospinal fluid"}"#, "glucose in another specimen"),
    (
      #","contained":[{"resourceType":"Specimen","type":{"coding":[{"display":"Urine"}]}}]"#,
      "glucose in another specimen"
    ),
    (#","method":{"text":"Arithmetic Mean"}"#, "computed value"),
    (#","derivedFrom":[{"reference":"Observation/7"}]"#, "computed value"),
    (#","method":{"text":"Durchschnitt"}"#, "computed value"),
    (#","method":{"text":"Interpolated"}"#, "computed value"),
    (#","specimen":{"display":"Umbilical cord blood"}"#, "glucose in another specimen"),
    (
      #","effectivePeriod":{"start":"2026-03-01T00:00:00+01:00","end":"2026-03-14T23:59:59+01:00"}"#,
      "Observation over a period"
    ),
  ])
  func fhirGlucoseThatIsNotAMeasurementOfThePersonIsCountedByName(_ more: String, _ name: String) throws {
    let export = try TextExport(Self.observation(more: more))
    #expect(export.readings.isEmpty && export.skipped == [name: 1])
  }

  @Test(arguments: [
    #","specimen":{"display":"Capillary blood specimen"}"#, #","specimen":{"reference":"Specimen/1"}"#,
    #","subject":{"reference":"Patient/1"},"focus":[{"reference":"Patient/1"}]"#,
    #","specimen":{"display":"Fingertip"}"#, #","method":{"text":"Measured by means of a test strip"}"#,
    #","method":{"text":"Glucometer"}"#, #","derivedFrom":[{"reference":"Media/7"}]"#, #","focus":[]"#,
    #","contained":[{"resourceType":"Device","type":{"text":"Urine meter"}}]"#,
    #","effectivePeriod":{"start":"2026-03-01T12:15:00+01:00","end":"2026-03-01T12:20:00+01:00"}"#,
  ])
  func aFHIRMeasurementWithDetailsOfItsOriginIsRead(_ more: String) throws {
    let export = try TextExport(Self.observation(more: more))
    #expect(export.readings.count == 1 && export.skipped.isEmpty)
  }

  @Test func aFHIRBundleOfEveryVersionIsRefused() throws {
    let entry = #"{"resource":\#(Self.observation()),"request":{"method":"PUT"}}"#
    func bundle(_ type: String) -> String {
      #"{"resourceType":"Bundle","type":"\#(type)","entry":[\#(entry)]}"#
    }
    let refusal = try ScratchFile(bundle("history")).refusal()
    #expect(refusal?.contains("every version of its resources") == true, "\(refusal ?? "")")
    #expect(try TextExport(bundle("transaction")).readings.count == 1)
  }

  @Test func aFHIRReadingIsIdentifiedByItsInstantWhateverItsOffset() throws {
    let utc = #""effectiveDateTime":"2026-03-01T11:15:00.000Z""#
    let positions = try [Self.observation(), Self.observation(time: utc)].map {
      try TextExport($0).readings.map(\.position)
    }
    #expect(positions == [[1_772_363_700], [1_772_363_700]])
    let wallClock = try TextExport(Self.observation(time: #""effectiveDateTime":"2026-03-01T12:15:00""#))
    #expect(wallClock.readings.map(\.positionKind) == [.time])
    #expect(wallClock.readings.map(\.placement.source) == [.zone])
  }

  /// Values of other measurements can look like glucose, so they are only counted.
  @Test(arguments: [
    ("8867-4", "http://loinc.org", "Observation 8867-4"),
    ("4548-4", "http://loinc.org", "Observation 4548-4"),
    ("97507-8", "http://loinc.org", "Observation 97507-8"),
    ("2345-7", "http://loinc.org", "laboratory glucose 2345-7"),
    ("41653-7", "http://example.org/codes", "Observation 41653-7"),
  ])
  func otherFHIRObservationsAreCountedByName(_ code: String, _ system: String, _ name: String) throws {
    let export = try TextExport(Self.observation(code, system: system))
    #expect(export.readings.isEmpty && export.rejections.isEmpty && export.skipped == [name: 1])
  }

  @Test func skippedFHIRObservationsAreCountedUnderALimitedNumberOfNames() throws {
    let lines = (0..<300).map {
      Self.observation("\(String(repeating: "9", count: 100))-\($0)", system: "s\($0)")
    }
    let many = (0..<300).map { Self.observation("c\($0)", system: "s") }
    let export = try TextExport((lines + many).joined(separator: "\n"))
    #expect(export.skipped.count == 101 && export.skipped.values.reduce(0, +) == 600)
    #expect(export.skipped.keys.allSatisfy { $0.count <= 40 })
  }

  @Test func aFHIRDeviceListedAfterItsObservationsIsFound() throws {
    let device =
      #"{"resourceType":"Device","id":"d","manufacturer":"V","serialNumber":"S","deviceName":[{"name":"M"}]}"#
    let reading = Self.observation(more: #","device":{"reference":"Device/d"}"#)
    for text in ["\(reading)\n\(device)\n", "\(device)\n\(reading)\n"] {
      let devices = try TextExport(text).devices
      #expect(devices == [Device(vendor: "V", model: "M", serial: "S", format: "fhir")])
    }
  }

  /// The device is a part of a reading's identity, so a reading without its Device would get another
  /// identity.
  @Test func aFHIRReadingWithoutItsDeviceIsRejectedUnlessADeviceIsGiven() throws {
    let other = Self.observation(more: #","device":{"reference":"Device/e","display":"E"}"#)
    let export = try TextExport(other)
    let reason = "its Device is not in the input; --device NAME names one for all such readings"
    #expect(export.readings.isEmpty && Self.reasons(export) == [reason])
    #expect(try TextExport(other) { $0.device = "Mine" }.devices.map(\.model) == ["Mine"])
    let shown = Self.observation(more: #","device":{"display":"E"}"#)
    #expect(try TextExport(shown).devices.map(\.model) == ["E"])
  }

  @Test func aFHIRInputOfSeveralPatientsIsRefusedUntilOneIsSelected() throws {
    let texts = ["anna", "berta"].map {
      Self.observation(more: #","subject":{"reference":"Patient/\#($0)"}"#)
    }
    let failure = try #require(throws: Failure.self) { try TextExport(texts.joined(separator: "\n")) }
    #expect(failure.message.contains("data of 2 people") && failure.message.contains("--where patient=1"))
    #expect(!failure.message.contains("anna"))
    func picked(_ value: String) throws -> TextExport {
      try TextExport(texts.joined(separator: "\n")) { $0.rows = [RowFilter(column: "patient", value: value)] }
    }
    for value in ["2", "Patient/berta"] {
      let export = try picked(value)
      #expect(export.readings.map(\.line) == [2] && export.skipped == ["item of another person": 1])
    }
    let missing = #expect(throws: Failure.self) { try picked("3") }
    #expect(missing?.message.contains("no person has the number or id of --where patient") == true)
    #expect(try TextExport(texts[0]).devices.map(\.model) == ["FHIR"])
  }

  @Test func fhirPatientsWithoutAReferenceAreDistinguishedByNamesAndTags() throws {
    for (more, people) in [
      (#","subject":{"display":"NAME"}"#, ["anna", "berta"]),
      (#","meta":{"patient":"NAME"}"#, ["anna", "berta"]),
      (#","subject":{"identifier":{"value":"NAME"}}"#, ["anna", "berta"]),
      (#","subject":{"display":"NAME"},"performer":[{"display":"doctor"}]"#, ["anna", "anna"]),
    ] {
      let texts = people.map { Self.observation(more: more.replacing("NAME", with: $0)) }
      for text in [
        texts.joined(separator: "\n"),
        #"{"resourceType":"Bundle","entry":[\#(texts.map { #"{"resource":\#($0)}"# }.joined(separator: ","))]}"#,
      ] {
        guard Set(people).count > 1 else {
          #expect(throws: Never.self) { try TextExport(text) }
          continue
        }
        let failure = try #require(throws: Failure.self) { try TextExport(text) }
        #expect(failure.message.contains("data of 2 people") && !failure.message.contains("anna"), "\(more)")
        let one = try TextExport(text) { $0.rows = [RowFilter(column: "patient", value: "2")] }
        #expect(one.readings.count == 1, "\(more)")
      }
    }
  }

  @Test func aListOfFHIRBundlesIsReadLikeOneBundle() throws {
    let bundle = #"{"resourceType":"Bundle","entry":[{"resource":\#(Self.observation())}]}"#
    for text in [bundle, "[\(bundle)]", "\(bundle)\n\(bundle)", "[\(bundle),\(bundle)]"] {
      let export = try TextExport(text)
      #expect(Set(export.readings.map(\.position)) == [1_772_363_700] && export.end == .whole, "\(text)")
      #expect(export.rejections.isEmpty && export.skipped.isEmpty, "\(text)")
    }
  }

  private static func series(_ members: String) -> String {
    #"{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"99504-3"}]},"#
      + #""effectivePeriod":{"start":"2026-03-01T08:00:00Z"},"valueSampledData":{\#(members)}}"#
  }

  @Test func samplesOfAFHIRSeriesAreReadAsReadingsOnePeriodApart() throws {
    let origin = #""origin":{"value":10,"code":"mg/dL"}"#
    let export = try TextExport(Self.series(#"\#(origin),"factor":2,"period":60000,"data":"50 E U 60 x""#))
    #expect(
      export.readings.map(\.measurement) == [
        .value(Quantity(110, .milligramsPerDecilitre)), .high(above: nil, .milligramsPerDecilitre),
        .value(Quantity(130, .milligramsPerDecilitre)),
      ])
    #expect(export.readings.map { $0.position - 1_772_352_000 } == [0, 120, 180])
    #expect(export.skipped == ["sample without a value": 1])
    #expect(Self.reasons(export) == ["a sample of the series is not a plausible value"])
  }

  @Test(arguments: [
    #""origin":{"value":0,"code":"mg/dL"},"data":"110""#,
    #""origin":{"value":0,"code":"mg/dL"},"period":1,"data":"110""#,
    #""origin":{"value":0,"code":"mg/dL"},"interval":5,"intervalUnit":"a","data":"110""#,
    #""origin":{"value":0,"code":"mmol/L"},"period":60000,"data":"6.1""#,
    #""origin":{"value":0,"code":"mg/dL"},"period":60000,"dimensions":2,"data":"110 0""#,
  ])
  func aFHIRSeriesWithInvalidMembersIsRejected(_ members: String) throws {
    let export = try TextExport(Self.series(members))
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  @Test func aFHIRSeriesOfMoreThan20160SamplesIsRejected() throws {
    let start = #""origin":{"value":0,"code":"mg/dL"},"period":60000,"data":""#
    let most = try TextExport(Self.series(start + String(repeating: "110 ", count: 20_160) + "\""))
    #expect(most.readings.count == 20_160 && most.rejections.isEmpty)
    let more = try TextExport(Self.series(start + String(repeating: "110 ", count: 20_161) + "\""))
    #expect(more.readings.isEmpty && Self.reasons(more) == ["a series of more than 20160 samples"])
  }

  @Test func aFHIRObservationLongerThan1MiBIsRejected() throws {
    let long = Self.observation(more: #","note":[{"text":"\#(String(repeating: "x", count: 1 << 20))"}]"#)
    let export = try TextExport("\(Self.observation())\n\(long)\n")
    #expect(export.readings.count == 1 && Self.reasons(export) == ["the Observation is longer than 1 MiB"])
  }

  @Test func otherJSONIsNotRecognisedAsFHIR() throws {
    for text in [
      #"{"resourceType":"AWS::S3::Bucket","code":"41653-7"}"#, #"{"meta":{"resourceType":"User"},"id":1}"#,
      #"{"entry":[{"value":110}]}"#, #"{"resourceType":7}"#,
    ] {
      let head = try InputHead(text: Array(text.utf8), isWhole: true)
      let options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
      #expect(FHIRFormat.recognise(head, options: options) == nil, "\(text)")
    }
  }
}
