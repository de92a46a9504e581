// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Logbook
import Meters
package import USBTransport

/// The options that select one of the connected meters.
package struct MeterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use this driver.", valueName: "id"), completion: .drivers)
  package var driver: String?

  @Option(help: ArgumentHelp("Use the meter with this serial number.", valueName: "serial"))
  package var serial: String?

  @Option(
    help: ArgumentHelp(
      "With --driver: use this USB device, even if no driver knows its ids.",
      valueName: "vendor:product[@port]"))
  package var usb: USBArgument?

  @Option(help: ArgumentHelp("Use the paired Bluetooth meter with this address.", valueName: "address"))
  var bluetooth: BluetoothArgument?

  /// Creates the options without values. The parser sets the values.
  package init() {}

  /// Whether at least one of the options is given.
  package var isGiven: Bool { driver != nil || usb != nil || serial != nil || bluetooth != nil }

  /// Whether the options allow only plugged USB meters.
  package var meansUSB: Bool { usb != nil || driver.flatMap(DriverRegister.driver)?.usesBluetooth == false }

  /// Whether the options allow only Bluetooth meters.
  package var meansBluetooth: Bool {
    bluetooth != nil || driver.flatMap(DriverRegister.driver)?.usesBluetooth == true && usb == nil
  }

  /// Refuses options that exclude each other, and the name of an unknown driver.
  package func validate() throws {
    if usb != nil, driver == nil {
      throw ValidationError("--usb needs --driver to name the driver for the device.")
    }
    if bluetooth != nil, usb != nil || driver.flatMap(DriverRegister.driver)?.usesBluetooth == false {
      throw ValidationError("--bluetooth is for Bluetooth meters; omit --usb and --driver.")
    }
    if let driver, DriverRegister.driver(driver) == nil {
      throw ValidationError("Unknown driver '\(driver)'; 'glucoport meter drivers' lists the drivers.")
    }
  }
}

/// A USB device by its vendor and product ids, as `lsusb` prints them: `0403:6015`. If two devices have the
/// same ids, the port distinguishes them: `0403:6015@1-1.4`.
package struct USBArgument: ExpressibleByArgument, Equatable {
  let vendorID: UInt16
  let productID: UInt16
  /// The kernel's name of the port; nil for a device at any port.
  package let port: String?

  package init?(argument: String) {
    let parts = argument.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let ids = parts[0].split(separator: ":", omittingEmptySubsequences: false).compactMap(Self.id)
    guard ids.count == 2, parts[0].utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 else { return nil }
    if parts.count == 2, !Self.isPort(parts[1]) { return nil }
    (vendorID, productID) = (ids[0], ids[1])
    port = parts.count == 2 ? String(parts[1]) : nil
  }

  /// The ids and the port as they are typed on the command line.
  package var text: String { MeterModel.ids(vendorID, productID) + (port.map { "@" + $0 } ?? "") }

  /// Whether a plugged device has these ids, and this port if one is given.
  package func matches(_ device: PluggedDevice) -> Bool {
    device.vendorID == vendorID && device.productID == productID && (port == nil || device.port == port)
  }

  private static func id(_ text: Substring) -> UInt16? {
    guard text.utf8.count == 4, text.allSatisfy(\.isHexDigit) else { return nil }
    return UInt16(text, radix: 16)
  }

  /// Whether a text is like the kernel's names for ports, such as `1-1.4`.
  private static func isPort(_ text: Substring) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
      }
  }
}

/// A Bluetooth meter by its address: `D4:3E:00:12:34:56`.
package struct BluetoothArgument: ExpressibleByArgument, Equatable {
  /// The address in upper case, as bluetoothd writes it.
  package let address: String

  package init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
      return nil
    }
    address = argument.uppercased()
  }
}
