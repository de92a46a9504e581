// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters
import USBTransport

/// `glucoport meter list`: lists the plugged and the paired meters without opening them.
struct MeterListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the meters that are plugged in or paired, and if you have permission to open them.",
    discussion: helpText(
      examples: "glucoport meter list",
      "glucoport meter list --json"))

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run() throws {
    let output = Output()
    let meters = PluggedMeter.among(try USBBus().devices(), drivers: DriverRegister.all, shared: true)
    for meter in meters {
      try output.result(asJSON: json, MeterListObject(meter), orLines: [MeterListing.line(meter)])
    }
    let paired = try PairedMeters.load().all
    for meter in paired {
      try output.result(asJSON: json, PairedMeterObject(meter), orLines: [MeterListing.line(meter)])
    }
    if meters.isEmpty, paired.isEmpty { output.message("glucoport: no meter is plugged in") }
    let closed = meters.filter { !$0.mayOpen }
    if !closed.isEmpty {
      let command = USBBus.permissionCommand(isShared: closed.contains { $0.model.isShared })
      output.message("glucoport: to get permission, run: \(command)")
    }
    try output.finish()
  }
}

/// A plugged meter in one line.
enum MeterListing {
  static func line(_ meter: PluggedMeter) -> String {
    let device = meter.device
    let name = meter.model.isShared ? "cable that several kinds of meters use" : meter.model.name
    return
      "\(device.port)  \(MeterModel.ids(device.vendorID, device.productID))  \(displayed(name)): \(state(meter))"
  }

  /// A paired Bluetooth meter in one line.
  static func line(_ meter: PairedMeter) -> String {
    let read = meter.readAt.map { "last imported \(instant($0))" } ?? "never imported"
    return "\(meter.address)  Bluetooth  \(displayed(meter.name)): paired, \(read)"
  }

  private static func state(_ meter: PluggedMeter) -> String {
    let permission = meter.mayOpen ? "permission to open it" : "permission denied for \(meter.node)"
    if meter.model.isShared {
      let drivers = drivers(meter).joined(separator: ", ")
      return "choose one with --driver: \(drivers); \(permission)"
    }
    if let obstacle = meter.model.obstacle { return "cannot be read: \(obstacle)" }
    return "driver \(meter.driver.id), \(permission)"
  }

  static func drivers(_ meter: PluggedMeter) -> [String] {
    meter.model.isShared
      ? PluggedMeter.sharing(meter.device, DriverRegister.all).map { $0.id } : [meter.driver.id]
  }
}

/// A plugged meter, as `meter list --json` prints it; glucoport-json(5) documents its members.
private struct MeterListObject: Encodable {
  let port: String
  let usb: String
  let name: String
  let drivers: [String]
  let shared: Bool
  let obstacle: String?
  let node: String
  let permission: Bool

  init(_ meter: PluggedMeter) {
    port = meter.device.port
    usb = MeterModel.ids(meter.device.vendorID, meter.device.productID)
    name = meter.model.name
    drivers = MeterListing.drivers(meter)
    shared = meter.model.isShared
    obstacle = meter.model.obstacle
    node = meter.node
    permission = meter.mayOpen
  }
}

/// A paired Bluetooth meter, as `meter list --json` prints it; glucoport-json(5) documents its members.
private struct PairedMeterObject: Encodable {
  let address: String
  let name: String
  let serial: String
  let drivers: [String]
  let readAt: String?

  init(_ meter: PairedMeter) {
    (address, name, serial) = (meter.address, meter.name, meter.serial)
    drivers = DriverRegister.all.filter { $0.usesBluetooth }.map { $0.id }
    readAt = meter.readAt.map(instant)
  }
}
