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

  @Option(help: ArgumentHelp("Use the paired Bluetooth meter with this address.", valueName: "address"))
  var bluetooth: BluetoothArgument?

  /// Whether any of them is given.
  var isGiven: Bool { driver != nil || usb != nil || serial != nil || bluetooth != nil }

  /// Whether they only mean plugged meters.
  var meansUSB: Bool { usb != nil || driver.flatMap(DriverRegister.driver)?.usesBluetooth == false }

  /// Whether they only mean Bluetooth meters.
  var meansBluetooth: Bool {
    bluetooth != nil || driver.flatMap(DriverRegister.driver)?.usesBluetooth == true && usb == nil
  }

  func validate() throws {
    if usb != nil, driver == nil {
      throw ValidationError("--usb needs --driver to name the driver for the device.")
    }
    if bluetooth != nil, usb != nil || driver.flatMap(DriverRegister.driver)?.usesBluetooth == false {
      throw ValidationError("--bluetooth is for Bluetooth meters; omit --usb and --driver.")
    }
    if let driver, DriverRegister.driver(driver) == nil {
      throw ValidationError("Unknown driver '\(driver)'; 'glucoport meter drivers' lists the drivers.")
    }
  }
}
