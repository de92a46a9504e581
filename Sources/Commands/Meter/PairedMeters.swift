// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A Bluetooth meter that was paired by this program.
struct PairedMeter: Hashable {
  /// The Bluetooth address.
  var address: String
  /// The name for people.
  var name: String
  /// The serial number; empty if it was not read.
  var serial = ""
  /// When it was last imported, in UTC seconds; nil for never.
  var readAt: Int64?

  /// Whether a person means this meter by an address or a serial number.
  func isMeant(by text: String) -> Bool {
    address.uppercased() == text.uppercased() || !serial.isEmpty && serial.lowercased() == text.lowercased()
  }
}

/// The paired Bluetooth meters, in a file of the data folder.
///
/// The pairing itself is kept by bluetoothd. Without an entry here, no command looks for Bluetooth meters by itself.
struct PairedMeters {
  private static let file = ListFile(
    name: "bluetooth.json", title: "list of paired meters", remedy: "pair them again")

  private(set) var all: [PairedMeter] = []

  /// Reads the current list.
  ///
  /// - Throws: `Failure`: `badInput` if the file is not such a list, `permission`, `inputOutput`.
  static func load() throws -> PairedMeters {
    PairedMeters(all: try file.elements(of: "meters") { (scanner) throws(JSONError) in try meter(&scanner) })
  }

  /// Changes the list, while no other process does.
  ///
  /// - Throws: `Failure` as for `load`, and `cannotCreate`.
  static func change(_ body: (inout PairedMeters) -> Void) throws {
    try file.locked {
      var list = try load()
      let before = list.all
      body(&list)
      if list.all != before { try file.save(PairedMetersObject(list.all)) }
    }
  }

  /// Adds a meter, or replaces the one with this address.
  mutating func add(_ meter: PairedMeter) {
    remove(address: meter.address)
    all.append(meter)
    all.sort { $0.address < $1.address }
  }

  mutating func remove(address: String) { all.removeAll { $0.address == address } }

  /// Notes when a meter was imported.
  mutating func noteRead(address: String, at time: Int64) {
    for index in all.indices where all[index].address == address { all[index].readAt = time }
  }
}

private struct PairedMetersObject: Encodable {
  struct Entry: Encodable {
    let address: String
    let name: String
    let serial: String
    /// Zero for never.
    let readAt: Int64
  }

  let meters: [Entry]

  init(_ meters: [PairedMeter]) {
    self.meters = meters.map {
      Entry(address: $0.address, name: $0.name, serial: $0.serial, readAt: $0.readAt ?? 0)
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
