// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A connection to the characteristics of a meter.
final class BluetoothLink: Transport {
  private let bluez: BlueZ
  private let device: BluetoothDevice
  private let characteristics: [GlucoseCharacteristic: (path: String, properties: [String: DBusValue])]
  /// The sockets for notifications. bluetoothd writes notifications to them in order and without gaps.
  private var sockets: [Int32: GlucoseCharacteristic] = [:]
  private var pending: [[UInt8]] = []
  /// Values that came over the bus. They are delivered after the values from the sockets, since the last
  /// indication follows all notifications.
  private var pendingFromBus: [[UInt8]] = []
  private var isConnected = true

  private static let resolveMilliseconds = 30_000
  /// The maximum length of a characteristic's value in bytes.
  private static let maxValueBytes = 512

  /// Waits until bluetoothd knows the characteristics of a connected meter.
  init(_ bluez: BlueZ, _ device: BluetoothDevice) throws(DBusError) {
    (self.bluez, self.device) = (bluez, device)
    characteristics = try Self.resolve(bluez, device)
    bluez.onSignal = { [weak self] in self?.handleSignal($0) }
  }

  /// Performs one exchange with the meter.
  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    // Values that arrived before the connection ended are still delivered.
    guard isConnected || exchange == .notification else { throw .unplugged }
    do throws(DBusError) {
      switch exchange {
      case .readValue(.name): return Array(device.name.utf8)
      case .readValue(let characteristic):
        guard let path = characteristics[characteristic]?.path else { throw DBusError.absent }
        let answer = try bluez.call(
          path, BlueZ.characteristic, "ReadValue", [.dictionary([:])], within: milliseconds)
        return Array((answer.first?.bytes ?? []).prefix(Self.maxValueBytes))
      case .subscribe(let characteristic): try subscribe(characteristic, within: milliseconds)
      case .recordAccess(let request): try write(request, within: milliseconds)
      case .notification: return try notification(within: milliseconds)
      default: throw DBusError.absent
      }
      return []
    } catch {
      if error == .absent { throw .unsupported }
      throw isConnected ? error.transportError : .unplugged
    }
  }

  /// Closes the sockets. bluetoothd then turns off their notifications.
  func close() {
    bluez.onSignal = { _ in }
    for socket in sockets.keys { Glibc.close(socket) }
    sockets = [:]
  }
}

extension BluetoothLink {
  /// The characteristics of a device that glucoport knows. A characteristic is used only if its service is
  /// the one that its specification requires.
  private static func resolve(
    _ bluez: BlueZ, _ device: BluetoothDevice
  ) throws(DBusError) -> [GlucoseCharacteristic: (path: String, properties: [String: DBusValue])] {
    let end = ContinuousClock.now + .milliseconds(resolveMilliseconds)
    while true {
      let objects = try bluez.objects()
      if objects[device.path]?[BlueZ.device]?["ServicesResolved"]?.flag == true {
        return glucoseCharacteristics(objects, device)
      }
      guard ContinuousClock.now < end else { throw DBusError.timedOut }
      try bluez.wait(within: 500) { $0.kind == .signal }
    }
  }

  private static func glucoseCharacteristics(
    _ objects: BlueZObjects, _ device: BluetoothDevice
  ) -> [GlucoseCharacteristic: (path: String, properties: [String: DBusValue])] {
    var found: [GlucoseCharacteristic: (path: String, properties: [String: DBusValue])] = [:]
    for path in objects.keys.sorted() where path.hasPrefix(device.path + "/") {
      guard let properties = objects[path]?[BlueZ.characteristic],
        let number = properties["UUID"]?.text.flatMap(GattNumber.short),
        let characteristic = GlucoseCharacteristic(rawValue: number),
        let service = properties["Service"]?.text,
        objects[service]?[BlueZ.gattService]?["UUID"]?.text.flatMap(GattNumber.short)
          == characteristic.service
      else { continue }
      if found[characteristic] == nil { found[characteristic] = (path, properties) }
    }
    return found
  }

