// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Ingest
import Logbook
import Meters
import USBTransport

/// `glucoport meter`: commands for blood-glucose meters on USB and by Bluetooth.
struct MeterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "meter", "List, inspect and pair meters, set their clocks, record sessions.",
    """
    'glucoport import --meter' stores what a meter holds. No command erases or configures \
    a meter.
    """,
    examples: "glucoport meter list", "glucoport meter info",
    subcommands: [
      MeterListCommand.self, MeterInfoCommand.self, MeterSetClockCommand.self, MeterDriversCommand.self,
      MeterRecordCommand.self, MeterPairCommand.self, MeterForgetCommand.self,
      MeterWaitCommand.self, MeterUdevRulesCommand.self,
    ])
}

/// `glucoport meter list`: lists the plugged and the paired meters. It opens none of them.
struct MeterListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list",
    "List the meters that are plugged in or paired, and if you have permission to open them.",
    examples: "glucoport meter list", "glucoport meter list --json")

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run(_ output: Output) throws {
    let meters = PluggedMeter.meters(in: try USBBus().devices(), drivers: DriverRegister.all, shared: true)
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
  }
}

/// The texts of `meter list`.
enum MeterListing {
  static func line(_ meter: PluggedMeter) -> String {
    let device = meter.device
    let name = meter.model.isShared ? "cable that several kinds of meters use" : meter.model.name
    return
      "\(device.port)  \(MeterModel.ids(device.vendorID, device.productID))  \(displayed(name)): \(state(meter))"
  }

  /// The line about a paired Bluetooth meter.
  static func line(_ meter: PairedMeter) -> String {
    let read = meter.readAt.map { "last imported \(instant($0))" } ?? "never imported"
    let rest =
      meter.pausedUntil.map { ", passed over by jobs until \(instant($0)) after failed sessions" } ?? ""
    return
      "\(meter.address)  Bluetooth  \(displayed(meter.name)): paired, \(read)\(meter.isPaused(at: Host.now()) ? rest : "")"
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

/// A plugged meter for `meter list --json`; glucoport-json(5) documents the members.
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

/// A paired Bluetooth meter for `meter list --json`; glucoport-json(5) documents the members.
private struct PairedMeterObject: Encodable {
  let address: String
  let name: String
  let serial: String
  let drivers: [String]
  let readAt: String?
  let nextAttempt: String?

  init(_ meter: PairedMeter) {
    (address, name, serial) = (meter.address, meter.name, meter.serial)
    drivers = DriverRegister.all.filter { $0.usesBluetooth }.map { $0.id }
    readAt = meter.readAt.map(instant)
    nextAttempt = meter.isPaused(at: Host.now()) ? meter.pausedUntil.map(instant) : nil
  }
}

/// `glucoport meter info`: reads the identity and the clock of a meter.
struct MeterInfoCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "info", "Show the model, serial number, firmware and clock of a meter.",
    examples: "glucoport meter info", "glucoport meter info --driver contour --json")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run(_ output: Output) throws {
    let (meter, identity) = try MeterOpener(meterOptions).perform { meter, connection in
      let identity = try meter.driver.init().identify(connection)
      try connection.onIdentity(identity)
      return (meter, identity)
    }
    let zone = try storeOptions.zone()
    let clock = identity.clock.map { ClockJudgement($0, in: zone) }
    let object = MeterInfoObject(
      meter: MeterObject(identity), driver: meter.driver.id, port: meter.device.port, count: identity.count,
      clock: clock.map { ClockObject($0) })
    try output.result(asJSON: json, object, orLines: lines(meter, identity, clock))
    if let warning = clock?.warning { output.message("glucoport: \(warning)") }
  }

  private func lines(
    _ meter: PluggedMeter, _ identity: MeterIdentity, _ clock: ClockJudgement?
  ) -> [String] {
    var lines = [displayed(MeterText.name(identity.device, firmware: identity.firmware))]
    lines.append("  driver \(meter.driver.id) · \(meter.place)")
    if let clock { lines.append("  clock " + MeterText.line((clock.comparison, clock.difference))) }
    if let count = identity.count { lines.append("  holds \(counted(count, "reading"))") }
    return lines
  }
}

