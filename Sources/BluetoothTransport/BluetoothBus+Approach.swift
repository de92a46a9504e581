// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension BluetoothBus {
  /// How a wait for a meter that comes near ended.
  package enum Approach: Hashable, Sendable {
    /// bluetoothd has connected this meter.
    case connected(BluetoothDevice)
    /// No meter connected, or the state of bluetoothd or an adapter changed. The caller must begin a new
    /// wait.
    case noMeter
    /// bluetoothd does not support waiting, or has no pairing with any of the meters.
    case unsupported
  }

  private static let applicationPath = "/org/glucoport"
  private static let profilePath = applicationPath + "/profile"
  /// The interval at which a wait checks for a process signal, in milliseconds. A signal during the wait ends
  /// it at once. Only a signal just before the wait begins is found by this check.
  private static let approachSliceMilliseconds: Int32 = 5000

  /// Waits until bluetoothd has connected one of these meters by itself. It connects every paired meter in
  /// reach while a program has registered the client profile of the Glucose Service.
  ///
  /// This is not a search. The Bluetooth controller knows the addresses of the meters, so bluetoothd and this
  /// program are idle until a meter advertises.
  ///
  /// - Parameters:
  ///   - seconds: the maximum time.
  ///   - addresses: the addresses of the meters, in upper case.
  /// - Throws: `Failure`: `.unavailable` without an adapter, `.permission` if the bus refuses.
  package func awaitConnection(seconds: Int, of addresses: Set<String>) throws(Failure) -> Approach {
    let action = "waiting for a meter"
    func meant() throws(Failure) -> [BluetoothDevice] {
      try devices().filter { $0.isPaired && addresses.contains($0.address.uppercased()) }
    }
    let adapters = try poweredAdapters()
    if try meant().isEmpty { return .unsupported }
    bluez.agent = Self.profile
    defer { bluez.agent = nil }
    try doing(action) { () throws(DBusError) in try bluez.watchOwner() }
    var registered: [String] = []
    defer {
      for adapter in registered {
        callIgnoringFailure(
          adapter, BlueZ.gattManager, "UnregisterApplication", [.objectPath(Self.applicationPath)])
      }
    }
    for adapter in adapters where try register(at: adapter, action) { registered.append(adapter) }
    guard !registered.isEmpty else { return .unsupported }
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      if let device = try meant().first(where: \.isConnected) { return .connected(device) }
      let left = Int((end - ContinuousClock.now) / .milliseconds(1))
      var hasChanged = false
      let isMet = try doing(action) { () throws(DBusError) in
        try bluez.wait(within: left, slice: Self.approachSliceMilliseconds) { message in
          hasChanged = Self.isChange(message)
          return hasChanged || Self.isConnection(message)
        }
      }
      if !isMet || hasChanged { return .noMeter }
    }
  }

  /// Answers a call of bluetoothd to this program's objects, of which there is only the client profile; nil
  /// refuses the call.
  private static func profile(_ message: DBusMessage) -> [DBusValue]? {
    switch (message.path, message.member) {
    case (applicationPath, "GetManagedObjects"):
      let properties = ["UUIDs": DBusValue.array([.string(GattNumber.glucoseText)])]
      return [.objects([profilePath: ["org.bluez.GattProfile1": properties]])]
    case (profilePath, "Release"): return []
    default: return nil
    }
  }

  private func register(at adapter: String, _ action: String) throws(Failure) -> Bool {
    do throws(DBusError) {
      try bluez.call(
        adapter, BlueZ.gattManager, "RegisterApplication",
        [.objectPath(Self.applicationPath), .dictionary([:])])
      return true
    } catch {
      if ["AccessDenied", "interrupted"].contains(error.code) { throw Failure(bluez: error, doing: action) }
      return false
    }
  }

  /// Whether a message states that a meter was connected.
  private static func isConnection(_ message: DBusMessage) -> Bool {
    message.kind == .signal && message.member == "PropertiesChanged" && message.arguments.count > 1
      && message.arguments[0].text == BlueZ.device
      && message.arguments[1].entries?["Connected"]?.flag == true
  }

  /// Whether bluetoothd or an adapter was started, stopped or changed, after which bluetoothd may have lost
  /// this program's profile.
  private static func isChange(_ message: DBusMessage) -> Bool {
    guard message.kind == .signal, message.arguments.count > 1 else { return false }
    switch message.member {
    case "NameOwnerChanged": return message.arguments[0].text == BlueZ.service
    case "InterfacesAdded": return message.arguments[1].entries?[BlueZ.adapter] != nil
    case "InterfacesRemoved": return message.arguments[1].texts?.contains(BlueZ.adapter) == true
    default: return false
    }
  }
}
