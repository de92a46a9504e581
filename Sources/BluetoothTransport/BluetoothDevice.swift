// SPDX-License-Identifier: Apache-2.0

/// A meter that bluetoothd knows.
package struct BluetoothDevice: Hashable, Sendable {
  /// The Bluetooth address, such as `D4:3E:00:12:34:56`.
  package let address: String
  /// The name that the meter advertises; the address if it advertises none.
  package let name: String
  /// Whether the meter and this computer are paired.
  package let isPaired: Bool
  /// Whether the meter may connect by itself.
  package let isTrusted: Bool
  /// Whether the meter is connected.
  package let isConnected: Bool
  /// The path of the object in bluetoothd.
  let path: String
  /// Whether an advertisement of the meter was received recently.
  let isInReach: Bool

  /// The device that an object of bluetoothd represents; nil for an object that is not a device, or has no
  /// Glucose Service.
  init?(path: String, _ interfaces: [String: [String: DBusValue]]) {
    guard let properties = interfaces[BlueZ.device], let address = properties["Address"]?.text,
      (properties["UUIDs"]?.texts ?? []).contains(where: { GattNumber.short($0) == GattNumber.glucose })
    else { return nil }
    self.path = path
    self.address = address
    let name = properties["Name"]?.text ?? properties["Alias"]?.text ?? address
    self.name = String(name.prefix(128))
    isPaired = properties["Paired"]?.flag ?? false
    isTrusted = properties["Trusted"]?.flag ?? false
    isConnected = properties["Connected"]?.flag ?? false
    isInReach = properties["RSSI"] != nil || isConnected
  }

  /// The path of the adapter's object: the path of this device without its last part.
  var adapter: String { path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } }
}

/// The 16-bit numbers of services and characteristics, which BlueZ writes as UUIDs of 128 bits.
enum GattNumber {
  /// The Glucose Service.
  static let glucose: UInt16 = 0x1808
  /// The Glucose Service as a UUID of 128 bits.
  static let glucoseText = "00001808" + rest
  private static let rest = "-0000-1000-8000-00805f9b34fb"

  /// The 16-bit number in a UUID of Bluetooth services; nil for a UUID that a vendor defined.
  static func short(_ text: String) -> UInt16? {
    let text = text.lowercased()
    guard text.utf8.count == 36, text.hasPrefix("0000"), text.hasSuffix(rest) else { return nil }
    return UInt16(text.dropFirst(4).prefix(4), radix: 16)
  }
}
