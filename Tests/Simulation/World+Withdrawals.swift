// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// Simulates people who hide content of a logbook and show it again.
extension World {
  /// Undoes or redoes an import, even if other people have hidden or shown its items. Sometimes this changes
  /// nothing.
  func undo(_ node: SimulatedNode) throws {
    removesReadings = kind == .site
    let imports = try node.sync().ingests(limit: 20).filter { $0.digest != nil }
    guard let chosen = imports.randomElement(using: &random) else { return }
    let redoes = random.once(in: 8) ? Bool.random(using: &random) : chosen.isUndone
    let shown = try shownReadings(of: node)
    let counts =
      redoes
      ? try node.editing().redo(chosen.id, at: node.clock)
      : try node.editing().undo(chosen.id, group: random.uuid(), at: node.clock)
    log("\(node.name) \(redoes ? "redoes" : "undoes") import \(chosen.id): \(counts.readings)")
    let change = try shownReadings(of: node) - shown
    let said = (counts.readings - counts.oppositeReadings) * (redoes ? 1 : -1)
    guard change == said else {
      throw Broken("\(node.name): \(change) readings changed, and import \(chosen.id) said \(said)")
    }
  }

  private func shownReadings(of node: SimulatedNode) throws -> Int {
    try readings(of: node).count { !$0.isWithdrawn }
  }

  /// Checks that a node shows the readings of its imports, except for undone imports and readings that a
  /// person hid. Undos in other stores must not hide them.
  func checkOwnImports(_ node: SimulatedNode) throws {
    let undone = try node.sync().undoneImports()
    // A meter sends its whole memory in each session. So another import of a meter does not show hidden
    // readings again, and is not checked.
    let files = try node.sync().ingests(limit: 1000).filter { $0.digest?.isEmpty == false }
    let own = Set(files.map(\.id)).subtracting(undone)
    let hidden = try readings(of: node).filter {
      $0.isWithdrawn && $0.kind == .smbg && own.contains($0.ingest)
    }
    let lost = hidden.filter {
      !decidedByPeople.contains($0.identity.text) && !hiddenDevices.contains($0.device.serial)
    }
    guard lost.isEmpty else {
      throw Broken(
        "\(node.name): \(lost.map(\.address)) are hidden, and an import that is not undone brought them")
    }
  }

  /// Hides one reading, one record, or the readings of a device in a period. If they are hidden, shows them
  /// again.
  func hide(_ node: SimulatedNode) throws {
    removesReadings = kind == .site
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try hideRecord(node)
    case 1: try hideDevice(node)
    default: try hideReading(node)
    }
  }

  private func hideReading(_ node: SimulatedNode) throws {
    guard let reading = try readings(of: node).randomElement(using: &random) else { return }
    log("\(node.name) \(reading.isWithdrawn ? "shows" : "hides") \(reading.address)")
    decidedByPeople.insert(reading.identity.text)
    try WithdrawalEditor(node.editing(), at: node.clock).set(
      reading, isHidden: !reading.isWithdrawn, reason: "")
  }

  private func hideRecord(_ node: SimulatedNode) throws {
    guard let record = try listedRecords(of: node).randomElement(using: &random) else { return }
    log("\(node.name) \(record.isWithdrawn ? "shows" : "hides") \(record.guid)")
    try WithdrawalEditor(node.editing(), at: node.clock).set(
      record, isHidden: !record.isWithdrawn, reason: "")
  }

  private func hideDevice(_ node: SimulatedNode) throws {
    guard let reading = try readings(of: node).randomElement(using: &random) else { return }
    let editor = try WithdrawalEditor(node.editing(), at: node.clock)
    let restored = try editor.restore(reading.device, since: nil, until: nil)
    if restored.rules > 0 {
      return log("\(node.name) shows \(restored.readings) readings of \(reading.device.serial)")
    }
    hiddenDevices.insert(reading.device.serial)
    let until = DeviceTime(seconds: reading.deviceTime.seconds + 3600)
    let hidden = try editor.hide(
      reading.device, since: reading.deviceTime, until: until, reason: "", guid: random.uuid())
    log(
      "\(node.name) hides \(hidden) readings of \(reading.device.serial) from \(reading.deviceTime.text) on")
  }

  /// Checks that all nodes hide the same items. Nodes may have stored different first values of a sensor for
  /// the same time, so only the time is compared.
  func compareVisible() throws {
    for node in nodes { try checkOwnImports(node) }
    let sides = try nodes.map { try Visible($0.name, readings(of: $0), listedRecords(of: $0)) }
    for side in sides {
      for (word, mine, theirs) in [
        ("readings", side.sticks, sides[0].sticks), ("records", side.records, sides[0].records),
        ("places", side.places, sides[0].places),
      ] {
        let differing = try mine.filter { key, isShown in
          try theirs[key].map { $0 != isShown } ?? (kind == .server) && !differsWhileHidden(key)
        }
        guard differing.isEmpty else {
          throw Broken("\(side.name) and \(sides[0].name) hide different \(word): \(differing.keys.sorted())")
        }
      }
    }
  }

  func readings(of node: SimulatedNode) throws -> [StoredReading] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    filter.recordKinds = []
    var readings: [StoredReading] = []
    try node.sync().forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }

  func listedRecords(of node: SimulatedNode) throws -> [StoredRecord] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    filter.readingKinds = []
    var records: [StoredRecord] = []
    try node.sync().forEachItem(filter) { item in
      if case .record(let record) = item { records.append(record) }
    }
    return records
  }
}

/// The items of a node, each with whether it is visible.
private struct Visible {
  let name: String
  var sticks: [String: Bool] = [:]
  /// For each time of a sensor, whether a value of this time is visible.
  var places: [String: Bool] = [:]
  let records: [String: Bool]

  init(_ name: String, _ readings: [StoredReading], _ records: [StoredRecord]) throws {
    self.name = name
    self.records = Dictionary(records.map { ($0.guid, !$0.isWithdrawn) }) { $0 && $1 }
    // A reading that the host refused exists only on its node, so it is not compared.
    for reading in readings where reading.isUploaded {
      if reading.kind == .smbg {
        sticks[reading.identity.text] = !reading.isWithdrawn
      } else {
        let place = "\(reading.device.serial) \(reading.kind) \(reading.identity.position)"
        places[place] = places[place] == true || !reading.isWithdrawn
      }
    }
  }
}
