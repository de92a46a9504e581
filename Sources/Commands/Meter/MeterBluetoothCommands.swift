// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BluetoothTransport
import Glibc
import Logbook
import LogbookStore
import USBTransport

/// `glucoport meter pair`: pairs a Bluetooth meter with this computer.
struct MeterPairCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "pair", abstract: "Pair a Bluetooth meter with this computer.",
    discussion: helpText(
      """
      Put the meter in pairing mode first. The passkey of six digits is printed on the meter or \
      shown on its screen. Nothing is read but the identity of the meter.
      """,
      examples: "glucoport meter pair",
      "glucoport meter pair --passkey-file passkey --bluetooth D4:3E:00:12:34:56"))

  @Option(help: ArgumentHelp("Pair the meter with this address.", valueName: "address"))
  var bluetooth: BluetoothArgument?

  @Option(help: ArgumentHelp("Read the passkey from this file; - for standard input.", valueName: "file"))
  var passkeyFile: PathArgument?

  @Option(help: ArgumentHelp("How long to look for the meter; default: 60.", valueName: "number"))
  var seconds = 60

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    guard (1...3600).contains(seconds) else { throw ValidationError("--seconds is a number from 1 to 3600.") }
  }

  func run() throws {
    Host.keepFilesPrivate()
    let output = Output()
    let stated = try passkeyFile.map { try Self.passkey(in: $0.path) }
    SignalFlag.watch()
    let meter = try interruptible { try pair(stated, output) }
    if !quiet { show(meter, output) }
    try output.finish()
  }
}

extension MeterPairCommand {
  private func interruptible<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch {
      throw SignalFlag.signal.map(ExitStatus.init(signal:)) ?? error
    }
  }

  private func pair(_ stated: UInt32?, _ output: Output) throws -> PairedMeter {
    let bus = try BluetoothMeters().bus()
    let device = try found(bus, output)
    try bus.pair(device) { name in stated ?? Self.askPasskey(of: name, output) }
    var meter = PairedMeter(address: device.address.uppercased(), name: device.name)
    // The pairing is kept, also if the meter ends the connection before it is identified.
    try PairedMeters.change { $0.add(meter) }
    guard let plugged = PluggedMeter(bluetooth: device) else { return meter }
    let identity = try PairedMeters.session(with: device, bus) { transport in
      try plugged.driver.init().identify(MeterConnection(transport, model: plugged.model, now: Host.now))
    }
    (meter.name, meter.serial) = (deviceName(identity.device), identity.device.serial)
    try PairedMeters.change { $0.add(meter) }
    return meter
  }

  /// The meter that is in reach and not yet paired, or the one with the given address.
  private func found(_ bus: BluetoothBus, _ output: Output) throws -> BluetoothDevice {
    let progress = ProgressMeter(output, isQuiet: quiet)
    defer { progress.clear() }
    func meant(_ devices: [BluetoothDevice]) -> [BluetoothDevice] {
      devices.filter { device in
        bluetooth.map { $0.address == device.address.uppercased() } ?? !device.isPaired
      }
    }
    let start = ContinuousClock.now
    let devices = try bus.search(seconds: seconds) { devices in
      let passed = Int((ContinuousClock.now - start) / .seconds(1))
      progress.show("looking for a meter in pairing mode: \(passed) of \(seconds) s")
      return !meant(devices).isEmpty
    }
    let meters = meant(devices)
    guard let meter = meters.first else {
      let paired = bluetooth == nil ? devices.first(where: \.isPaired) : nil
      throw Failure(
        .unavailable,
        "no meter in pairing mode was found in \(counted(seconds, "second")); "
          + (try paired.map(Self.remedy) ?? "switch the pairing mode on in its menu and retry"))
    }
    guard meters.count == 1 else {
      let names = meters.map { "\(displayed($0.name)) \($0.address)" }.joined(separator: ", ")
      throw Failure(.usage, "several meters are in pairing mode: \(names); choose one with --bluetooth")
    }
    return meter
  }

  /// What to do where the only meter is paired already, by this program or by another one.
  private static func remedy(_ device: BluetoothDevice) throws -> String {
    let listed = try PairedMeters.load().all.first { $0.isMeant(by: device.address) }
    let command =
      listed == nil
      ? "'glucoport meter pair --bluetooth \(device.address)' adds it"
      : "'glucoport import --meter' reads it, and after 'glucoport meter forget' it can be paired again"
    return "\(displayed(listed?.name ?? device.name)) is paired already: \(command)"
  }

  private func show(_ meter: PairedMeter, _ output: Output) {
    output.line("\(displayed(meter.name)): paired, address \(meter.address)")
    output.line("  next: press a key on the meter, and run: glucoport import --meter")
  }

  /// The passkey from a person at the terminal; nil without one.
  private static func askPasskey(of name: String, _ output: Output) -> UInt32? {
    guard Confirmation.canAsk else { return nil }
    output.message("Passkey of \(displayed(name)), six digits:")
    return readLine().flatMap { number($0) }
  }

  private static func number(_ text: String) -> UInt32? {
    let digits = text.filter { !$0.isWhitespace }
    guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return UInt32(digits)
  }

  /// The passkey in a file.
  ///
  /// - Throws: `Failure` of category `.missingInput` without the file, `.badInput` without a passkey in it.
  private static func passkey(in path: String) throws -> UInt32 {
    let text: String?
    if path == "-" {
      text = readLine()
    } else {
      guard let bytes = Host.bytes(of: path) else {
        throw Failure(.missingInput, "\(displayed(path)): the passkey cannot be read")
      }
      text = String(decoding: bytes.prefix(64), as: UTF8.self)
    }
    guard let number = text.flatMap({ number($0) }) else {
      throw Failure(.badInput, "\(displayed(path)): a passkey of at most six digits is expected")
    }
    return number
  }
}

