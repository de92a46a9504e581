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

  /// Hides one reading, or shows it.
  func hide(_ node: SimulatedNode) throws {
    guard kind == .server else { return }
    guard let reading = try readings(of: node).randomElement(using: &random) else { return }
    say("\(node.name) \(reading.isWithdrawn ? "shows" : "hides") \(reading.address)")
    try WithdrawalEditor(node.editing(), at: node.clock).set(
      reading, isHidden: !reading.isWithdrawn, reason: "")
  }

  /// Every node hides the same. Of a sensor's place each node may hold its own first value, and shows equal ones once.
  func compareHidden() throws {
    var sides: [(name: String, hidden: Set<String>)] = []
    for node in nodes {
      let sticks = try readings(of: node).filter { $0.kind == .smbg && $0.isWithdrawn }
      sides.append((node.name, Set(sticks.map(\.identity.text))))
    }
    for side in sides where side.hidden != sides[0].hidden {
      throw Broken(
        "\(side.name) and \(sides[0].name) hide different readings: "
          + "\(side.hidden.symmetricDifference(sides[0].hidden).sorted())")
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
}
