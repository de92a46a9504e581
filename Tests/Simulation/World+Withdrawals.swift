// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// What people take out of a logbook, and put back.
extension World {
  /// Undoes an import, or what was undone.
  func undo(_ node: SimulatedNode) throws {
    removesReadings = kind == .site
    let imports = try node.sync().ingests(limit: 20).filter { $0.digest != nil }
    guard let chosen = imports.randomElement(using: &random) else { return }
    let counts = try node.editing().undo(chosen.id, group: random.uuid(), at: node.clock)
    say("\(node.name) \(counts.isRedo ? "restores" : "undoes") import \(chosen.id): \(counts.readings)")
  }

  /// Hides one reading, one record, or some readings of a device with those that come later, or takes that back.
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
    say("\(node.name) \(reading.isWithdrawn ? "shows" : "hides") \(reading.address)")
    try WithdrawalEditor(node.editing(), at: node.clock).set(
      reading, isHidden: !reading.isWithdrawn, reason: "")
  }

  private func hideRecord(_ node: SimulatedNode) throws {
    guard let record = try listedRecords(of: node).randomElement(using: &random) else { return }
    say("\(node.name) \(record.isWithdrawn ? "shows" : "hides") \(record.guid)")
    try WithdrawalEditor(node.editing(), at: node.clock).set(
      record, isHidden: !record.isWithdrawn, reason: "")
  }

  private func hideDevice(_ node: SimulatedNode) throws {
    guard let reading = try readings(of: node).randomElement(using: &random) else { return }
    let editor = try WithdrawalEditor(node.editing(), at: node.clock)
    let restored = try editor.restore(reading.device, since: nil, until: nil)
    if restored.rules > 0 {
      return say("\(node.name) shows \(restored.readings) readings of \(reading.device.serial)")
    }
    let until = DeviceTime(seconds: reading.deviceTime.seconds + 3600)
    let hidden = try editor.hide(
      reading.device, since: reading.deviceTime, until: until, reason: "", guid: random.uuid())
    say(
      "\(node.name) hides \(hidden) readings of \(reading.device.serial) from \(reading.deviceTime.text) on")
  }

  /// Every node hides the same of what it has. Of a sensor's place each node may hold its own first value, and shows equal ones once.
  func compareVisible() throws {
    let sides = try nodes.map { try Visible($0.name, readings(of: $0), listedRecords(of: $0)) }
    for side in sides {
      for (word, mine, theirs) in [
        ("readings", side.sticks, sides[0].sticks), ("records", side.records, sides[0].records),
        ("places", side.places, sides[0].places),
      ] {
        let differing = try mine.filter { key, isShown in
          try theirs[key].map { $0 != isShown } ?? (kind == .server) && !isApart(key)
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

/// What a node has, each with whether it is shown.
private struct Visible {
  let name: String
  var sticks: [String: Bool] = [:]
  /// Where sensors have values.
  var places: [String: Bool] = [:]
  let records: [String: Bool]

  init(_ name: String, _ readings: [StoredReading], _ records: [StoredRecord]) throws {
    self.name = name
    self.records = Dictionary(records.map { ($0.guid, !$0.isWithdrawn) }) { $0 && $1 }
    // One that the host refused stays with its node.
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
