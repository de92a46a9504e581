// SPDX-License-Identifier: Apache-2.0

package import BluetoothTransport
package import Logbook
import Meters
package import USBTransport

/// A plugged device or a paired Bluetooth meter, with the driver that knows it.
package struct PluggedMeter {
  /// The device; of a Bluetooth meter one with its address as the port.
  package let device: PluggedDevice
  /// The driver that reads it.
  package let driver: any MeterDriver.Type
  /// The model, as the driver knows it.
  package let model: MeterModel
  /// The Bluetooth meter; nil for a plugged device.
  package var bluetooth: BluetoothDevice?

  /// A device, as this model of the driver.
  package init(
    device: PluggedDevice, driver: any MeterDriver.Type, model: MeterModel, bluetooth: BluetoothDevice? = nil
  ) {
    (self.device, self.driver, self.model, self.bluetooth) = (device, driver, model, bluetooth)
  }

  /// The model and its port: `Contour Next USB at 1-1.4`.
  package var place: String { "\(model.name) at \(device.port)" }

  /// The file to be opened, after its link is followed.
  package var node: String { isTerminal ? device.terminal ?? device.node : device.node }

  /// Whether this process may open it.
  package var mayOpen: Bool { isTerminal ? device.mayOpenTerminal : device.mayOpenNode }

  private var isTerminal: Bool {
    if case .terminal = model.link { true } else { false }
  }

  /// The devices whose ids these drivers know. With `shared`, this includes ids that other products use as
  /// well. If several drivers know a device, the first is used.
  package static func among(
    _ devices: [PluggedDevice], drivers: [any MeterDriver.Type], shared: Bool
  ) -> [PluggedMeter] {
    devices.compactMap { device in
      for driver in drivers {
        let model = driver.models.first { model in
          model.vendorID == device.vendorID && model.productID == device.productID
            && (shared || !model.isShared)
        }
        if let model { return PluggedMeter(device: device, driver: driver, model: model) }
      }
      return nil
    }
  }

  /// The only meter that the options can mean.
  ///
  /// - Throws: `Failure`: `.unavailable` without one, `.usage` if a person must choose.
  static func only(
    of devices: [PluggedDevice], drivers: [any MeterDriver.Type], driver: String?
  ) throws(Failure) -> PluggedMeter {
    let meters = candidates(devices, drivers: drivers, driver: driver)
    guard !meters.isEmpty else { throw none(devices, drivers: drivers, driver: driver) }
    return try only(of: meters)
  }

  /// The only meter of the list.
  ///
  /// - Throws: `Failure` of category `usage` if a person must choose.
  package static func only(of meters: [PluggedMeter]) throws(Failure) -> PluggedMeter {
    guard meters.count == 1 else {
      let names = meters.map { "\(displayed($0.place)) (\($0.driver.id))" }.joined(separator: ", ")
      throw Failure(
        .usage,
        "several meters are plugged in: \(names); choose one with --serial, --driver, or "
          + "--driver and --usb with its port")
    }
    return meters[0]
  }

  /// The meters for a driver's id. A person who names a driver also means its shared ids.
  package static func candidates(
    _ devices: [PluggedDevice], drivers: [any MeterDriver.Type], driver: String?
  ) -> [PluggedMeter] {
    let chosen = driver.map { id in drivers.filter { $0.id == id } } ?? drivers
    return among(devices, drivers: chosen, shared: driver != nil)
  }

  /// The failure if no meter is found.
  package static func none(
    _ devices: [PluggedDevice], drivers: [any MeterDriver.Type], driver: String?, usb: USBArgument? = nil
  ) -> Failure {
    if let usb {
      return Failure(.unavailable, "no device \(usb.text) is plugged in; plug it in, or see 'lsusb'")
    }
    if let driver {
      return Failure(
        .unavailable,
        "no meter of the driver '\(driver)' is plugged in; see 'glucoport meter list', or choose a device "
          + "with other ids with --usb")
    }
    let cables = among(devices, drivers: drivers, shared: true)
    guard let cable = cables.first else {
      return Failure(
        .unavailable, "no meter is plugged in; plug it in, and switch it on if needed")
    }
    let ids = sharing(cable.device, drivers).map { $0.id }.joined(separator: ", ")
    return Failure(
      .unavailable,
      "no meter is plugged in that can be identified; the cable at \(cable.device.port) is used by: \(ids); "
        + "choose one with --driver")
  }

  /// The drivers that know a device's ids as ids that other products use, too.
  package static func sharing(
    _ device: PluggedDevice, _ drivers: [any MeterDriver.Type]
  ) -> [any MeterDriver.Type] {
    drivers.filter { driver in
      driver.models.contains {
        $0.isShared && $0.vendorID == device.vendorID && $0.productID == device.productID
      }
    }
  }
}

