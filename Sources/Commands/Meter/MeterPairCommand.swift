// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BluetoothTransport
import Glibc
import Logbook
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
    let identity = try bus.withTransport(to: device) { transport in
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
      throw Failure(
        .unavailable,
        "no meter in pairing mode was found in \(counted(seconds, "second")); switch the pairing mode on in its menu and retry"
      )
    }
    guard meters.count == 1 else {
      let names = meters.map { "\(displayed($0.name)) \($0.address)" }.joined(separator: ", ")
      throw Failure(.usage, "several meters are in pairing mode: \(names); choose one with --bluetooth")
    }
    return meter
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
