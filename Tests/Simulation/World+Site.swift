// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import SeededRandom
import TestServers

/// Simulates other programs that change a site. Changes with API v1 leave no trace, and changes with API v3
/// set the time of change.
extension World {
  /// The site with which the nodes sync; nil if they sync with a server.
  var site: SimulatedSite? { server as? SimulatedSite }

  func actOnSite() throws {
    guard let site else { return }
    let phone = site.site.actAsPhoneApp()
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2: try addEntry(phone)
    case 2..<4: try addTreatment(phone, site)
    case 4..<6: try edit(on: site, "by v1") { phone.editTreatment($0, ["notes": .string($1)]) }
    case 6: try delete(on: site, "by v1") { phone.deleteTreatment($0) }
    case 7: try addAsApp(site)
    case 8: try editAsApp(site)
    default: try delete(on: site, "by v3") { try site.requestAsApp("DELETE", "/\($0)") == 200 }
    }
  }

  /// Edits a treatment through API v3, which sets its time of change. The edit may happen between two
  /// requests of a node.
  func editAsApp(_ site: SimulatedSite) throws {
    try edit(on: site, "by v3") { try site.requestAsApp("PATCH", "/\($0)", ["notes": .string($1)]) == 200 }
  }

  private func addEntry(_ phone: NightscoutPhoneApp) throws {
    // The time is that of a possible reading, or is between two such times. The milliseconds differ from a
    // reading's time, since API v1 keeps only one entry of each type and time.
    let isBetweenReadings = random.once(in: 3)
    let time = 1_699_996_400 + (isBetweenReadings ? 150 : 0) + 300 * Int64.random(in: 0..<12, using: &random)
    let milliseconds = time * 1000 + 250
    log("a phone adds an entry")
    phone.addEntry([
      "type": "sgv", "sgv": DocumentValue(Int64.random(in: 100...103, using: &random)),
      "date": DocumentValue(milliseconds), "dateString": .string(Self.text(milliseconds)), "device": "phone",
    ])
  }

  private func addTreatment(_ phone: NightscoutPhoneApp, _ site: SimulatedSite) throws {
    let isFood = random.once(in: 2)
    let event = isFood ? "Carb Correction" : "Note"
    let time = Self.text(1_699_996_400_000 + Int64.random(in: 0...9, using: &random))
    let isTaken = site.site.documents("treatments").contains {
      $0["created_at"]?.text == time && $0["eventType"]?.text == event
    }
    // If a treatment of this kind and time exists, API v1 would replace it. So none is added.
    guard !isTaken else { return }
    let word = ledger.word(for: "")
    var treatment: TestServers.NightscoutDocument = [
      "eventType": .string(event), "created_at": .string(time), "notes": .string(word),
    ]
    if isFood { treatment["carbs"] = 12 }
    guard let id = phone.addTreatment(treatment) else { return }
    let guid = Self.guid(id, isFood ? .food : .note)
    ledger.move([word], from: "", to: guid)
    log("a phone adds \(guid.prefix(4)) \(word)")
  }

  private func addAsApp(_ site: SimulatedSite) throws {
    let id = random.uuid()
    let guid = Self.guid(id, .note)
    let word = ledger.word(for: guid)
    log("an app adds \(guid.prefix(4)) \(word)")
    // The app's document becomes visible only after some later writes, as on a slow database.
    site.site.change { $0.visibilityDelayMilliseconds = 2000 }
    try site.requestAsApp(
      "POST", "",
      [
        "identifier": .string(id), "app": "app", "eventType": "Note", "notes": .string(word),
        "date": DocumentValue(1_699_996_400_000 + Int64.random(in: 0...9_000, using: &random)),
        "utcOffset": 60,
      ])
    site.site.change { $0.visibilityDelayMilliseconds = 0 }
  }

  private func edit(
    on site: SimulatedSite, _ way: String, _ write: (_ id: String, _ word: String) throws -> Bool
  ) throws {
    guard let document = randomTreatment(site), let id = Self.id(document), let guid = Self.guid(document)
    else {
      return
    }
    let word = ledger.word(for: guid)
    let seen = document["notes"]?.text
    log("\(way) \(guid.prefix(4)) gets \(word) for \(seen ?? "-")")
    guard try write(id, word) else { throw Broken("site: an edit \(way) was not taken") }
    if let seen { ledger.retire([seen]) }
  }

  private func delete(on site: SimulatedSite, _ way: String, _ delete: (String) throws -> Bool) throws {
    guard let document = randomTreatment(site), let id = Self.id(document), let guid = Self.guid(document)
    else {
      return
    }
    log("\(way) \(guid.prefix(4)) is deleted")
    ledger.retire(Self.words(document))
    guard try delete(id) else { throw Broken("site: a deletion \(way) was not taken") }
  }

  /// A random visible treatment with one record. Treatments that are being moved are left out.
  private func randomTreatment(_ site: SimulatedSite) -> TestServers.NightscoutDocument? {
    site.visibleTreatments().filter { document in
      document["glucoport"]?["moved"] == nil && Self.guid(document) != nil
        && (document["glucoport"]?["parts"]?.array?.count ?? 1) == 1 && !Self.isStatement(document)
    }.randomElement(using: &random)
  }

  /// Whether a document contains a time zone or a withdrawal of glucoport. The simulated programs do not
  /// change such documents: real ones do not use them, and after two days their deletion would not be
  /// noticed.
  private static func isStatement(_ document: TestServers.NightscoutDocument) -> Bool {
    ["Time Zone", "Withdrawal"].contains(document["eventType"]?.text)
  }

  private static func id(_ document: TestServers.NightscoutDocument) -> String? {
    document["identifier"]?.text ?? document["_id"]?.text
  }

  /// The id of the record that contains the notes of this document.
  private static func guid(_ document: TestServers.NightscoutDocument) -> String? {
    if let own = document["glucoport"]?["parts"]?.array?.first?["guid"]?.text { return own }
    guard let id = id(document), let event = document["eventType"]?.text, event != "Site Change" else {
      return nil
    }
    return guid(id, event == "Note" ? .note : .food)
  }

  /// The id that the record from another program's document gets.
  private static func guid(_ id: String, _ kind: RecordKind) -> String {
    Digest.uuid(of: ["record", "nightscout", "\(id)/\(kind.rawValue)"])
  }

  /// All words of the `Ledger` in a document.
  private static func words(_ document: TestServers.NightscoutDocument) -> Set<String> {
    let text = DocumentValue.object(document).json
    return Set(text.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { $0.first == "w" })
  }

  private static func text(_ milliseconds: Int64) -> String {
    let rest = milliseconds % 1000
    return "\(DeviceTime(seconds: milliseconds / 1000).text).\(String("00\(rest)".suffix(3)))Z"
  }
}

extension SimulatedSite {
  /// The valid treatments that a request can currently see.
  fileprivate func visibleTreatments() -> [TestServers.NightscoutDocument] {
    site.visibleDocuments("treatments").filter { $0["isValid"] != false }
  }
}