/// `glucoport meter forget`: ends the pairing with a Bluetooth meter.
struct MeterForgetCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "End the pairing with a Bluetooth meter.",
    discussion: helpText(
      "What was imported stays in the store. Nothing is changed on the meter.",
      examples: "glucoport meter forget D4:3E:00:12:34:56",
      "glucoport meter forget 00123456"))

  @Argument(help: ArgumentHelp("The address or the serial number of the meter.", valueName: "meter"))
  var meter: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    let known = try PairedMeters.load().all.first { $0.isMeant(by: meter) }
    guard let address = known?.address ?? BluetoothArgument(argument: meter)?.address else {
      throw Failure(
        .missingInput, "\(displayed(meter)): no such paired meter; 'glucoport meter list' lists them")
    }
    let name = try removeBond(address, isKnown: known != nil, output)
    try PairedMeters.change { $0.remove(address: address) }
    if !quiet { output.line("\(displayed(known?.name ?? name ?? address)): no longer paired") }
    try output.finish()
  }

  /// Removes the bond with a meter. A known meter can be forgotten also after its adapter is gone for good.
  ///
  /// - Returns: the name of the meter at bluetoothd; nil without one.
  private func removeBond(_ address: String, isKnown: Bool, _ output: Output) throws(Failure) -> String? {
    let (bus, devices): (BluetoothBus, [BluetoothDevice])
    do throws(Failure) {
      bus = try BluetoothMeters().bus()
      // Each adapter that heard the meter has an object for it.
      devices = try bus.devices().filter { $0.address.uppercased() == address }
    } catch {
      guard isKnown, error.category == .unavailable else { throw error }
      output.message("glucoport: the bond of this computer with the meter was not removed: \(error.message)")
      return nil
    }
    guard isKnown || devices.contains(where: \.isPaired) else {
      throw Failure(
        .missingInput, "\(displayed(meter)): no such paired meter; 'glucoport meter list' lists them")
    }
    for device in devices { try bus.forget(device) }
    return devices.first?.name
  }
}

/// `glucoport meter wait`: waits for a paired Bluetooth meter.
struct MeterWaitCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until a paired Bluetooth meter is in reach.",
    discussion: helpText(
      """
      The exit status is 0 if a meter is in reach, and 69 if none is. With --connect, bluetoothd waits for \
      the meters without a search, and leaves the one that came near connected for 'glucoport import'; \
      without it no meter is connected.
      """,
      examples: "glucoport meter wait --seconds 30",
      "glucoport meter wait --connect --seconds 3600"))

  @Option(help: ArgumentHelp("How long to wait; default: 30.", valueName: "number"))
  var seconds = BluetoothMeters.advertisingSeconds

  @Option(help: ArgumentHelp("Wait for the paired meter with this address.", valueName: "address"))
  var bluetooth: BluetoothArgument?

  @Flag(help: "Let bluetoothd connect the meter when it comes near, in place of a search.")
  var connect = false

  @Flag(help: "Print nothing.")
  var quiet = false

  func validate() throws {
    guard (1...3600).contains(seconds) else { throw ValidationError("--seconds is a number from 1 to 3600.") }
  }

  func run() throws {
    let output = Output()
    let meters: [PluggedMeter]
    do {
      meters =
        connect
        ? try BluetoothMeters().approaching(address: bluetooth?.address, seconds: seconds)
        : try BluetoothMeters().inReach(
          address: bluetooth?.address, serial: nil, seconds: seconds, isJob: true)
    } catch {
      throw SignalFlag.signal.map(ExitStatus.init(signal:)) ?? error
    }
    guard let meter = meters.first else {
      if quiet { throw ExitStatus(.unavailable) }
      throw BluetoothMeters.noneInReach
    }
    if !quiet { output.line("\(displayed(meter.place)): in reach") }
    try output.finish()
  }
}

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
  /// The number of sessions since then that failed, and when the last one did.
  var failures = 0
  var failedAt: Int64?

  /// The maximum time for which no job connects it, in seconds.
  private static let maxRestSeconds: Int64 = 3600

  /// Until when no job connects it, in UTC seconds; nil if it may at once. Each further session that fails, as with a meter that
  /// falls silent, would cost its battery the same again. A single one is a lost link.
  var restsUntil: Int64? {
    guard let failedAt, failures > 1 else { return nil }
    return failedAt + min(Self.maxRestSeconds, 60 << Int64(min(failures - 1, 10)))
  }

  /// Whether jobs pass it over. After the clock was set back, they do not.
  func rests(at now: Int64) -> Bool {
    guard let restsUntil, let failedAt else { return false }
    return failedAt <= now && now < restsUntil
  }

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

  /// Stores when a meter was imported.
  mutating func markRead(address: String, at time: Int64) {
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
  static func session<Result>(
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
