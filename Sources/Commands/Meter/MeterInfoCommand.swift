// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ingest
import Logbook
import USBTransport

/// `glucoport meter info`: asks a meter who it is, and how its clock goes.
struct MeterInfoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Ask a meter for its model, serial number, firmware and clock.")

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
    if json {
      output.line(object(meter, identity, clock))
    } else {
      for line in lines(meter, identity, clock) { output.line(line) }
    }
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

  private func object(
    _ meter: PluggedMeter, _ identity: MeterIdentity, _ clock: ClockJudgement?
  ) -> String {
    """
    {"meter":\(MeterText.json(identity.device, firmware: identity.firmware)),"driver":"\(meter.driver.id)",\
    "port":\(jsonText(meter.device.port)),"count":\(identity.count.map { String($0) } ?? "null"),\
    "clock":\(clock.map { MeterText.json(($0.comparison, $0.difference)) } ?? "null")}
    """
  }
}
