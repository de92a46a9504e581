// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ingest
import Logbook

/// `glucoport meter set-clock`: the only command that changes a meter, and only when a person runs it.
struct MeterSetClockCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "set-clock", abstract: "Set a meter's clock to the local time of the logbook.",
    discussion: helpText(
      "Readings on the meter keep their times.",
      examples: "glucoport meter set-clock",
      "glucoport meter set-clock --serial 1234567"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    guard Host.now() >= Release.date else {
      throw Failure(
        .configuration, "cannot set the meter's clock: the clock of this computer is wrong; correct it first")
    }
    let zone = try storeOptions.zone()
    var change: Change?
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
    try output.finish()
  }
}

extension MeterSetClockCommand {
  /// The identity of the meter with its old time, and the new time.
  private typealias Change = (before: MeterIdentity, time: DeviceTime)

  private func show(_ change: Change, _ zone: LogbookZone, _ output: Output) {
    let (before, time) = change
    let shown = time.text.replacing("T", with: " ")
    output.line("\(displayed(deviceName(before.device))): set to \(shown), the local time in \(zone.name)")
    if let clock = before.clock.map({ ClockJudgement($0, in: zone) }) {
      output.line("  it showed \(MeterText.line((clock.comparison, clock.difference)))")
    }
  }
}
