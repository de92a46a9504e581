// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// `glucoport meter drivers`: the meters that can be read, and those that cannot, with the reason.
struct MeterDriversCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "drivers", abstract: "List the drivers and the meters that each supports.",
    discussion: helpText(
      examples: "glucoport meter drivers",
      "glucoport meter drivers --json"))

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run() throws {
    let output = Output()
    for driver in DriverRegister.all {
      try output.result(asJSON: json, DriverObject(driver), orLines: lines(driver))
    }
    try output.finish()
  }

  private func lines(_ driver: any MeterDriver.Type) -> [String] {
    let clock = driver.canSetClock ? " · clock can be set" : ""
    let way = driver.usesBluetooth ? " · by Bluetooth" : ""
    return ["\(driver.id): \(driver.name)\(way)\(clock)"]
      + driver.models.map { model in
        let ids = MeterModel.ids(model.vendorID, model.productID)
        let shared = model.isShared ? " · only with --driver" : ""
        return "  \(ids)  \(model.name)\(shared)\(model.obstacle.map { " · cannot be read: \($0)" } ?? "")"
      }
  }
}

/// A driver with its models, as `meter drivers --json` prints it; glucoport-json(5) documents its members.
private struct DriverObject: Encodable {
  let driver: String
  let name: String
  let setsClock: Bool
  let anonymises: Bool
  let models: [ModelObject]

  init(_ driver: any MeterDriver.Type) {
    self.driver = driver.id
    name = driver.name
    setsClock = driver.canSetClock
    anonymises = driver is any AnonymisingDriver.Type
    models = driver.models.map(ModelObject.init)
  }
}

/// A model that a driver knows.
private struct ModelObject: Encodable {
  let name: String
  let usb: String
  let shared: Bool
  let obstacle: String?

  init(_ model: MeterModel) {
    name = model.name
    usb = MeterModel.ids(model.vendorID, model.productID)
    shared = model.isShared
    obstacle = model.obstacle
  }
}
