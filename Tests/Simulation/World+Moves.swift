// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import TestServers

/// Checks which items of the nodes a site has, and that no reading is lost.
extension World {
  /// Checks that every node has each imported reading, unless the server refuses some readings. With a site,
  /// hidden readings are not sent, so only one node may have them.
  func checkNoReadingIsLost() throws {
    var all: Set<String> = []
    for node in nodes {
      let held = try node.identities()
      all.formUnion(held)
      guard kind == .server, !isPicky else { continue }
      let lost = owedReadings.subtracting(held)
      guard lost.isEmpty else { throw Broken("\(node.name): the readings \(lost.sorted()) are lost") }
    }
    let lost = owedReadings.subtracting(all)
    guard lost.isEmpty else { throw Broken("the readings \(lost.sorted()) are lost") }
  }

  /// Checks that no dose has two active documents on a site.
  func checkDoses() throws {
    guard let site else { return }
    var doses: Set<String> = []
    for document in site.validTreatments() where document["insulin"]?.number ?? 0 > 0 {
      for guid in document.recordIDs where !doses.insert(guid).inserted {
        throw Broken("site: the dose \(guid) acts twice")
      }
    }
  }

  /// Checks that a site has each visible item of each node once and at the right instant, and no other items
  /// that glucoport wrote.
  func compareSite() throws {
    guard let site else { return }
    try checkDoses()
    let (entries, values) = (site.ownEntries(), site.ownValues())
    let treatments = site.validTreatments()
    for node in nodes {
      let shown = try readings(of: node).filter { !$0.isWithdrawn && $0.isUploaded }
      // After a move to another site, a store also sends items that came from other programs. This check
      // leaves such items out.
      let places = Set(shown.map(\.identity.uuid))
      var shownValues = Set<String>()
      for reading in shown where reading.device.vendor == "Maker" {
        shownValues.insert(reading.valueText)
        let found = entries[reading.identity.uuid] ?? values[reading.valueText] ?? []
        // An entry of another program may have the value at this time. glucoport then writes no entry.
        guard found == [reading.utc] || found.isEmpty && site.hasForeignEntry(at: reading.utc) else {
          throw Broken("\(node.name): \(reading.address) at \(reading.utc) stands at \(found)")
        }
      }
      // Another store may have given two values of one time other occurrence numbers. The `identifier`
      // contains this number, so it differs.
      let foreign = Set(entries.keys).subtracting(places).filter { key in
        !site.ownValues(key).allSatisfy(shownValues.contains)
      }
      guard foreign.isEmpty else {
        throw Broken("\(node.name): the site has readings that it does not show: \(foreign.sorted())")
      }
      let records = Dictionary(try listedRecords(of: node).map { ($0.guid, $0) }) { first, _ in first }
      for document in treatments {
        for guid in document.recordIDs {
          guard let record = records[guid] else { continue }
          let instant = Int64(((document["date"]?.number ?? 0) / 1000).rounded(.down))
          let isOurs = document["app"]?.text == "glucoport"
          guard !isOurs || !record.isWithdrawn && record.utc == instant else {
            throw Broken("\(node.name): \(guid) at \(record.utc) stands at \(instant)")
          }
        }
      }
    }
  }

  /// Whether the nodes have different versions of a record that one node hides and has removed from the
  /// site. A hidden record is not sent, as the manual page states.
  func differsWhileHidden(_ guid: String) throws -> Bool {
    guard let site, site.hasWithdrawn(guid) else { return false }
    let states = try nodes.compactMap { try $0.records()[guid]?.state }
    return states.contains { !$0.agrees(with: states[0]) }
  }

  /// The words of the `Ledger` in records that a node hides, or whose version only this node has.
  func hiddenWords(of node: SimulatedNode) throws -> Set<String> {
    let hidden = try node.sync().compare { try $0.hiddenRecords() }
    return try node.records().reduce(into: []) { words, record in
      if try hidden.contains(record.key) || differsWhileHidden(record.key) {
        words.formUnion(record.value.state.words)
      }
    }
  }
}

extension SimulatedSite {
  func validTreatments() -> [TestServers.NightscoutDocument] {
    site.documents("treatments").filter { $0["isValid"] != false }
  }

  /// The times in seconds of the valid entries that glucoport wrote, by `identifier`.
  func ownEntries() -> [String: [Int64]] {
    var found: [String: [Int64]] = [:]
    for entry in validEntries() { found[entry["identifier"]?.text ?? "", default: []].append(entry.second) }
    return found
  }

  /// The times in seconds of the valid entries that glucoport wrote, by `valueText`.
  func ownValues() -> [String: [Int64]] {
    validEntries().reduce(into: [:]) { found, entry in
      if let text = entry.valueText { found[text, default: []].append(entry.second) }
    }
  }

  /// The `valueText` of each valid entry with this `identifier` that glucoport wrote.
  func ownValues(_ key: String) -> [String] {
    validEntries().filter { $0["identifier"]?.text == key }.compactMap(\.valueText)
  }

  private func validEntries() -> [TestServers.NightscoutDocument] {
    site.documents("entries").filter { $0["isValid"] != false && $0["glucoport"] != nil }
  }

  func hasForeignEntry(at second: Int64) -> Bool {
    site.documents("entries").contains { $0["glucoport"] == nil && $0.second == second }
  }

  /// Whether a document of the site states that this record was hidden.
  func hasWithdrawn(_ guid: String) -> Bool {
    site.documents("treatments").contains {
      $0["glucoport"]?["withdrawn"] == true && $0.recordIDs.contains(guid)
    }
  }
}

extension TestServers.NightscoutDocument {
  /// The ids of the records that the document contains.
  var recordIDs: [String] {
    self["glucoport"]?["parts"]?.array?.compactMap { $0["guid"]?.text } ?? []
  }

  /// The device, kind, shown time and value of an entry; nil for an entry of another program.
  fileprivate var valueText: String? {
    guard let own = self["glucoport"], let position = own["position"]?.number,
      let value = own["value"]?.number
    else { return nil }
    return "\(own["serial"]?.text ?? "") \(own["kind"]?.text ?? "") \(Int64(position)) \(value)"
  }

  fileprivate var second: Int64 { Int64(((self["date"]?.number ?? 0) / 1000).rounded(.down)) }
}

extension StoredReading {
  /// The same text as `valueText` of the entry in which glucoport sends this reading.
  fileprivate var valueText: String {
    "\(device.serial) \(kind.name) \(identity.position) \(measurement.quantity?.number ?? 0)"
  }
}