  /// Turns on notifications, over a socket if bluetoothd offers one. Without a socket, the notifications come
  /// over the bus, which may drop one of two equal values in a row.
  private func subscribe(_ characteristic: GlucoseCharacteristic, within milliseconds: Int) throws(DBusError)
  {
    guard let (path, properties) = characteristics[characteristic] else { throw DBusError.absent }
    if properties["NotifyAcquired"] != nil {
      do throws(DBusError) {
        let answer = try bluez.call(
          path, BlueZ.characteristic, "AcquireNotify", [.dictionary([:])], within: milliseconds)
        if case .descriptor(let socket) = answer.first {
          sockets[socket] = characteristic
          return
        }
      } catch {
        // bluetoothd offers no socket for indications, so they come over the bus.
        guard ["NotSupported", "NotPermitted", "UnknownMethod"].contains(error.code) else { throw error }
      }
    }
    try bluez.call(path, BlueZ.characteristic, "StartNotify", within: milliseconds)
  }

  /// Writes a request to the record access control point. It is the only write to a meter, and `RecordAccess`
  /// has no deletion.
  private func write(_ request: RecordAccess, within milliseconds: Int) throws(DBusError) {
    guard let path = characteristics[.recordAccess]?.path else { throw DBusError.absent }
    try bluez.call(
      path, BlueZ.characteristic, "WriteValue",
      [.bytes(request.bytes), .dictionary(["type": .string("request")])], within: milliseconds)
  }

  private func notification(within milliseconds: Int) throws(DBusError) -> [UInt8] {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      try bluez.receiveMessages()
      // The sockets are read first: if bluetoothd has sent a value over the bus, it wrote earlier values to
      // the sockets before.
      for socket in bluez.poll(Array(sockets.keys), within: 0) { receivePackets(socket) }
      if !pending.isEmpty { return pending.removeFirst() }
      if !pendingFromBus.isEmpty { return pendingFromBus.removeFirst() }
      guard isConnected else { throw DBusError(name: "NotConnected", words: "Not connected") }
      let left = Int((end - ContinuousClock.now) / .milliseconds(1))
      guard left > 0 else { throw DBusError.timedOut }
      _ = bluez.poll(Array(sockets.keys), within: left)
    }
  }

  /// Receives all packets of a socket that have arrived.
  private func receivePackets(_ socket: Int32) {
    guard let characteristic = sockets[socket] else { return }
    var buffer = [UInt8](repeating: 0, count: Self.maxValueBytes)
    while true {
      let count = uninterrupted { recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)) }
      if count > 0 {
        pending.append(Self.packet(characteristic, Array(buffer.prefix(count))))
      } else {
        // bluetoothd closes the socket when the connection to the meter ends.
        if count == 0 || errno != EAGAIN {
          Glibc.close(socket)
          sockets[socket] = nil
          isConnected = false
        }
        return
      }
    }
  }

  private func handleSignal(_ signal: DBusMessage) {
    guard signal.member == "PropertiesChanged", signal.arguments.count >= 2,
      let interface = signal.arguments[0].text, let changed = signal.arguments[1].entries
    else { return }
    if signal.path == device.path, interface == BlueZ.device, changed["Connected"]?.flag == false {
      isConnected = false
    }
    guard interface == BlueZ.characteristic, let value = changed["Value"]?.bytes,
      let characteristic = characteristics.first(where: { $0.value.path == signal.path })?.key,
      [.measurement, .context, .recordAccess].contains(characteristic),
      !sockets.values.contains(characteristic)
    else { return }
    pendingFromBus.append(Self.packet(characteristic, Array(value.prefix(Self.maxValueBytes))))
  }

  private static func packet(_ characteristic: GlucoseCharacteristic, _ value: [UInt8]) -> [UInt8] {
    let number = characteristic.rawValue
    return [UInt8(number & 0xFF), UInt8(number >> 8)] + value
  }
}

extension DBusError {
  /// Thrown if the meter lacks the characteristic.
  fileprivate static let absent = DBusError(name: "absent", words: "")
}
