// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// The options that choose one meter of those that are plugged in.
struct MeterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use this driver, also over a cable that several kinds of meters share.", valueName: "id"))
  var driver: String?

  @Option(help: ArgumentHelp("The meter with this serial number.", valueName: "serial"))
  var serial: String?

  @Option(
    help: ArgumentHelp(
      "With --driver: read this device, also one whose ids no driver knows.",
      valueName: "vendor:product[@port]"))
  var usb: USBArgument?

  /// Whether any of them is there.
  var isGiven: Bool { driver != nil || usb != nil || serial != nil }

  func validate() throws {
    if usb != nil, driver == nil {
      throw ValidationError("--usb names a device; name the driver that is to read it with --driver.")
    }
    if let driver, DriverRegister.driver(driver) == nil {
      throw ValidationError("There is no driver '\(driver)'; 'glucoport meter drivers' lists them.")
    }
  }
}