/// Bluetooth meters for the commands. The connection to bluetoothd begins with the first use.
package final class BluetoothMeters {
  /// A meter advertises for about this time after a key was pressed or a measurement was made.
  package static let advertisingSeconds = 30

  private var opened: BluetoothBus?

  /// Without a connection yet.
  package init() {}

  /// The connection to bluetoothd.
  ///
  /// - Throws: `Failure` if there is none.
  package func bus() throws(Failure) -> BluetoothBus {
    if let opened { return opened }
    let address = Host.environment("DBUS_SYSTEM_BUS_ADDRESS") ?? BluetoothBus.defaultAddress
    let bus = try BluetoothBus(address: address, isInterrupted: { SignalFlag.isRaised })
    opened = bus
    return bus
  }

  /// The first paired meter in reach that the options mean; none if none is in reach in time.
  ///
  /// - Throws: `Failure` of category `.unavailable` if none is paired that the options mean.
  ///
  /// - Parameter isJob: whether a job asks, which passes over meters whose sessions failed.
  package func inReach(_ options: MeterOptions, isJob: Bool) throws -> [PluggedMeter] {
    try inReach(
      address: options.bluetooth?.address, serial: options.serial, seconds: Self.advertisingSeconds,
      isJob: isJob)
  }

  /// The first paired meter that comes near, connected by bluetoothd; none if none comes in time. Without such help of
  /// bluetoothd, and while a job passes over a meter, meters are searched for during their advertising time.
  ///
  /// - Throws: `Failure` as for `inReach`.
  package func approaching(address: String?, seconds: Int) throws -> [PluggedMeter] {
    let paired = try PairedMeters.load().all
    let now = Host.now()
    if !paired.contains(where: { $0.rests(at: now) }) {
      let addresses = address.map { [$0] } ?? paired.map(\.address)
      if !addresses.isEmpty {
        SignalFlag.watch()
        switch try bus().awaitConnection(seconds: seconds, of: Set(addresses)) {
        case .connected(let device): return [device].compactMap(PluggedMeter.init(bluetooth:))
        case .noMeter: return []
        case .unsupported: break
        }
      }
    }
    return try inReach(
      address: address, serial: nil, seconds: min(seconds, Self.advertisingSeconds), isJob: true)
  }

  /// The same with this address or this serial number, and at most this number of seconds.
  package func inReach(address: String?, serial: String?, seconds: Int, isJob: Bool) throws -> [PluggedMeter]
  {
    let paired = try PairedMeters.load().all.filter { meter in
      (address.map { $0 == meter.address } ?? true)
        && (serial.map { meter.serial.isEmpty || meter.isMeant(by: $0) } ?? true)
    }
    guard !paired.isEmpty || address != nil else {
      throw Failure(.unavailable, "no such Bluetooth meter is paired; pair it with 'glucoport meter pair'")
    }
    let now = Host.now()
    let resting = isJob ? Set(paired.filter { $0.rests(at: now) }.map(\.address)) : []
    let addresses = (address.map { [$0] } ?? paired.map(\.address)).filter { !resting.contains($0) }
    if addresses.isEmpty { return [] }
    SignalFlag.watch()
    let bus = try bus()
    func meant(_ devices: [BluetoothDevice]) -> [BluetoothDevice] {
      devices.filter { $0.isPaired && addresses.contains($0.address.uppercased()) }
    }
    let heard = try bus.search(seconds: seconds) { !meant($0).isEmpty }
    let found = meant(heard)
    if found.isEmpty, let lost = heard.first(where: { addresses.contains($0.address.uppercased()) }) {
      throw Self.lostPairing(lost)
    }
    return found.prefix(1).compactMap(PluggedMeter.init(bluetooth:))
  }

  private static func lostPairing(_ device: BluetoothDevice) -> Failure {
    Failure(
      .permission,
      "\(displayed(device.name)) is in reach, but this computer has lost its pairing; switch the pairing mode on in its "
        + "menu, and run: glucoport meter pair")
  }

  /// The failure if no meter is in reach.
  package static let noneInReach = Failure(
    .unavailable,
    "no paired Bluetooth meter is in reach; press a key on the meter or switch its Bluetooth on, and retry")
}

extension PluggedMeter {
  /// The address of a Bluetooth meter; nil for a plugged device.
  package var bluetoothAddress: String? { bluetooth?.address.uppercased() }

  /// A paired meter. It has no plug, so its port is its address.
  package init?(bluetooth device: BluetoothDevice) {
    guard let driver = DriverRegister.all.first(where: { $0.usesBluetooth }) else { return nil }
    let place = PluggedDevice(
      bus: 0, address: 0, port: device.address, vendorID: 0, productID: 0, node: device.address)
    self.init(device: place, driver: driver, model: .bluetooth(device.name), bluetooth: device)
  }
}
