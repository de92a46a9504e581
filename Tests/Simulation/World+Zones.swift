// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Sync

/// Simulates people who state time zones.
extension World {
  private static let zones = ["Asia/Tokyo", "America/New_York", "Europe/Madrid"]

  /// A random zone, as a person may choose it.
  func drawZone() -> String { Self.zones.randomElement(using: &random) ?? "UTC" }

  /// Sets the first zone of a store: the zone of the computer, or one that a person gave.
  func drawFirstZone(_ node: SimulatedNode) throws {
    guard hasZones else { return try node.setFirstZone("Europe/Madrid", isGiven: true) }
    let name = random.once(in: 2) ? Self.zones.randomElement(using: &random) ?? "UTC" : "Europe/Madrid"
    let isGiven = random.once(in: 2)
    log("\(node.name) begins in \(name)\(isGiven ? ", given" : "")")
    try node.setFirstZone(name, isGiven: isGiven)
  }

  /// The choice of a person which of two base zones the next upload keeps. It is usually nil until an upload
  /// has ended because a person must choose.
  func drawZoneChoice(_ node: SimulatedNode) -> ZoneChoice? {
    guard node.isAskedForZone ? !random.once(in: 4) : random.once(in: 40) else { return nil }
    return ZoneChoice.allCases.randomElement(using: &random)
  }

  /// Performs a step of an upload. If a person must choose a base zone, the upload ends, sends nothing and
  /// keeps the zone.
  func takeStep(_ node: SimulatedNode) async throws -> UploadEnding? {
    let zone = node.isJoining || kind == .site ? try node.baseZone() : ""
    do {
      let ending = try await node.stepUpload()
      // If the base zone has changed, documents of the site are moved. Another program may already have a
      // document at the other time.
      if kind == .site, try node.baseZone() != zone { removesReadings = true }
      return ending
    } catch let failure as Failure where failure.category == .configuration {
      log("\(node.name) is asked for its base zone: \(failure.message)")
      node.isAskedForZone = true
      guard try zone.isEmpty || node.baseZone() == zone else {
        throw Broken("\(node.name): its base zone is another one")
      }
      return nil
    }
  }

  /// Sets another base zone, or adds or removes a zone period.
  func stateZone(_ node: SimulatedNode) throws {
    let store = try node.connections.store(.editor)
    defer { node.forgetRead() }
    removesReadings = kind == .site
    if hasZones, random.once(in: 2) {
      let name = Self.zones.randomElement(using: &random) ?? "UTC"
      let stated = "SELECT zone, derived_offset FROM reading WHERE zone IS NOT NULL"
      let before = try node.rows(stated)
      let change = try store.setTimezone(LogbookZone(name: name), at: node.clock)
      guard try node.rows(stated) == before else {
        throw Broken("\(node.name): another base zone moved what was stated of imports")
      }
      return log("\(node.name) is in \(name): \(change.readings) readings, \(change.records) records")
    }
    if random.once(in: 3), let period = try store.zones().periods.randomElement(using: &random) {
      log("\(node.name) takes back the zone \(period.guid.prefix(4))")
      _ = try store.remove(period, at: node.clock)
      return
    }
    let first = 1_700_000_000 + 600 * Int64.random(in: 0..<12, using: &random)
    let period = ZonePeriod(
      guid: random.uuid(), from: DeviceTime(seconds: first), until: DeviceTime(seconds: first + 3000),
      zone: try NamedZone(Self.zones.randomElement(using: &random) ?? "UTC"),
      devices: random.once(in: 3) ? ["serial|Maker|a"] : [],
      // A site refuses times from before it existed, so the time must be recent.
      madeAt: 1_700_000_000 + Int64.random(in: 0..<1_000_000, using: &random))
    log("\(node.name) states the zone \(period.guid.prefix(4)) \(period.zone.name)")
    _ = try store.add(period, at: node.clock)
    try checkPeriod(period, node)
  }

  /// Checks that a period that was just added applies to the readings in it, also to those of imports with a
  /// given zone. The device `a` is left out, since it may have a separate period.
  private func checkPeriod(_ period: ZonePeriod, _ node: SimulatedNode) throws {
    let times =
      "device_time >= \(period.first) AND device_time < \(period.end) AND offset_source BETWEEN 1 AND 4"
    let offset = period.zone.offset(atUTC: period.first)
    var others = try node.rows(
      """
      SELECT r.device_time FROM reading AS r JOIN series AS s ON s.id = r.series JOIN device AS d ON d.id = s.device
      WHERE d.serial = '\(period.devices.isEmpty ? "b" : "a")' AND \(times) AND r.derived_offset <> \(offset)
      """)
    if period.devices.isEmpty {
      others += try node.rows("SELECT guid FROM record WHERE \(times) AND utc_offset <> \(offset)")
    }
    guard others.isEmpty else {
      throw Broken("\(node.name): a period does not hold for what was stored before it: \(others)")
    }
  }

  /// Checks that all nodes have the same instants, and the same shown times where the source stated only
  /// instants.
  func compareInstants() throws {
    guard let first = nodes.first else { return }
    let expected = try Self.instants(of: first)
    for node in nodes.dropFirst() {
      let instants = try Self.instants(of: node)
      // If an item is hidden before it is sent to a site, only one store has it.
      let differing = Set(instants.keys).union(expected.keys).filter { key in
        let (mine, theirs) = (instants[key] ?? [], expected[key] ?? [])
        return mine != theirs && (kind == .server || !mine.isSubset(of: theirs) && !theirs.isSubset(of: mine))
      }
      guard differing.isEmpty else {
        throw Broken("\(node.name): its instants are not those of \(first.name): \(differing.sorted())")
      }
    }
  }

  /// The instants of each item. Finger sticks and sensor values at the same position have one key.
  private static func instants(of node: SimulatedNode) throws -> [Substring: Set<Substring>] {
    try node.instants().reduce(into: [:]) { instants, line in
      guard let end = line.lastIndex(of: " ") else { return }
      instants[line[..<end], default: []].insert(line[line.index(after: end)...])
    }
  }
}
