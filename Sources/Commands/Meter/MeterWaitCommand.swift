// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import USBTransport

/// `glucoport meter wait`: waits for a paired Bluetooth meter.
struct MeterWaitCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until a paired Bluetooth meter is in reach.",
    discussion: helpText(
      "The exit status is 0 if a meter is in reach, and 69 if none is. No meter is connected.",
      examples: "glucoport meter wait --seconds 30",
      "glucoport meter wait --seconds 300 --bluetooth D4:3E:00:12:34:56"))

  @Option(help: ArgumentHelp("How long to wait; default: 30.", valueName: "number"))
  var seconds = BluetoothMeters.advertisingSeconds

  @Option(help: ArgumentHelp("Wait for the paired meter with this address.", valueName: "address"))
  var bluetooth: BluetoothArgument?

  @Flag(help: "Print nothing.")
  var quiet = false

  func validate() throws {
    guard (1...3600).contains(seconds) else { throw ValidationError("--seconds is a number from 1 to 3600.") }
  }

  func run() throws {
    let output = Output()
    let meters: [PluggedMeter]
    do {
      meters = try BluetoothMeters().inReach(address: bluetooth?.address, serial: nil, seconds: seconds)
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
