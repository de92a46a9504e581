// SPDX-License-Identifier: Apache-2.0

package import BluetoothTransport
package import Logbook
import LogbookStore
import USBTransport

/// A Bluetooth meter that was paired by this program.
package struct PairedMeter: Hashable {
  /// The Bluetooth address.
  package var address: String
  /// The name for people.
  package var name: String
  /// The serial number; empty if it was not read.
  package var serial = ""
  /// When it was last imported, in UTC seconds; nil for never.
  package var readAt: Int64?
  /// The number of sessions since then that failed, and when the last one did.
  var failures = 0
  var failedAt: Int64?

  /// The maximum time for which no job connects it, in seconds.
  private static let maxRestSeconds: Int64 = 3600

  /// A meter that was never imported.
  package init(address: String, name: String) { (self.address, self.name) = (address, name) }

  /// Until when no job connects it, in UTC seconds; nil if it may at once. Each further session that fails, as with a meter that
  /// falls silent, would cost its battery the same again. A single one is a lost link.
  package var restsUntil: Int64? {
    guard let failedAt, failures > 1 else { return nil }
    return failedAt + min(Self.maxRestSeconds, 60 << Int64(min(failures - 1, 10)))
  }

  /// Whether jobs pass it over. After the clock was set back, they do not.
  package func rests(at now: Int64) -> Bool {
    guard let restsUntil, let failedAt else { return false }
    return failedAt <= now && now < restsUntil
  }

  /// Whether a person means this meter by an address or a serial number.
  package func isMeant(by text: String) -> Bool {
    address.uppercased() == text.uppercased() || !serial.isEmpty && serial.lowercased() == text.lowercased()
  }
}

/// The paired Bluetooth meters, in a file of the data folder.
///
/// The pairing itself is kept by bluetoothd. Without an entry here, no command looks for Bluetooth meters by itself.
package struct PairedMeters {
  private static let file = ListFile(
    name: "bluetooth.json", title: "list of paired meters", remedy: "pair them again")

  /// The meters, in the order in which they were paired.
  package private(set) var all: [PairedMeter] = []

  /// Reads the current list.
  ///
  /// - Throws: `Failure`: `badInput` if the file is not such a list, `permission`, `inputOutput`.
  package static func load() throws -> PairedMeters {
    PairedMeters(all: try file.elements(of: "meters") { (scanner) throws(JSONError) in try meter(&scanner) })
  }

  /// Changes the list, while no other process does.
  ///
  /// - Throws: `Failure` as for `load`, and `cannotCreate`.
  package static func change(_ body: (inout PairedMeters) -> Void) throws {
    try file.locked {
      var list = try load()
      let before = list.all
      body(&list)
      if list.all != before { try file.save(PairedMetersObject(list.all)) }
    }
  }

  /// Adds a meter, or replaces the one with this address.
  package mutating func add(_ meter: PairedMeter) {
    remove(address: meter.address)
    all.append(meter)
    all.sort { $0.address < $1.address }
  }

  /// Removes the meter with this address.
  package mutating func remove(address: String) { all.removeAll { $0.address == address } }

  /// Stores when a meter was imported.
  package mutating func markRead(address: String, at time: Int64) {
    for index in all.indices where all[index].address == address {
      all[index].readAt = time
      (all[index].failures, all[index].failedAt) = (0, nil)
    }
  }

  /// Stores that a session failed.
  mutating func markFailed(address: String, at time: Int64) {
    for index in all.indices where all[index].address == address {
      all[index].failures = min(all[index].failures + 1, 30)
      all[index].failedAt = time
    }
  }

  /// Connects a meter for a session, if no other one runs: its end would end this one as well.
  ///
  /// - Throws: `Failure` of category `.temporary` while another session runs.
  package static func session<Result>(
    with device: BluetoothDevice, _ bus: BluetoothBus, _ work: (any Transport) throws -> Result
  ) throws -> Result {
    guard let lock = try file.lock(for: .meter) else {
      throw Failure(
        .temporary,
        "connecting to \(device.name): another session with a Bluetooth meter runs; try again later")
    }
    defer { lock.release() }
    do {
      return try bus.withTransport(to: device, work)
    } catch let failure as Failure where failure.category != .temporary && !SignalFlag.isRaised {
      try change { $0.markFailed(address: device.address.uppercased(), at: Host.now()) }
      throw failure
    }
  }
}

private struct PairedMetersObject: Encodable {
  struct Entry: Encodable {
    let address: String
    let name: String
    let serial: String
    /// Zero for never.
    let readAt: Int64
    let failures: Int
    /// Zero for never.
    let failedAt: Int64
  }

  let meters: [Entry]

  init(_ meters: [PairedMeter]) {
    self.meters = meters.map {
      Entry(
        address: $0.address, name: $0.name, serial: $0.serial, readAt: $0.readAt ?? 0, failures: $0.failures,
        failedAt: $0.failedAt ?? 0)
    }
  }
}

extension PairedMeters {
  private static func meter(_ scanner: inout JSONScanner) throws(JSONError) -> PairedMeter {
    var meter = PairedMeter(address: "", name: "")
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "address": meter.address = try scanner.string()
      case "name": meter.name = try scanner.string()
      case "serial": meter.serial = try scanner.string()
      case "read_at":
        let time = try scanner.integer()
        meter.readAt = time == 0 ? nil : time
      case "failures": meter.failures = Int(clamping: max(0, try scanner.integer()))
      case "failed_at":
        let time = try scanner.integer()
        meter.failedAt = time == 0 ? nil : time
      default: return false
      }
      return true
    }
    guard BluetoothArgument(argument: meter.address) != nil else {
      throw scanner.error("a meter with an address is expected")
    }
    return meter
  }
}
