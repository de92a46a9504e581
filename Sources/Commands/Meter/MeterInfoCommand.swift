// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ingest
import Logbook
import USBTransport

/// `glucoport meter info`: reads the identity and the clock of a meter.
struct MeterInfoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Show the model, serial number, firmware and clock of a meter.",
    discussion: helpText(
      examples: "glucoport meter info",
      "glucoport meter info --driver contour --json"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
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
    try output.finish()
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

/// A meter's answers, as `meter info --json` prints them; glucoport-json(5) documents the members.
private struct MeterInfoObject: Encodable {
  let meter: MeterObject
  let driver: String
  let port: String
  let count: Int?
  let clock: ClockObject?
}
