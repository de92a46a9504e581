// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BluetoothTransport
import Logbook

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
    let bus = try BluetoothMeters().bus()
    let device = try bus.devices().first { $0.address.uppercased() == address }
    guard known != nil || device?.isPaired == true else {
      throw Failure(
        .missingInput, "\(displayed(meter)): no such paired meter; 'glucoport meter list' lists them")
    }
    if let device { try bus.forget(device) }
    try PairedMeters.change { $0.remove(address: address) }
    if !quiet { output.line("\(displayed(known?.name ?? device?.name ?? address)): no longer paired") }
    try output.finish()
  }
}
