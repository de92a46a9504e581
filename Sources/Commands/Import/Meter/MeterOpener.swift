// SPDX-License-Identifier: Apache-2.0

import BluetoothTransport
import CommandParts
import Glibc
import Logbook
import Meters
import USBTransport

/// Opens the meter that the options mean, and runs work with it until the work is done or a signal comes.
///
/// Each meter is opened only once, since some meters answer only once after they are plugged in. So if a
/// serial number is requested, the work is started with one meter after the other. The work with a meter ends
/// at once if the meter turns out to have another serial number.
struct MeterOpener {
  /// Inserts a layer between the driver and the meter, such as a recorder.
  typealias Wrap = (PluggedMeter, any Transport) throws -> any Transport

  private struct IsAnotherMeter: Error {}

  private let bluetooth = BluetoothMeters()
  private let bus = USBBus(isInterrupted: { SignalFlag.isRaised })
  private let options: MeterOptions
  private let readsAgain: Bool

  /// - Parameter readsAgain: whether the work starts once more if the meter disappears from the USB bus and
  ///   returns within seconds. The kernel resets a newly plugged device when it binds another driver, such as
  ///   that for a disk. Set it only for work that may run twice.
  init(_ options: MeterOptions, readsAgain: Bool = false) {
    (self.options, self.readsAgain) = (options, readsAgain)
  }

