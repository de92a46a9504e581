// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import USBTransport

/// Talks to the one meter that the options mean, until it is done or a signal comes.
struct MeterTalk {
  private let bus = USBBus(isInterrupted: { SignalFlag.isRaised })
  private let options: MeterOptions

  init(_ options: MeterOptions) { self.options = options }

  /// The meter that is meant; nil where none is plugged in and that is no failure.
  ///
  /// - Parameter allowsObstacle: whether a model that cannot be read is meant, too.
  func find(allowsObstacle: Bool = false, ifPresent: Bool = false) throws -> PluggedMeter? {
    let devices = try bus.devices()
    let candidates = PluggedMeter.candidates(devices, drivers: DriverRegister.all, driver: options.driver)
    if candidates.isEmpty, ifPresent { return nil }
    let readable = allowsObstacle ? candidates : candidates.filter { $0.model.obstacle == nil }
    if readable.isEmpty, let meter = candidates.first, let obstacle = meter.model.obstacle {
      throw Failure(.unavailable, "\(meter.place) cannot be read: \(obstacle)")
    }
    guard let serial = options.serial, !readable.isEmpty else {
      return try PluggedMeter.only(
        of: readable.isEmpty ? devices : readable.map(\.device), drivers: DriverRegister.all,
        driver: options.driver)
    }
    let found = try readable.first {
      try $0.device.serial == serial || identity(of: $0).device.serial == serial
    }
    if found == nil, !ifPresent {
      throw Failure(
        .unavailable, "no meter with this serial number is plugged in; 'glucoport meter info' tells it")
    }
    return found
  }

  /// The meter that is meant.
  func require(allowsObstacle: Bool = false) throws -> PluggedMeter {
    guard let meter = try find(allowsObstacle: allowsObstacle) else {
      throw PluggedMeter.none([], drivers: DriverRegister.all, driver: options.driver)
    }
    return meter
  }

  /// Opens the meter, does the work, and closes it in every case.
  ///
  /// - Parameter wrap: what stands between driver and meter, such as a recording.
  /// - Throws: what the work throws; `ExitStatus` when a signal ended it.
  func perform<Result>(
    with meter: PluggedMeter, wrap: (any Transport) -> any Transport = { $0 },
    _ work: (MeterConnection) throws -> Result
  ) throws -> Result {
    SignalFlag.watch()
    do {
      return try bus.talk(to: meter.device, meter.model.link) { transport in
        try work(MeterConnection(wrap(transport), model: meter.model, now: Host.now))
      }
    } catch {
      throw SignalFlag.signal.map(ExitStatus.init(signal:)) ?? error
    }
  }

  /// Which meter it is.
  func identity(of meter: PluggedMeter) throws -> MeterIdentity {
    try perform(with: meter) { try meter.driver.init().identify($0) }
  }
}
