// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// The options that select one of the plugged meters.
struct MeterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use this driver.", valueName: "id"), completion: .drivers)
  var driver: String?

  @Option(help: ArgumentHelp("Use the meter with this serial number.", valueName: "serial"))
  var serial: String?

  @Option(
    help: ArgumentHelp(
      "With --driver: use this USB device, even if no driver knows its ids.",
      valueName: "vendor:product[@port]"))
  var usb: USBArgument?

  /// Whether any of them is given.
  var isGiven: Bool { driver != nil || usb != nil || serial != nil }

  func validate() throws {
    if usb != nil, driver == nil {
      throw ValidationError("--usb needs --driver to name the driver for the device.")
    }
    if let driver, DriverRegister.driver(driver) == nil {
      throw ValidationError("Unknown driver '\(driver)'; 'glucoport meter drivers' lists the drivers.")
    }
  }
}