/// What a meter reports, for `meter info --json`; glucoport-json(5) documents the members.
private struct MeterInfoObject: Encodable {
  let meter: MeterObject
  let driver: String
  let port: String
  let count: Int?
  let clock: ClockObject?
}

/// `glucoport meter drivers`: lists the meters that can be read, and those that cannot with the reason.
struct MeterDriversCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "drivers", "List the drivers and the meters that each supports.",
    examples: "glucoport meter drivers", "glucoport meter drivers --json")

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run(_ output: Output) throws {
    for driver in DriverRegister.all {
      try output.result(asJSON: json, DriverObject(driver), orLines: lines(driver))
    }
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

/// A driver with its models for `meter drivers --json`; glucoport-json(5) documents the members.
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

/// A model of a driver, for `meter drivers --json`.
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

/// `glucoport meter set-clock`: sets a meter's clock. No other command changes a meter, and no job runs
/// `set-clock`.
struct MeterSetClockCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "set-clock", "Set a meter's clock to the local time of the logbook.",
    "Readings on the meter keep their times.",
    examples: "glucoport meter set-clock", "glucoport meter set-clock --serial 1234567")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    guard Host.now() >= Release.date else {
      throw Failure(
        .configuration, "cannot set the meter's clock: the clock of this computer is wrong; correct it first")
    }
    let zone = try storeOptions.zone()
    var change: ClockSetting?
    try MeterOpener(meterOptions).perform { meter, connection in
      guard meter.driver.canSetClock else {
        throw Failure(.usage, "the driver '\(meter.driver.id)' cannot set the clock of \(meter.place)")
      }
      try meter.driver.init().setClock(connection) { before in
        try connection.onIdentity(before)
        let now = Host.now()
        let time = DeviceTime(seconds: now + Int64(zone.offset(atUTC: now)))
        change = (before, time)
        return time
      }
    }
    if let change, !quiet { show(change, zone, output) }
  }
}

extension MeterSetClockCommand {
  /// The meter before the change, with the time that it showed, and the new time.
  private typealias ClockSetting = (before: MeterIdentity, time: DeviceTime)

  private func show(_ change: ClockSetting, _ zone: LogbookZone, _ output: Output) {
    let (before, time) = change
    let shown = time.text.replacing("T", with: " ")
    output.line("\(displayed(deviceName(before.device))): set to \(shown), the local time in \(zone.name)")
    if let clock = before.clock.map({ ClockJudgement($0, in: zone) }) {
      output.line("  it showed \(MeterText.line((clock.comparison, clock.difference)))")
    }
  }
}

/// `glucoport meter udev-rules`: prints the rules with which users and their cron jobs can open meters.
struct MeterUdevRulesCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "udev-rules", "Print udev rules that let users open their meters.",
    """
    Write them to /etc/udev/rules.d/70-glucoport.rules; the name must sort before \
    73-seat-late.rules.
    """,
    examples: "glucoport meter udev-rules | sudo tee /etc/udev/rules.d/70-glucoport.rules",
    "glucoport meter udev-rules --group dialout --shared")

  @Option(
    help: ArgumentHelp("Group that may open meters, for cron jobs and remote logins.", valueName: "group"))
  var group = "plugdev"

  @Flag(help: "Also print rules for cables and chips that other devices use.")
  var shared = false

  @Option(
    help: ArgumentHelp("Also print rules for this device.", valueName: "vendor:product"))
  var usb: [USBArgument] = []

  func validate() throws {
    if usb.contains(where: { $0.port != nil }) {
      throw ValidationError("--usb takes no port here; a rule is for every port.")
    }
    guard UdevRules.isGroup(group) else { throw ValidationError("'\(group)' is not a valid group name.") }
  }

  func run(_ output: Output) throws {
    let lines = UdevRules.lines(DriverRegister.all, group: group, shared: shared, others: usb)
    for line in lines { output.line(line) }
  }
}
