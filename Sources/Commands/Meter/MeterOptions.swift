// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// The options that choose one meter of those that are plugged in.
struct MeterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Talk as this driver does, also over a cable that several kinds of meters share.", valueName: "id"))
  var driver: String?

  @Option(help: ArgumentHelp("The meter with this serial number.", valueName: "serial"))
  var serial: String?

  func validate() throws {
    if let driver, DriverRegister.driver(driver) == nil {
      throw ValidationError("There is no driver '\(driver)'; 'glucoport meter drivers' lists them.")
    }
  }
}
