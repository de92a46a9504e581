// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests inputs that state an animal or a computation above the header, around the list or in a column.
@Suite struct OtherSubjectTests {
  private static let table =
    "time,glucose (mg/dL)\n2026-05-01 07:00,101\n2026-05-01 12:10,104\n2026-05-02 07:04,118\n"
  private static let list =
    #"[{"time":"2026-05-01 07:00","glucose":101},{"time":"2026-05-01 12:10","glucose":104}]"#

  /// Requires that an input is a question, and that `--force` imports its readings.
  private func expectQuestion(_ text: String, _ word: String, _ count: Int) throws {
    let file = try ScratchFile(text)
    let message = try #require(try file.refusal(), "\(text.prefix(80))")
    #expect(message.contains("'\(word)'") && message.contains("--force"), "\(message)")
    #expect(try file.readings { $0.force = true }.readings.count == count)
  }

  @Test(arguments: [
    ("Pet: Bella (dog)\n", "pet"), ("Blood glucose curve of Bella\nSpecies: Canine\n", "species"),
    ("Blutzuckertagebuch Hund Bello\n", "hund"), ("# Patient: Bello (Hund)\n", "hund"),
    ("Tierart;Katze\n", "tierart"), ("Name: Luna, cat\n", "cat"), ("Glucose of my cat Luna\n", "cat"),
    ("Glucemia de mi perro\n", "perro"), ("血糖 犬 ポチ\n", "犬"), ("Dog Rex - glucose curve\n", "dog"),
    ("Animal ID,A7\n", "animal id"), ("Paciente: Toby / perro\n", "perro"),
  ])
  func aTableBelowAWordForAnAnimalIsAQuestion(_ title: String, _ word: String) throws {
    try expectQuestion(title + Self.table, word, 3)
  }

  @Test(arguments: [
    "Name: Peter Hund\n", "Patient: Hund, Peter\n", "Blood glucose log of Anna Hund\n",
    "Diary of Cat Miller\n", "Patient: Miller, Cat\n", "Species: Homo sapiens\n", "Note: hot dog for lunch\n",
    "Export of chat 7\n", "Pet: none\n", "Patient: Lee, Chien\n", "Sugar cane diary\n",
    "2026-05-01 06:00,walked the dog\n",
  ])
  func aTitleThatOnlyResemblesAnAnimalIsIgnored(_ title: String) throws {
    #expect(try ScratchFile(title + Self.table).refusal() == nil, "\(title)")
  }

  @Test(arguments: [
    ("Patient", "Bello (Hund)", "hund"), ("Animal", "cat", "animal"), ("Pet name", "Bello", "pet name"),
    ("Species", "Canis familiaris", "species"), ("patient", "dog", "dog"), ("Tierart", "Hund", "tierart"),
    ("Dog", "Rex", "dog"), ("Tier", "Bello", "tier"),
  ])
  func aColumnThatNamesAnAnimalIsAQuestion(_ column: String, _ value: String, _ word: String) throws {
    let rows = Self.table.split(separator: "\n").enumerated().map { $0.offset == 0 ? column : value }
    let text = zip(Self.table.split(separator: "\n"), rows).map { "\($0),\($1)\n" }.joined()
    try expectQuestion(text, word, 3)
  }

  @Test(arguments: [
    ("Patient", "Hund Peter"), ("Species", "human"), ("Dog", "no"), ("Note", "dog"), ("Tier", "Gold"),
    ("Patient", "Anna (home)"), ("Cat", "Breakfast"),
  ])
  func aColumnThatOnlyResemblesAnAnimalIsIgnored(_ column: String, _ value: String) throws {
    let lines = Self.table.split(separator: "\n").enumerated()
    let text = lines.map { "\($0.element),\($0.offset == 0 ? column : value)\n" }.joined()
    #expect(try ScratchFile(text).refusal() == nil, "\(column)")
  }

