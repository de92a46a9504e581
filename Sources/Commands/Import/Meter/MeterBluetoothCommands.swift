// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BluetoothTransport
import CommandParts
import Logbook
import LogbookStore
import USBTransport

/// `glucoport meter pair`: pairs a Bluetooth meter with this computer.
struct MeterPairCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "pair", "Pair a Bluetooth meter with this computer.",
    """
    Put the meter in pairing mode first. The passkey of six digits is printed on the meter or \
    shown on its screen. Nothing is read but the identity of the meter.
    """,
    examples: "glucoport meter pair",
    "glucoport meter pair --passkey-file passkey --bluetooth D4:3E:00:12:34:56")

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

  func run(_ output: Output) throws {
    Host.keepFilesPrivate()
    let stated = try passkeyFile.map { try Self.passkey(in: $0.path) }
    SignalFlag.watch()
    let meter = try interruptible { try pair(stated, output) }
    if !quiet { show(meter, output) }
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
    let device = try findMeter(bus, output)
    try bus.pair(device) { name in stated ?? Self.askPasskey(of: name, output) }
    var meter = PairedMeter(address: device.address.uppercased(), name: device.name)
    // The pairing is stored first, since the meter may end the connection before it is identified.
    try PairedMeters.change { $0.add(meter) }
    guard let plugged = PluggedMeter(bluetooth: device) else { return meter }
    let identity = try PairedMeters.session(with: device, bus) { transport in
      try plugged.driver.init().identify(MeterConnection(transport, model: plugged.model, now: Host.now))
    }
    (meter.name, meter.serial) = (deviceName(identity.device), identity.device.serial)
    try PairedMeters.change { $0.add(meter) }
    return meter
  }

  /// Searches for the meter to pair: the one with the given address, else the only one that is not paired
  /// yet.
  private func findMeter(_ bus: BluetoothBus, _ output: Output) throws -> BluetoothDevice {
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

  /// The advice for the case that the only meter in reach is already paired, by this or another program.
  private static func remedy(_ device: BluetoothDevice) throws -> String {
    let listed = try PairedMeters.load().all.first { $0.isIdentified(by: device.address) }
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

  /// Asks a person at the terminal for the passkey; nil if there is no terminal or no valid passkey.
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

  /// Reads the passkey from a file.
  ///
  /// - Throws: `Failure`: `.missingInput` if the file is missing, `.badInput` if it has no valid passkey.
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

/// `glucoport meter forget`: removes the pairing with a Bluetooth meter.
struct MeterForgetCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "forget", "End the pairing with a Bluetooth meter.",
    "What was imported stays in the store. Nothing is changed on the meter.",
    examples: "glucoport meter forget D4:3E:00:12:34:56", "glucoport meter forget 00123456")

  @Argument(help: ArgumentHelp("The address or the serial number of the meter.", valueName: "meter"))
  var meter: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    let known = try PairedMeters.load().all.first { $0.isIdentified(by: meter) }
    guard let address = known?.address ?? BluetoothArgument(argument: meter)?.address else {
      throw Failure(
        .missingInput, "\(displayed(meter)): no such paired meter; 'glucoport meter list' lists them")
    }
    let name = try removeBond(address, isKnown: known != nil, output)
    try PairedMeters.change { $0.remove(address: address) }
    if !quiet { output.line("\(displayed(known?.name ?? name ?? address)): no longer paired") }
  }

  /// Removes the pairing from bluetoothd. If bluetoothd or its adapter is missing, a meter in the list of
  /// paired meters can still be forgotten.
  ///
  /// - Returns: the name that bluetoothd has for the meter; nil if it has none.
  private func removeBond(_ address: String, isKnown: Bool, _ output: Output) throws(Failure) -> String? {
    let (bus, devices): (BluetoothBus, [BluetoothDevice])
    do throws(Failure) {
      bus = try BluetoothMeters().bus()
      // bluetoothd lists a meter once for each Bluetooth adapter that has received its signal.
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

/// `glucoport meter wait`: waits until a paired Bluetooth meter is in reach.
struct MeterWaitCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "wait", "Wait until a paired Bluetooth meter is in reach.",
    """
    The exit status is 0 if a meter is in reach, and 69 if none is. With --connect, bluetoothd waits for \
    the meters without a search, and leaves the one that came near connected for 'glucoport import'; \
    without it no meter is connected.
    """,
    examples: "glucoport meter wait --seconds 30", "glucoport meter wait --connect --seconds 3600")

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

  func run(_ output: Output) throws {
    let meters: [PluggedMeter]
    do {
      meters =
        connect
        ? try BluetoothMeters().waitForPairedMeter(address: bluetooth?.address, seconds: seconds)
        : try BluetoothMeters().findPairedMeter(
          address: bluetooth?.address, serial: nil, seconds: seconds, isJob: true)
    } catch {
      throw SignalFlag.signal.map(ExitStatus.init(signal:)) ?? error
    }
    guard let meter = meters.first else {
      if quiet { throw ExitStatus(.unavailable) }
      throw BluetoothMeters.noneInReach
    }
    if !quiet { output.line("\(displayed(meter.place)): in reach") }
  }
}
