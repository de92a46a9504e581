// SPDX-License-Identifier: Apache-2.0

import BluetoothTransport
import Logbook
import Meters
import USBTransport

/// Bluetooth meters for the commands. The connection to bluetoothd begins with the first use.
final class BluetoothMeters {
  /// A meter advertises for about this time after a key was pressed or a measurement was made.
  static let advertisingSeconds = 30

  private var opened: BluetoothBus?

  /// The connection to bluetoothd.
  ///
  /// - Throws: `Failure` if there is none.
  func bus() throws(Failure) -> BluetoothBus {
    if let opened { return opened }
    let address = Host.environment("DBUS_SYSTEM_BUS_ADDRESS") ?? BluetoothBus.defaultAddress
    let bus = try BluetoothBus(address: address, isInterrupted: { SignalFlag.isRaised })
    opened = bus
    return bus
  }

  /// The first paired meter in reach that the options mean; none if none is in reach in time.
  ///
  /// - Throws: `Failure` of category `.unavailable` if none is paired that the options mean.
  func inReach(_ options: MeterOptions) throws -> [PluggedMeter] {
    try inReach(
      address: options.bluetooth?.address, serial: options.serial, seconds: Self.advertisingSeconds)
  }

  /// The same with this address or this serial number, and at most this number of seconds.
  func inReach(address: String?, serial: String?, seconds: Int) throws -> [PluggedMeter] {
    let paired = try PairedMeters.load().all.filter { meter in
      (address.map { $0 == meter.address } ?? true)
        && (serial.map { meter.serial.isEmpty || meter.isMeant(by: $0) } ?? true)
    }
    guard !paired.isEmpty || address != nil else {
      throw Failure(.unavailable, "no such Bluetooth meter is paired; pair it with 'glucoport meter pair'")
    }
    let addresses = address.map { [$0] } ?? paired.map(\.address)
    SignalFlag.watch()
    let bus = try bus()
    func meant(_ devices: [BluetoothDevice]) -> [BluetoothDevice] {
      devices.filter { $0.isPaired && addresses.contains($0.address.uppercased()) }
    }
    let found = try meant(bus.search(seconds: seconds) { !meant($0).isEmpty })
    return found.prefix(1).compactMap(PluggedMeter.init(bluetooth:))
  }

  /// The failure if no meter is in reach.
  static let noneInReach = Failure(
    .unavailable,
    "no paired Bluetooth meter is in reach; press a key on the meter or switch its Bluetooth on, and retry")
}

extension PluggedMeter {
  /// The address of a Bluetooth meter; nil for a plugged device.
  var bluetoothAddress: String? { bluetooth?.address.uppercased() }

  /// A paired meter. It has no plug, so its port is its address.
  init?(bluetooth device: BluetoothDevice) {
    guard let driver = DriverRegister.all.first(where: { $0.usesBluetooth }) else { return nil }
    let place = PluggedDevice(
      bus: 0, address: 0, port: device.address, vendorID: 0, productID: 0, node: device.address)
    self.init(device: place, driver: driver, model: .bluetooth(device.name), bluetooth: device)
  }
}