  @Test(arguments: [
    (#""pet":{"name":"Bella","species":"dog"}"#, "pet"), (#""animal":"cat""#, "animal"),
    (#""patient":{"name":"Bella","species":"dog"}"#, "species"), (#""pet":"Bella""#, "pet"),
    (#""patient":{"name":"Bello (Hund)"}"#, "hund"), (#""meta":{"species":"dog"}"#, "species"),
    (#""patient":"\u72ac""#, "犬"),
    (#""simulation":{"model":"UVA/Padova","subject":"adult#001"}"#, "simulation"),
    (#""meta":{"generatedBy":"forecast","horizon":"2h"}"#, "forecast"),
    (#""type":"prediction""#, "prediction"),
    (#""isSimulated":true"#, "isSimulated"), (#""simulator":"v3.2""#, "simulator"),
    (#""source":"Loop CGM Simulator""#, "simulator"), (#""model":"simglucose""#, "simglucose"),
    (#""art":"Vorhersage""#, "vorhersage"),
  ])
  func jsonAroundAListThatStatesAnotherSubjectIsAQuestion(_ member: String, _ word: String) throws {
    try expectQuestion("{\(member),\"readings\":\(Self.list)}", word, 2)
    try expectQuestion("{\"readings\":\(Self.list),\(member)}", word, 2)
  }

  @Test(arguments: [
    #""pet":null"#, #""species":"human""#, #""pet":false"#, #""settings":{"forecast":true,"simulator":"on"}"#,
    #""forecast":{"value":120}"#, #""predictions":[]"#, #""prediction":"rising""#, #""isSimulated":false"#,
    #""simulation":"none""#, #""app":"Glucose Forecast""#, #""note":"no forecast""#,
    #""note":"the dog woke me at night""#, #""predictionHorizon":30"#, #""user":"Prognose""#,
  ])
  func jsonAroundAListThatOnlyResemblesAnotherSubjectIsRead(_ member: String) throws {
    #expect(try ScratchFile("{\(member),\"readings\":\(Self.list)}").refusal() == nil, "\(member)")
  }

  @Test(arguments: [
    ("Simulation of adult#001\n", "simulation"), ("# Forecast, 2 h\n", "forecast"),
    ("Source: UVA/Padova simulator\n", "padova"), ("Vorhersage der Glukose\n", "vorhersage"),
  ])
  func aTableBelowAWordForAComputationIsAQuestion(_ title: String, _ word: String) throws {
    try expectQuestion(title + Self.table, word, 3)
  }

  @Test(arguments: [
    "Predicted HbA1c: 6.8 %\n", "Readings without predictions\n", "Forecast: off\n",
    "This table has the readings of a sensor and of a meter and no more than one prediction\n",
  ])
  func aTitleThatOnlyMentionsAComputationIsIgnored(_ title: String) throws {
    #expect(try ScratchFile(title + Self.table).refusal() == nil, "\(title)")
  }

  /// Of several animals, a person selects one first. This selection is also a statement about the rows.
  @Test func theAnimalsOfAColumnAreSelectedLikePersons() throws {
    let text = "time,glucose (mg/dL),pet\n2026-05-01 07:00,101,Rex\n2026-05-01 08:00,104,Bella\n"
    let file = try ScratchFile(text)
    #expect(try file.refusal()?.contains("--where") == true)
    #expect(try file.readings { $0.rows = [RowFilter(column: "pet", value: "Rex")] }.readings.count == 1)
  }

  @Test(arguments: ["user", "username", "owner", "account", "profile", "child"])
  func textMembersAroundAListStateThePerson(_ member: String) throws {
    #expect(try persons(#"{"\#(member)":"anna","data":\#(Self.list)}"#).map(\.words) == [["anna"]])
    #expect(try persons(#"{"data":\#(Self.list),"meta":{"\#(member)":"anna"}}"#).map(\.words) == [["anna"]])
  }

  @Test func aPetStatesItselfIfAPersonForcesTheImport() throws {
    let text = #"{"pet":"Bella","data":\#(Self.list)}"#
    #expect(try persons(text, force: true).map(\.words) == [["bella"]])
    let nested = #"{"pet":{"name":"Bella","id":"P-7"},"data":\#(Self.list)}"#
    #expect(try persons(nested, force: true).map(\.words) == [["bella"], ["p-7"]])
  }

  @Test(arguments: [
    #""profile":"Default""#, #""profile":{"name":"Default"}"#, #""account":"standard""#, #""user":true"#,
    #""owner":null"#, #""profile":"Basal insulin""#, #""users":[{"name":"anna"}]"#,
  ])
  func membersThatNameNoPersonStateNone(_ member: String) throws {
    #expect(try persons("{\(member),\"data\":\(Self.list)}").isEmpty, "\(member)")
  }

  private func persons(_ text: String, force: Bool = false) throws -> [StatedPerson] {
    var options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: 1_795_219_200)
    options.force = force
    let file = try ScratchFile(text)
    return try withExtendedLifetime(file) {
      try InputReader(path: file.url.path, options: options).statedPersons
    }
  }
}
