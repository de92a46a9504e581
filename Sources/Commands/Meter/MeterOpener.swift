// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import USBTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Opens a session with the one meter that the options mean, until it is done or a signal comes.
///
/// A meter is opened once: some answer once each time that they are plugged in. So the one with a serial number is
/// found by beginning the work with each in turn; it ends as soon as the meter turns out to be another one.
struct MeterOpener {
  /// What is between driver and meter, such as a recording.
  typealias Wrap = (PluggedMeter, any Transport) throws -> any Transport

  private struct IsAnotherMeter: Error {}

  private let bus = USBBus(isInterrupted: { SignalFlag.isRaised })
  private let options: MeterOptions
  private let readsAgain: Bool

  /// - Parameter readsAgain: whether the work is done once more where the meter leaves the bus in the middle of it and is
  ///   back within seconds. The kernel resets a device for a driver of another of its interfaces, such as that of a disk,
  ///   just when it was plugged in. Only for work that may be done twice.
  init(_ options: MeterOptions, readsAgain: Bool = false) {
    (self.options, self.readsAgain) = (options, readsAgain)
  }

  /// Opens the meter, does the work, and closes it in every case.
  ///
  /// - Parameters:
  ///   - allowsObstacle: whether a model that cannot be read is meant, too.
  ///   - work: what asks by itself which meter it is calls the connection's `onIdentity`.
  /// - Throws: what the work throws; `ExitStatus` when a signal ended it; `Failure` where the meter is not plugged in.
  func perform<Result>(
    allowsObstacle: Bool = false, wrap: Wrap = { $1 },
    _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result {
    let devices = try bus.devices()
    let meters = try meant(devices, allowsObstacle: allowsObstacle)
    guard !meters.isEmpty else {
      throw PluggedMeter.none(
        devices, drivers: DriverRegister.all, driver: options.driver, usb: options.usb)
    }
    guard let result = try perform(meters, wrap, work) else {
      throw Failure(
        .unavailable,
        "no connected meter has this serial number; 'glucoport meter info' shows the serial number of a meter"
      )
    }
    return result
  }

  /// The same for jobs that start when a meter is plugged in; nil where none is plugged in.
  ///
  /// - Throws: also `Failure` of category `temporary` where the meter has been unplugged again: the work is done when it is
  ///   back. A meter that is there and cannot be read needs a person, and stays `unavailable`.
  func performIfPresent<Result>(
    _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result? {
    let meters = try meant(bus.devices(), allowsObstacle: false)
    var last: MeterConnection?
    do {
      return try perform(meters, { $1 }) { meter, connection in
        last = connection
        return try work(meter, connection)
      }
    } catch let failure as Failure where failure.category == .unavailable {
      guard try last?.wasUnplugged == true || areGone(meters) else { throw failure }
      throw Failure(.temporary, failure.message)
    }
  }

  private func areGone(_ meters: [PluggedMeter]) throws -> Bool {
    let ports = Set(try bus.devices().map(\.port))
    return !meters.contains { ports.contains($0.device.port) }
  }
}

extension MeterOpener {
  private func candidates(_ devices: [PluggedDevice]) throws -> [PluggedMeter] {
    if let usb = options.usb, let driver = options.driver.flatMap(DriverRegister.driver) {
      return try PluggedMeter.forced(usb, among: devices, driver: driver)
    }
    return PluggedMeter.candidates(devices, drivers: DriverRegister.all, driver: options.driver)
  }

  /// One meter, or those that a serial number leaves to be asked; none where none is plugged in.
  private func meant(_ devices: [PluggedDevice], allowsObstacle: Bool) throws -> [PluggedMeter] {
    let candidates = try candidates(devices)
    let readable = allowsObstacle ? candidates : candidates.filter { $0.model.obstacle == nil }
    if readable.isEmpty, let meter = candidates.first, let obstacle = meter.model.obstacle {
      throw Failure(.unavailable, "\(meter.place) cannot be read: \(obstacle)")
    }
    guard let serial = options.serial else {
      return readable.isEmpty ? [] : [try PluggedMeter.only(of: readable)]
    }
    return readable.first { $0.device.serial == serial }.map { [$0] } ?? readable
  }

  private func perform<Result>(
    _ meters: [PluggedMeter], _ wrap: Wrap, _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result? {
    for meter in meters {
      do {
        return try perform(with: meter, wrap, work)
      } catch is IsAnotherMeter {
        continue
      }
    }
    return nil
  }

  private func perform<Result>(
    with meter: PluggedMeter, _ wrap: Wrap, _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result {
    SignalFlag.watch()
    var last: MeterConnection?
    do {
      return try perform(with: meter, opened: { last = $0 }, wrap, work)
    } catch let failure as Failure where readsAgain && last?.wasUnplugged == true && !SignalFlag.isRaised {
      guard let meter = try returned(meter) else { throw failure }
      return try perform(with: meter, opened: { _ in }, wrap, work)
    }
  }

  /// The meter at the same port, as soon as it is back; nil where it stays away.
  private func returned(_ meter: PluggedMeter) throws -> PluggedMeter? {
    for _ in 0..<10 {
      // A signal ends it early. One that is only being reset is back when its drivers are.
      usleep(500_000)
      if SignalFlag.isRaised { return nil }
      let device = try bus.devices().first { device in
        device.port == meter.device.port && device.vendorID == meter.device.vendorID
          && device.productID == meter.device.productID
      }
      if let device { return PluggedMeter(device: device, driver: meter.driver, model: meter.model) }
    }
    return nil
  }

  private func perform<Result>(
    with meter: PluggedMeter, opened: (MeterConnection) -> Void, _ wrap: Wrap,
    _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result {
    do {
      return try bus.withTransport(to: meter.device, meter.model.link) { transport in
        let connection = MeterConnection(try wrap(meter, transport), model: meter.model, now: Host.now)
        let start = ContinuousClock.now
        connection.elapsed = { ContinuousClock.now - start }
        opened(connection)
        // A signal ends it early, and then the next exchange.
        connection.pause = { usleep(UInt32($0) * 1000) }
        connection.onIdentity = { identity in
          let serial = options.serial ?? identity.device.serial
          guard serial == identity.device.serial || serial == meter.device.serial else {
            throw IsAnotherMeter()
          }
        }
        return try work(meter, connection)
      }
    } catch let failure as Failure where failure.category == .permission && meter.isUnknown {
      let ids = MeterModel.ids(meter.device.vendorID, meter.device.productID)
      let command = USBBus.permissionCommand(isShared: false, ids: ids)
      throw Failure(.permission, "cannot open the meter: Permission denied: \(meter.node); run: \(command)")
    } catch {
      throw SignalFlag.signal.map(ExitStatus.init(signal:)) ?? error
    }
  }
}
