// SPDX-License-Identifier: Apache-2.0

import Glibc
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

/// The paired Bluetooth meters, in a file of the data folder that only its owner can read. It is never sent.
///
/// The pairing itself is kept by bluetoothd. Without an entry here, no command looks for Bluetooth meters by itself.
struct PairedMeters {
  private static let maxBytes: off_t = 1 << 20

  private(set) var all: [PairedMeter] = []

  private static var path: String? { Host.dataFolder.map { $0 + "/bluetooth.json" } }

  /// Reads the current list.
  ///
  /// - Throws: `Failure`: `badInput` if the file is not such a list, `permission`, `inputOutput`.
  static func load() throws -> PairedMeters {
    guard let path else { return PairedMeters() }
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return PairedMeters() }
      throw failure(path, "cannot be read")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maxBytes
    else {
      throw Failure(
        .badInput, "\(displayed(path)): not a list of paired meters; move it away, and pair them again")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw failure(path, "cannot be read")
    }
    return try PairedMeters(bytes, path)
  }

  /// Changes the list, while no other process does.
  ///
  /// - Throws: `Failure` as for `load`, and `cannotCreate`.
  static func change(_ body: (inout PairedMeters) -> Void) throws {
    guard let path, let folder = Host.dataFolder else {
      throw Failure(
        .configuration, "no data folder for meters; set HOME or XDG_DATA_HOME to an absolute path")
    }
    Host.keepFilesPrivate()
    try Host.makeFolder(folder)
    let lock = open(PathText.bytes(path + ".lock"), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw failure(path + ".lock", "cannot be locked") }
    defer { close(lock) }
    var list = try load()
    let before = list.all
    body(&list)
    guard list.all != before else { return }
    let bytes = Array((try OrderedJSON.text(PairedMetersObject(list.all)) + "\n").utf8)
    try SavedFile(path: path, replaces: true, protected: ProtectedFiles(store: nil)).write { sink in
      try bytes.withUnsafeBytes(sink)
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

  private static func failure(_ path: String, _ what: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES || reason == EPERM ? .permission : .inputOutput,
      "\(displayed(path)): \(what): \(String(cString: strerror(reason)))")
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
  private init(_ bytes: [UInt8], _ path: String) throws {
    var meters: [PairedMeter] = []
    do throws(JSONError) {
      try JSONScanner.read(bytes) { (scanner) throws(JSONError) in
        try scanner.object { (name, scanner) throws(JSONError) in
          guard name == "meters" else { return false }
          try scanner.array { (scanner) throws(JSONError) in meters.append(try Self.meter(&scanner)) }
          return true
        }
      }
    } catch {
      throw Failure(
        .badInput,
        "\(displayed(path)): not a list of paired meters: \(error.reason); move it away, and pair them again")
    }
    all = meters
  }

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
