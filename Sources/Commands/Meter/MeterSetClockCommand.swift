// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ingest
import Logbook

/// `glucoport meter set-clock`: the only thing that is ever written to a meter, and only when a person asks.
struct MeterSetClockCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "set-clock", abstract: "Set a meter's clock to the local time of the logbook.",
    discussion: "Readings that the meter holds keep the times that it showed.")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "Say nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    guard Host.now() >= Release.date else {
      throw Failure(
        .configuration, "setting the meter's clock: the clock of this computer is wrong; set it first")
    }
    let talk = MeterTalk(meterOptions)
    let meter = try talk.require()
    guard meter.driver.canSetClock else {
      throw Failure(.usage, "the clock of \(meter.place) cannot be set by the driver '\(meter.driver.id)'")
    }
    let zone = try storeOptions.zone()
    let before = try talk.identity(of: meter)
    let time = try talk.perform(with: meter) { connection in
      let now = Host.now()
      let time = DeviceTime(seconds: now + Int64(zone.offset(atUTC: now)))
      try meter.driver.init().setClock(connection, to: time)
      return time
    }
    if !quiet { tell(before, time, zone, output) }
    try output.finish()
  }

  private func tell(_ before: MeterIdentity, _ time: DeviceTime, _ zone: LogbookZone, _ output: Output) {
    let shown = time.text.replacing("T", with: " ")
    output.line("\(displayed(deviceName(before.device))): set to \(shown), the local time in \(zone.name)")
    if let clock = before.clock.map({ ClockJudgement($0, in: zone) }) {
      output.line("  it showed \(MeterText.line((clock.comparison, clock.difference)))")
    }
  }
}
