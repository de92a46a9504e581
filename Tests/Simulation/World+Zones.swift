// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// What people state about time zones.
extension World {
  private static let zones = ["Asia/Tokyo", "America/New_York", "Europe/Madrid"]

  /// States that another zone held for some hours, or takes such a period back.
  func stateZone(_ node: SimulatedNode) throws {
    // The readings of a site stay where they were sent.
    guard kind == .server else { return }
    let store = try node.connections.store(.editor)
    defer { node.forgetRead() }
    if random.once(in: 3), let period = try store.zones().periods.randomElement(using: &random) {
      say("\(node.name) takes back the zone \(period.guid.prefix(4))")
      _ = try store.remove(period, at: node.clock)
      return
    }
    let first = 1_700_000_000 + 600 * Int64.random(in: 0..<12, using: &random)
    let period = ZonePeriod(
      guid: random.uuid(), from: DeviceTime(seconds: first), until: DeviceTime(seconds: first + 3000),
      zone: try NamedZone(Self.zones.randomElement(using: &random) ?? "UTC"),
      devices: random.once(in: 3) ? ["serial|Maker|a"] : [],
      madeAt: Int64.random(in: 1..<1_000_000, using: &random))
    say("\(node.name) states the zone \(period.guid.prefix(4)) \(period.zone.name)")
    _ = try store.add(period, at: node.clock)
  }

  /// Every store derives the same instants from the same statements.
  func compareInstants() throws {
    guard kind == .server, let first = nodes.first else { return }
    let expected = try first.instants()
    for node in nodes.dropFirst() {
      let instants = try node.instants()
      guard instants == expected else {
        let difference = Set(instants).symmetricDifference(expected).sorted()
        throw Broken("\(node.name): its instants are not those of \(first.name): \(difference)")
      }
    }
  }
}
