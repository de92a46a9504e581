// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// What people take out of a logbook, and put back.
extension World {
  /// Undoes an import, or what was undone.
  func undo(_ node: SimulatedNode) throws {
    guard kind == .server else { return }
    let imports = try node.sync().ingests(limit: 20).filter { $0.digest != nil }
    guard let chosen = imports.randomElement(using: &random) else { return }
    let counts = try node.editing().undo(chosen.id, group: random.uuid(), at: node.clock)
    say("\(node.name) \(counts.isRedo ? "restores" : "undoes") import \(chosen.id): \(counts.readings)")
  }

  /// Hides one reading, one record, or some readings of a device with those that come later, or takes that back.
  func hide(_ node: SimulatedNode) throws {
    guard kind == .server else { return }
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

  /// Every node hides the same. Of a sensor's place each node may hold its own first value, and shows equal ones once.
  func compareHidden() throws {
    var sides: [(name: String, hidden: Set<String>)] = []
    for node in nodes {
      // One that the host refused stays with its node.
      let sticks = try readings(of: node).filter { $0.kind == .smbg && $0.isUploaded && $0.isWithdrawn }
      sides.append((node.name, Set(sticks.map(\.identity.text))))
    }
    for side in sides where side.hidden != sides[0].hidden {
      throw Broken(
        "\(side.name) and \(sides[0].name) hide different readings: "
          + "\(side.hidden.symmetricDifference(sides[0].hidden).sorted())")
    }
    let records = try nodes.map { try Set(listedRecords(of: $0).filter(\.isWithdrawn).map(\.guid)) }
    for (node, hidden) in zip(nodes, records) where hidden != records[0] {
      throw Broken(
        "\(node.name) and \(nodes[0].name) hide different records: "
          + "\(hidden.symmetricDifference(records[0]).sorted())")
    }
  }

  private func readings(of node: SimulatedNode) throws -> [StoredReading] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    filter.recordKinds = []
    var readings: [StoredReading] = []
    try node.sync().forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }
  private func listedRecords(of node: SimulatedNode) throws -> [StoredRecord] {
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