  /// Opens the meter, runs the work, and closes the meter in every case.
  ///
  /// - Parameters:
  ///   - allowsObstacle: whether models that are known not to be readable are included.
  ///   - work: must call `onIdentity` of the connection if it reads the meter's identity itself, so that the
  ///     serial number is checked.
  /// - Throws: errors of the work; `ExitStatus` if a signal ended it; `Failure` if no meter that the options
  ///   mean is connected.
  func perform<Result>(
    allowsObstacle: Bool = false, wrap: Wrap = { $1 },
    _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result {
    let meters = try selectedMeters(allowsObstacle: allowsObstacle, mayBeNone: false)
    guard let result = try perform(meters, wrap, work) else { throw Self.noSuchSerial }
    return result
  }

  static let noSuchSerial = Failure(
    .unavailable,
    "no connected meter has this serial number; 'glucoport meter info' shows the serial number of a meter")

  /// Runs the work like `perform`, for a job that starts when a meter is plugged in. The result is nil if
  /// none is connected.
  ///
  /// - Throws: in addition, `Failure` of category `temporary` if the meter was unplugged meanwhile, since the
  ///   job starts again when the meter is plugged in again. If a plugged meter cannot be read, a person must
  ///   act, and the failure stays `unavailable`.
  func performIfPresent<Result>(
    _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result? {
    try perform(meters: selectedMeters(allowsObstacle: false, mayBeNone: true), ifPresent: true, work)
  }

  /// All connected meters that the options mean and that can be read.
  ///
  /// - Parameter mayBeNone: whether the result may be empty. Otherwise, a failure is thrown.
  func all(mayBeNone: Bool) throws -> [PluggedMeter] {
    try selectedMeters(mayBeNone: mayBeNone) { try readableMeters($0, allowsObstacle: false) }
  }

  /// Runs the work with the first of these meters that has the requested serial number; nil if none has it.
  ///
  /// - Parameter ifPresent: whether a failure is `temporary` after the meter was unplugged, as in
  ///   `performIfPresent`.
  func perform<Result>(
    meters: [PluggedMeter], ifPresent: Bool, _ work: (PluggedMeter, MeterConnection) throws -> Result
  ) throws -> Result? {
    var last: MeterConnection?
    do {
      return try perform(meters, { $1 }) { meter, connection in
        last = connection
        return try work(meter, connection)
      }
    } catch let failure as Failure where failure.category == .unavailable {
      guard ifPresent, try last?.wasUnplugged == true || areGone(meters) else { throw failure }
      throw Failure(.temporary, failure.message)
    }
  }

  private func areGone(_ meters: [PluggedMeter]) throws -> Bool {
    if meters.contains(where: { $0.bluetooth != nil }) { return true }
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

  private func selectedMeters(allowsObstacle: Bool, mayBeNone: Bool) throws -> [PluggedMeter] {
    try selectedMeters(mayBeNone: mayBeNone) { try selectedMeters($0, allowsObstacle: allowsObstacle) }
  }

  /// The meters that the options mean: those that are plugged in, else a paired Bluetooth meter in reach.
  private func selectedMeters(
    mayBeNone: Bool, _ plugged: ([PluggedDevice]) throws -> [PluggedMeter]
  ) throws -> [PluggedMeter] {
    if !options.meansBluetooth {
      let devices = try bus.devices()
      let meters = try plugged(devices)
      if !meters.isEmpty { return meters }
      guard try !options.meansUSB && !PairedMeters.load().all.isEmpty else {
        if mayBeNone { return [] }
        throw PluggedMeter.none(
          devices, drivers: DriverRegister.all, driver: options.driver, usb: options.usb)
      }
    }
    do {
      let meters = try bluetooth.findPairedMeter(options, isJob: mayBeNone)
      if meters.isEmpty, !mayBeNone { throw BluetoothMeters.noneInReach }
      return meters
    } catch {
      throw SignalFlag.signal.map(ExitStatus.init(signal:)) ?? error
    }
  }

  /// The only plugged meter; none if no meter is plugged in. If a serial number is requested, the result is
  /// the meter whose USB plug reports it. If none does, the result is all meters, whose serial numbers must
  /// then be read.
  private func selectedMeters(_ devices: [PluggedDevice], allowsObstacle: Bool) throws -> [PluggedMeter] {
    let readable = try readableMeters(devices, allowsObstacle: allowsObstacle)
    guard let serial = options.serial else {
      return readable.isEmpty ? [] : [try PluggedMeter.only(of: readable)]
    }
    return readable.first { $0.device.serial == serial }.map { [$0] } ?? readable
  }

  private func readableMeters(_ devices: [PluggedDevice], allowsObstacle: Bool) throws -> [PluggedMeter] {
    let candidates = try candidates(devices)
    let readable = allowsObstacle ? candidates : candidates.filter { $0.model.obstacle == nil }
    if readable.isEmpty, let meter = candidates.first, let obstacle = meter.model.obstacle {
      throw Failure(.unavailable, "\(meter.place) cannot be read: \(obstacle)")
    }
    return readable
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
      guard let meter = try waitForReturn(of: meter) else { throw failure }
      return try perform(with: meter, opened: { _ in }, wrap, work)
    }
  }

  /// Waits up to five seconds until the meter is at the same port again; nil if it does not return.
  private func waitForReturn(of meter: PluggedMeter) throws -> PluggedMeter? {
    guard meter.bluetooth == nil else { return nil }
    for _ in 0..<10 {
      // A signal ends the pause early. When the kernel has reset a meter, the meter and its kernel drivers
      // return together. So no further pause is needed.
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
      return try withTransport(to: meter) { transport in
        let connection = MeterConnection(try wrap(meter, transport), model: meter.model, now: Host.now)
        let start = ContinuousClock.now
        connection.elapsed = { ContinuousClock.now - start }
        opened(connection)
        // A signal ends this pause early, and the next exchange then fails.
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

  private func withTransport<Result>(
    to meter: PluggedMeter, _ work: (any Transport) throws -> Result
  ) throws -> Result {
    guard let device = meter.bluetooth else {
      return try bus.withTransport(to: meter.device, meter.model.link, work)
    }
    return try PairedMeters.session(with: device, bluetooth.bus(), work)
  }
}

/// Meters whose USB ids no driver knows, but for which a person names a driver.
extension PluggedMeter {
  /// Whether the driver does not know the USB ids of the device.
  var isUnknown: Bool { bluetooth == nil && driver.knownModel(device.vendorID, device.productID) == nil }

  /// The plugged devices with these USB ids. If the driver knows the ids, the driver's entry for the model is
  /// used.
  ///
  /// - Throws: `Failure` of category `usage` if no interface of the device fits the driver.
  static func forced(
    _ usb: USBArgument, among devices: [PluggedDevice], driver: any MeterDriver.Type
  ) throws(Failure) -> [PluggedMeter] {
    guard !driver.usesBluetooth else {
      throw Failure(.usage, "the driver '\(driver.id)' reads meters by Bluetooth, not by USB: omit --usb")
    }
    var meters: [PluggedMeter] = []
    for device in devices where usb.matches(device) {
      guard let model = driver.model(of: device) else {
        let links = Set(driver.models.map(\.link.kind.words)).sorted().joined(separator: " or ")
        throw Failure(
          .usage,
          "the driver '\(driver.id)' reads \(links); \(usb.text) at \(device.port) is not one: "
            + "choose another with --driver, or another device with --usb")
      }
      meters.append(PluggedMeter(device: device, driver: driver, model: model))
    }
    return meters
  }
}

extension MeterDriver {
  fileprivate static func model(of device: PluggedDevice) -> MeterModel? {
    if let known = knownModel(device.vendorID, device.productID) { return known }
    let models = MeterLink.Kind.allCases.compactMap { kind in
      model(device.vendorID, device.productID, over: kind)
    }
    return models.first { $0.link.fits(device) }
  }
}

extension MeterLink {
  /// Whether a device has an interface for this link, as far as the system shows it while the device is
  /// closed.
  fileprivate func fits(_ device: PluggedDevice) -> Bool {
    let classes = device.interfaceClasses
    if classes.isEmpty { return true }
    return switch self {
    case .hid, .cp2110: classes.contains(3)
    case .disk: classes.contains(8)
    case .cdc: classes.contains(2)
    case .bulk(let interfaceClass): classes.contains(interfaceClass)
    // A serial chip with a vendor-specific class may have no terminal because its kernel driver is missing.
    // The attempt to open the meter reports that.
    case .terminal: device.terminal != nil || classes.contains(0xFF)
    case .bluetooth: false
    }
  }
}

extension MeterLink.Kind {
  fileprivate var words: String {
    switch self {
    case .hid: "HID devices"
    case .bulk: "devices with bulk endpoints"
    case .disk: "disks"
    case .cdc, .cp2110, .terminal: "serial lines"
    case .bluetooth: "Bluetooth meters"
    }
  }
}
