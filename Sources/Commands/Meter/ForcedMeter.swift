// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import USBTransport

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
