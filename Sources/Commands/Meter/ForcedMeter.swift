// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import USBTransport

/// Meters whose USB ids are in no table, read by the driver that a person names.
extension PluggedMeter {
  /// Whether the driver does not know its USB ids.
  var isUnknown: Bool { bluetooth == nil && driver.knownModel(device.vendorID, device.productID) == nil }

  /// The devices with these ids. For ids that the driver knows, its own facts are used.
  ///
  /// - Throws: `Failure` of category `usage` for a device without an interface that the driver can use.
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
  /// Whether the device has a suitable interface, as far as the system shows without opening it.
  fileprivate func fits(_ device: PluggedDevice) -> Bool {
    let classes = device.interfaceClasses
    if classes.isEmpty { return true }
    return switch self {
    case .hid, .cp2110: classes.contains(3)
    case .disk: classes.contains(8)
    case .cdc: classes.contains(2)
    case .bulk(let interfaceClass): classes.contains(interfaceClass)
    // A chip with its own class may only lack its driver in the kernel, which opening it shows.
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
