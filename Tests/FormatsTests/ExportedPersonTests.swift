// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests what exports state about the person whose data they contain.
@Suite struct ExportedPersonTests {
  private func stated(_ text: String, _ change: (inout ExportOptions) -> Void = { _ in }) throws
    -> [StatedPerson]
  {
    var options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: 1_795_219_200)
    change(&options)
    let file = try ScratchFile(text)
    return try withExtendedLifetime(file) {
      try InputReader(path: file.url.path, options: options).statedPersons
    }
  }

  /// Samples, each with the words of the names, ids and dates of birth that it states: one list for each
  /// person.
  @Test(arguments: [
    ("clarity/clarity-mgdl-de.csv", [["person", "sample"]]),
    ("clarity/clarity-mgdl-ja.csv", [["person", "sample"]]),
    ("carelink/sections-mgdl.csv", [["kim", "sample"]]),
    ("carelink/before-2017-mmol-dmy.csv", [["kim", "sample"]]),
    ("carelink/one-section-mmol-semicolons.csv", [["kim", "muster"]]),
    ("glooko/bg-en-mgdl-us.csv", [["kim", "sample"]]),
    ("diasend/sensor-mmol.csv", [["123456"], ["person", "sample"]]),
    ("tandem/filled-in-from-sensor.csv", [["person", "sample"]]),
    ("libre-desktop/libre-desktop-mmol-en.tsv", [["person", "sample"]]),
    ("libre-desktop/libre-desktop-mgdl-es-portions.csv", [["sujeto02"]]),
    ("libreview/libreview-mmol-sv-clinician.csv", [["person", "sample"]]),
    ("ohiot1dm/patient.xml", [["001"]]),
    ("nutrisense/export.csv", [["person", "sample"]]), ("levels/export-mgdl.csv", [["person", "sample"]]),
    ("sibionics/hospital-mmol-zh.csv", [["人", "某"]]),
    // The title of LibreView names the account that made the export, so it states no person.
    ("libreview/libreview-mgdl-fr.csv", []), ("libre-desktop/libre-desktop-mgdl-de-without-name.txt", []),
    ("nightscout/entries-v1.tsv", []), ("nightscout/nightscout-algorithms.json", []),
    ("contour/contour-mgdl-en-us.csv", []), ("apple-health/export.xml", []),
  ])
  func eachSampleStatesItsPerson(_ sample: String, _ expected: [[String]]) throws {
    let path = Repository.samples.appending(path: sample).path
    var options = ExportOptions(zone: try LogbookZone(name: "Europe/Madrid"), now: 1_795_219_200)
    let words = FileManager.default.contents(atPath: path + ".options").map {
      String(decoding: $0, as: UTF8.self)
    }
    try Rendering.apply((words ?? "").split(whereSeparator: \.isWhitespace).map(String.init), to: &options)
    let stated = try InputReader(path: path, options: options).statedPersons.filter { !$0.isOfAccount }
    #expect(stated.map { $0.words.sorted() } == expected)
  }

  @Test func theTitleOfLibreViewStatesAnAccountAndNotThePerson() throws {
    let stated = try stated(
      String(decoding: TextExport.sample("libreview/libreview-mgdl-fr.csv"), as: UTF8.self))
    #expect(
      stated.map(\.isOfAccount) == [true] && stated.map { $0.words.sorted() } == [["person", "sample"]])
  }

  @Test func theSelectedPersonOfJoinedClinicExportsIsStated() throws {
    let one = try String(
      decoding: TextExport.sample("libreview/libreview-mmol-sv-clinician.csv"), as: UTF8.self)
    let stated = try stated(one + one.replacing("Person", with: "Other")) { options in
      options.rows = [RowFilter(column: "person", value: "2")]
    }
    #expect(stated.map { $0.words.sorted() } == [["other", "sample"]])
  }

  /// A FHIR Bundle refers to a Patient as `urn:uuid:…`, and NDJSON as `Patient/…`.
  @Test func bothNotationsOfAReferenceToAFHIRPatientStateOnePerson() throws {
    func words(_ reference: String) throws -> Set<Set<String>> {
      try Set(
        stated(
          #"{"resourceType":"Observation","subject":{"reference":"\#(reference)"},"effectiveDateTime":"2026-03-01T07:10:33Z","#
            + #""code":{"coding":[{"system":"http://loinc.org","code":"2339-0"}]},"status":"final","#
            + #""valueQuantity":{"value":120,"unit":"mg/dL","code":"mg/dL","system":"http://unitsofmeasure.org"}}"#
        ).map(\.words))
    }
    let (one, other) = ("6f1ea1c3-4b0d-8d4f-9f57-5b0f4b2f8a11", "6f1ea1c3-4b0d-8d4f-9f57-5b0f4b2f8a12")
    #expect(try words("urn:uuid:\(one)") == words("Patient/\(one)"))
    #expect(try words("urn:uuid:\(one)") == words("urn:uuid:\(one.uppercased())"))
    #expect(try words("urn:uuid:\(one)").isDisjoint(with: words("Patient/\(other)")))
    // An id such as 7 may belong to another patient on another server. So only a UUID means the same person
    // in both notations.
    #expect(try words("Patient/7") == [["patient/7"]])
    #expect(try words("https://example.org/Patient/\(one)").isDisjoint(with: words("Patient/\(one)")))
  }

  private static let header =
    "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Event Subtype,Patient Info,Device Info,Source Device ID,"
    + "Glucose Value (mg/dL),Insulin Value (u),Carb Value (grams),Duration (hh:mm:ss),"
    + "Glucose Rate of Change (mg/dL/min),Transmitter Time (Long Integer),Transmitter ID\n"

  private static func clarity(_ info: [String], tick: Int = 1000) -> String {
    let rows = info.enumerated().map { "\($0.offset),,Info,,\($0.element),,,,,,,,,\n" }.joined()
    return header + rows + "9,2026-03-01T08:00:12,EGV,,,,Android G6,110,,,,,\(tick),8AAAA1\n"
  }

  @Test func aClarityExportStatesNameIDAndDateOfBirth() throws {
    let stated = try stated(Self.clarity(["Ann", "Sample", "1980-05-06", "MRN-7"]))
    #expect(Set(stated.map(\.kind)) == [.name, .birthDate, .id])
  }

  @Test func onlyThePersonWhoseRowsAreSelectedIsStated() throws {
    let text = Self.clarity(["Ann", "Sample"]) + Self.clarity(["Bo", "Other"], tick: 5000)
    let second = try stated(text) { $0.rows = [RowFilter(column: "person", value: "2")] }
    #expect(second.map { $0.words.sorted() } == [["bo", "other"]])
    let table = "patient,time,glucose (mg/dL)\nA7,2026-03-01T08:00:00Z,100\nB8,2026-03-01T09:00:00Z,110\n"
    let picked = try stated(table) { $0.rows = [RowFilter(column: "patient", value: "B8")] }
    #expect(picked.map { $0.words.sorted() } == [["b8"]])
  }

  @Test func aColumnWithOnePersonStatesThatPerson() throws {
    func table(_ name: String) -> String {
      "\(name),time,glucose (mg/dL)\nA7,2026-03-01T08:00:00Z,100\nA7,2026-03-01T09:00:00Z,110\n"
    }
    #expect(try stated(table("patient")).map { $0.words.sorted() } == [["a7"]])
    // Columns named `client` or `device` state no person, because a client may be a program.
    for name in ["client", "device"] { #expect(try stated(table(name)).isEmpty, "\(name)") }
  }

  @Test func membersOutsideJSONObjectsStateThePersonOfTheObjects() throws {
    let body = """
      {"recordType":"egv","recordVersion":"3.0","userId":"U-1","records":[{"recordId":"a","systemTime":"2026-03-01T08:00:00",
      "displayTime":"2026-03-01T09:00:00","transmitterId":"x","transmitterTicks":1,"value":100,"status":null,"trend":"flat",
      "trendRate":0.1,"unit":"mg/dL","rateUnit":"mg/dL/min","displayDevice":"android","transmitterGeneration":"g6"}]}
      """
    #expect(try stated(body).map { $0.words.sorted() } == [["u-1"]])
  }
}
