// SPDX-License-Identifier: Apache-2.0

package import BluetoothTransport
package import Logbook
import Meters
package import USBTransport

/// A plugged device or a paired Bluetooth meter, with the driver that can read it.
package struct PluggedMeter {
  /// The USB device. For a Bluetooth meter, it is a substitute whose port is the meter's address.
  package let device: PluggedDevice
  /// The driver that reads the meter.
  package let driver: any MeterDriver.Type
  /// The entry for the model in the driver's list.
  package let model: MeterModel
  /// The Bluetooth meter; nil for a plugged USB device.
  package var bluetooth: BluetoothDevice?

  /// Combines a device with a driver and the driver's entry for the model.
  package init(
    device: PluggedDevice, driver: any MeterDriver.Type, model: MeterModel, bluetooth: BluetoothDevice? = nil
  ) {
    (self.device, self.driver, self.model, self.bluetooth) = (device, driver, model, bluetooth)
  }

  /// The model and its port: `Contour Next USB at 1-1.4`.
  package var place: String { "\(model.name) at \(device.port)" }

  /// The path of the device file to open. For a serial terminal, it is that of the terminal.
  package var node: String { isTerminal ? device.terminal ?? device.node : device.node }

  /// Whether this process has access to the device file at `node`.
  package var mayOpen: Bool { isTerminal ? device.mayOpenTerminal : device.mayOpenNode }

  private var isTerminal: Bool {
    if case .terminal = model.link { true } else { false }
  }

  /// The devices whose ids these drivers know. With `shared`, this includes ids that other products use as
  /// well. If several drivers know a device, the first one gets it.
  package static func meters(
    in devices: [PluggedDevice], drivers: [any MeterDriver.Type], shared: Bool
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

  /// The only device that a driver can read. `driver` is the id of the requested driver; nil for any driver.
  ///
  /// - Throws: `Failure`: `.unavailable` if there is no such device, `.usage` if there are several and a
  ///   person must choose.
  static func only(
    of devices: [PluggedDevice], drivers: [any MeterDriver.Type], driver: String?
  ) throws(Failure) -> PluggedMeter {
    let meters = candidates(devices, drivers: drivers, driver: driver)
    guard !meters.isEmpty else { throw none(devices, drivers: drivers, driver: driver) }
    return try only(of: meters)
  }

  /// The only meter of a list that is not empty.
  ///
  /// - Throws: `Failure` of category `usage` if the list has several and a person must choose.
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

  /// The devices that the driver with this id can read; nil for any driver. If a driver is named, this
  /// includes ids that other products share.
  package static func candidates(
    _ devices: [PluggedDevice], drivers: [any MeterDriver.Type], driver: String?
  ) -> [PluggedMeter] {
    let chosen = driver.map { id in drivers.filter { $0.id == id } } ?? drivers
    return meters(in: devices, drivers: chosen, shared: driver != nil)
  }

  /// The failure for the case that no meter is found. It explains which devices are plugged in instead.
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
    let cables = meters(in: devices, drivers: drivers, shared: true)
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

  /// The drivers that know the device's ids only as ids that other products share.
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

/// The search for paired Bluetooth meters. The connection to bluetoothd is opened at the first use.
package final class BluetoothMeters {
  /// For about how many seconds a meter advertises after a key press or a measurement.
  package static let advertisingSeconds = 30

  private var opened: BluetoothBus?

  /// Creates the search. It opens no connection to bluetoothd yet.
  package init() {}

  /// The connection to bluetoothd, which is opened at the first call.
  ///
  /// - Throws: `Failure` if bluetoothd cannot be reached.
  package func bus() throws(Failure) -> BluetoothBus {
    if let opened { return opened }
    let address = Host.environment("DBUS_SYSTEM_BUS_ADDRESS") ?? BluetoothBus.defaultAddress
    let bus = try BluetoothBus(address: address, isInterrupted: { SignalFlag.isRaised })
    opened = bus
    return bus
  }

  /// Searches for a paired meter that the options allow, while meters advertise. The list contains the first
  /// such meter in reach, or is empty.
  ///
  /// - Throws: `Failure` of category `.unavailable` if no paired meter fits the options.
  ///
  /// - Parameter isJob: whether a job asks. After failed sessions, a job skips a meter for a while.
  package func findPairedMeter(_ options: MeterOptions, isJob: Bool) throws -> [PluggedMeter] {
    try findPairedMeter(
      address: options.bluetooth?.address, serial: options.serial, seconds: Self.advertisingSeconds,
      isJob: isJob)
  }

  /// Waits up to `seconds` until bluetoothd has connected a paired meter that came near. The list contains
  /// this meter, or is empty. If bluetoothd lacks this function, or if jobs skip a meter after failed
  /// sessions, meters are searched for during at most 30 seconds instead.
  ///
  /// - Throws: `Failure` as in `findPairedMeter`.
  package func waitForPairedMeter(address: String?, seconds: Int) throws -> [PluggedMeter] {
    let paired = try PairedMeters.load().all
    let now = Host.now()
    if !paired.contains(where: { $0.isPaused(at: now) }) {
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
    return try findPairedMeter(
      address: address, serial: nil, seconds: min(seconds, Self.advertisingSeconds), isJob: true)
  }

  /// Searches for a paired meter with this address and serial number for at most `seconds`; nil allows any.
  /// The list contains the first such meter in reach, or is empty.
  package func findPairedMeter(address: String?, serial: String?, seconds: Int, isJob: Bool) throws
    -> [PluggedMeter]
  {
    let paired = try PairedMeters.load().all.filter { meter in
      (address.map { $0 == meter.address } ?? true)
        && (serial.map { meter.serial.isEmpty || meter.isIdentified(by: $0) } ?? true)
    }
    guard !paired.isEmpty || address != nil else {
      throw Failure(.unavailable, "no such Bluetooth meter is paired; pair it with 'glucoport meter pair'")
    }
    let now = Host.now()
    let resting = isJob ? Set(paired.filter { $0.isPaused(at: now) }.map(\.address)) : []
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

  /// The failure for the case that no paired meter is in reach.
  package static let noneInReach = Failure(
    .unavailable,
    "no paired Bluetooth meter is in reach; press a key on the meter or switch its Bluetooth on, and retry")
}

extension PluggedMeter {
  /// The address of a Bluetooth meter; nil for a plugged device.
  package var bluetoothAddress: String? { bluetooth?.address.uppercased() }

  /// A paired meter. It is not plugged, so its Bluetooth address is used as its port.
  package init?(bluetooth device: BluetoothDevice) {
    guard let driver = DriverRegister.all.first(where: { $0.usesBluetooth }) else { return nil }
    let place = PluggedDevice(
      bus: 0, address: 0, port: device.address, vendorID: 0, productID: 0, node: device.address)
    self.init(device: place, driver: driver, model: .bluetooth(device.name), bluetooth: device)
  }
}
