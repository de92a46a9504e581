// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// `glucoport meter drivers`: the meters that can be read, and those that cannot, with the reason.
struct MeterDriversCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "drivers", abstract: "List the drivers and the meters that each knows.")

  @Flag(help: "Print one JSON object a line.")
  var json = false

  func run() throws {
    let output = Output()
    for driver in DriverRegister.all {
      for line in json ? [object(driver)] : lines(driver) { output.line(line) }
    }
    try output.finish()
  }

  private func lines(_ driver: any MeterDriver.Type) -> [String] {
    let clock = driver.canSetClock ? " · clock can be set" : ""
    return ["\(driver.id): \(driver.name)\(clock)"]
      + driver.models.map { model in
        let ids = MeterListing.ids(model.vendorID, model.productID)
        let shared = model.isShared ? " · only with --driver" : ""
        return "  \(ids)  \(model.name)\(shared)\(model.obstacle.map { " · cannot be read: \($0)" } ?? "")"
      }
  }

  private func object(_ driver: any MeterDriver.Type) -> String {
    let models = driver.models.map { model in
      """
      {"name":\(jsonText(model.name)),"usb":"\(MeterListing.ids(model.vendorID, model.productID))",\
      "shared":\(model.isShared),"obstacle":\(model.obstacle.map(jsonText) ?? "null")}
      """
    }
    return """
      {"driver":"\(driver.id)","name":\(jsonText(driver.name)),"sets_clock":\(driver.canSetClock),\
      "anonymises":\(driver is any AnonymisingDriver.Type),"models":[\(models.joined(separator: ","))]}
      """
  }
}
