// SPDX-License-Identifier: Apache-2.0

package import BluetoothTransport
package import Logbook
import LogbookStore
import USBTransport

/// A Bluetooth meter that this program has paired.
package struct PairedMeter: Hashable {
  /// The Bluetooth address, such as `D4:3E:00:12:34:56`.
  package var address: String
  /// The name that the meter advertises, for messages.
  package var name: String
  /// The serial number; empty if no session has read it yet.
  package var serial = ""
  /// When the meter was last imported, in UTC seconds; nil if it never was.
  package var readAt: Int64?
  /// How many sessions have failed since the last import, at most 30, and when the last of them failed, in
  /// UTC seconds.
  var failures = 0
  var failedAt: Int64?

  /// The longest time in seconds for which failed sessions keep jobs from connecting a meter.
  private static let maxPauseSeconds: Int64 = 3600

  /// A meter from which nothing has been imported yet.
  package init(address: String, name: String) { (self.address, self.name) = (address, name) }

  /// Until when jobs do not connect the meter, in UTC seconds; nil if they may connect it immediately. If all
  /// sessions with a meter fail, further sessions would only drain its battery. A single failed session does
  /// not count, since the connection was probably just lost.
  package var pausedUntil: Int64? {
    guard let failedAt, failures > 1 else { return nil }
    return failedAt + min(Self.maxPauseSeconds, 60 << Int64(min(failures - 1, 10)))
  }

  /// Whether jobs skip this meter at the time `now`. Jobs do not skip it if its last failure is after `now`,
  /// since the clock was then set back.
  package func isPaused(at now: Int64) -> Bool {
    guard let pausedUntil, let failedAt else { return false }
    return failedAt <= now && now < pausedUntil
  }

  /// Whether a text that a person typed is the address or the serial number of this meter.
  package func isIdentified(by text: String) -> Bool {
    address.uppercased() == text.uppercased() || !serial.isEmpty && serial.lowercased() == text.lowercased()
  }
}

/// The list of the paired Bluetooth meters, in a file of the data folder.
///
/// bluetoothd keeps the pairings themselves. If this list is empty, a command searches for Bluetooth meters
/// only if an option requests it.
package struct PairedMeters {
  private static let file = ListFile(
    name: "bluetooth.json", title: "list of paired meters", remedy: "pair them again")

  /// The meters in the order of their addresses.
  package private(set) var all: [PairedMeter] = []

  /// Reads the list from its file.
  ///
  /// - Throws: `Failure`: `badInput` if the file is not such a list, `permission`, `inputOutput`.
  package static func load() throws -> PairedMeters {
    PairedMeters(all: try file.elements(of: "meters") { (scanner) throws(JSONError) in try meter(&scanner) })
  }

  /// Reads the list, lets the body change it, and writes it. Other processes cannot change the list
  /// meanwhile.
  ///
  /// - Throws: `Failure` as for `load`, and `cannotCreate`.
  package static func change(_ body: (inout PairedMeters) -> Void) throws {
    try file.locked {
      var list = try load()
      let before = list.all
      body(&list)
      if list.all != before { try file.save(list) }
    }
  }

  /// Adds a meter, and removes the former entry with the same address.
  package mutating func add(_ meter: PairedMeter) {
    remove(address: meter.address)
    all.append(meter)
    all.sort { $0.address < $1.address }
  }

  /// Removes the meter with this address, if the list has it.
  package mutating func remove(address: String) { all.removeAll { $0.address == address } }

  /// Stores when a meter was imported, and forgets its failed sessions.
  package mutating func markRead(address: String, at time: Int64) {
    for index in all.indices where all[index].address == address {
      all[index].readAt = time
      (all[index].failures, all[index].failedAt) = (0, nil)
    }
  }

  /// Counts a failed session of a meter, and stores its time in UTC seconds.
  mutating func markFailed(address: String, at time: Int64) {
    for index in all.indices where all[index].address == address {
      all[index].failures = min(all[index].failures + 1, 30)
      all[index].failedAt = time
    }
  }

  /// Connects a meter and works with it. Only one process may have a session, since the end of its session
  /// would also end the session of another process.
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

/// The list in its file.
extension PairedMeters: Encodable {
  private enum CodingKeys: String, CodingKey { case all = "meters" }
}

/// The meter in the file of the list. A time is zero if there is none.
extension PairedMeter: Encodable {
  private enum CodingKeys: String, CodingKey { case address, name, serial, readAt, failures, failedAt }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(address, forKey: .address)
    try container.encode(name, forKey: .name)
    try container.encode(serial, forKey: .serial)
    try container.encode(readAt ?? 0, forKey: .readAt)
    try container.encode(failures, forKey: .failures)
    try container.encode(failedAt ?? 0, forKey: .failedAt)
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
