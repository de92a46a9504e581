// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Lists, pairs and connects the Bluetooth meters of this computer through bluetoothd.
package final class BluetoothBus {
  /// Asks a person for the passkey of a meter; nil ends the pairing.
  package typealias Passkey = (_ name: String) -> UInt32?

  let bluez: BlueZ
  private static let agentPath = "/org/glucoport/agent"
  private static let discoveryMilliseconds = 2000
  private static let discoverySliceMilliseconds: Int32 = 1000
  private static let connectMilliseconds = 40_000
  private static let pairMilliseconds = 90_000

  /// The usual address of the system bus, if `DBUS_SYSTEM_BUS_ADDRESS` is not set.
  package static let defaultAddress = "unix:path=/run/dbus/system_bus_socket"

  /// - Parameters:
  ///   - address: the address of the system bus.
  ///   - isInterrupted: is polled; true after SIGINT or SIGTERM.
  /// - Throws: `Failure` of category `.unavailable` without the library, the bus or bluetoothd.
  package init(
    address: String = BluetoothBus.defaultAddress, isInterrupted: @escaping () -> Bool
  ) throws(Failure) {
    bluez = try BlueZ(address: address, isInterrupted: isInterrupted)
  }

  /// The meters that are paired, or in reach.
  ///
  /// - Throws: `Failure`: `.unavailable` without bluetoothd, `.permission` if the bus refuses.
  package func devices() throws(Failure) -> [BluetoothDevice] {
    let objects = try doing("listing Bluetooth meters") { () throws(DBusError) in try bluez.objects() }
    return objects.compactMap { BluetoothDevice(path: $0.key, $0.value) }.sorted { $0.path < $1.path }
  }

  /// Looks for meters until the condition is met or the time is over. Returns those that advertise.
  ///
  /// - Parameters:
  ///   - seconds: the maximum time.
  ///   - isEnough: is polled with the meters in reach; true ends the search.
  package func search(
    seconds: Int, until isEnough: ([BluetoothDevice]) -> Bool
  ) throws(Failure) -> [BluetoothDevice] {
    let adapters = try poweredAdapters()
    // A connected meter does not advertise, so it is returned without a search.
    let connected = Self.withoutDuplicates(try devices().filter(\.isConnected))
    if isEnough(connected) { return connected }
    defer { stopDiscovery(adapters) }
    for adapter in adapters { try startDiscovery(adapter) }
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let found = Self.withoutDuplicates(try devices().filter(\.isInReach))
      if isEnough(found) || ContinuousClock.now >= end { return found }
      try doing("looking for meters") { () throws(DBusError) in
        try bluez.wait(within: Self.discoveryMilliseconds, slice: Self.discoverySliceMilliseconds) {
          $0.kind == .signal && $0.member != "PropertiesChanged"
        }
      }
    }
  }

  /// Pairs with a meter. After that, the meter may connect by itself.
  ///
  /// - Throws: `Failure`: `.permission` for a wrong passkey, `.unavailable` if the meter ends the pairing.
  package func pair(_ device: BluetoothDevice, passkey: @escaping Passkey) throws(Failure) {
    let action = "pairing with \(device.name)"
    var wasCancelled = false
    bluez.agent = { message in
      guard message.path == Self.agentPath, message.interface == "org.bluez.Agent1" else { return nil }
      switch message.member {
      case "RequestPasskey":
        guard let number = passkey(device.name) else {
          wasCancelled = true
          return nil
        }
        return [.uint32(number)]
      case "RequestAuthorization", "AuthorizeService", "Release", "Cancel": return []
      default: return nil
      }
    }
    defer { bluez.agent = nil }
    try doing(action) { () throws(DBusError) in
      let manager = "org.bluez.AgentManager1"
      try bluez.call(
        "/org/bluez", manager, "RegisterAgent", [.objectPath(Self.agentPath), .string("KeyboardOnly")])
    }
    defer { unregisterAgent() }
    do throws(DBusError) {
      try bluez.call(device.path, BlueZ.device, "Pair", within: Self.pairMilliseconds)
    } catch {
      let isPaired = error.code == "AlreadyExists"
      // After a failed pairing, bluetoothd would keep the meter without its services, and no search would
      // find it.
      if !isPaired, !device.isPaired { remove(device) }
      if wasCancelled { throw Failure(.usage, "\(action): no passkey was given") }
      if !isPaired { throw Failure(bluez: error, doing: action) }
    }
    try doing(action) { () throws(DBusError) in
      try bluez.set(device.path, BlueZ.device, "Trusted", .bool(true))
    }
  }

  /// Forgets a meter: the pairing, and everything that bluetoothd stored about it.
  package func forget(_ device: BluetoothDevice) throws(Failure) {
    try doing("forgetting \(device.name)") { () throws(DBusError) in
      try bluez.call(device.adapter, BlueZ.adapter, "RemoveDevice", [.objectPath(device.path)])
    }
  }

  /// Connects to a meter, does the work, and disconnects in every case.
  ///
  /// - Throws: errors of the work; `Failure` of category `.unavailable` if the meter is out of reach.
  package func withTransport<Result>(
    to device: BluetoothDevice, _ work: (any Transport) throws -> Result
  ) throws -> Result {
    let action = "connecting to \(device.name)"
    do throws(DBusError) {
      try bluez.call(device.path, BlueZ.device, "Connect", within: Self.connectMilliseconds)
    } catch {
      throw error.isAbort ? .aborted(device, action) : Failure(bluez: error, doing: action)
    }
    defer { disconnect(device) }
    let link = try doing(action) { () throws(DBusError) in
      try BluetoothLink(bluez, device)
    }
    defer { link.close() }
    return try work(link)
  }
}

extension BluetoothBus {
  @discardableResult
  func doing<Result>(_ action: String, _ work: () throws(DBusError) -> Result) throws(Failure)
    -> Result
  {
    do throws(DBusError) {
      return try work()
    } catch {
      throw Failure(bluez: error, doing: action)
    }
  }

  /// The devices with each meter only once. Every adapter that receives a meter has an object for it. Of
  /// these, the object with the pairing is used.
  private static func withoutDuplicates(_ devices: [BluetoothDevice]) -> [BluetoothDevice] {
    var addresses: Set<String> = []
    let pairedFirst = devices.filter(\.isPaired) + devices.filter { !$0.isPaired }
    return pairedFirst.filter { addresses.insert($0.address).inserted }.sorted { $0.path < $1.path }
  }

  /// The adapters that are switched on. Adapters that are off are switched on first.
  func poweredAdapters() throws(Failure) -> [String] {
    let action = "looking for meters"
    let objects = try doing(action) { () throws(DBusError) in try bluez.objects() }
    let adapters = objects.filter { $0.value[BlueZ.adapter] != nil }
    guard !adapters.isEmpty else {
      throw Failure(
        .unavailable,
        "\(action): this computer has no Bluetooth adapter; plug one in, or see 'bluetoothctl list'")
    }
    var powered: [String] = []
    var refusal: DBusError?
    for path in adapters.keys.sorted() {
      if adapters[path]?[BlueZ.adapter]?["Powered"]?.flag != true {
        do throws(DBusError) {
          try bluez.set(path, BlueZ.adapter, "Powered", .bool(true))
        } catch {
          refusal = error
          continue
        }
      }
      powered.append(path)
    }
    guard powered.isEmpty else { return powered }
    if let refusal, ["AccessDenied", "interrupted"].contains(refusal.code) {
      throw Failure(bluez: refusal, doing: action)
    }
    throw Failure(
      .unavailable,
      "\(action): the Bluetooth adapter is switched off by a switch or by software; run: rfkill unblock bluetooth"
    )
  }

  private func startDiscovery(_ adapter: String) throws(Failure) {
    try doing("looking for meters") { () throws(DBusError) in
      let filter: [String: DBusValue] = [
        "Transport": .string("le"), "UUIDs": .array([.string(GattNumber.glucoseText)]),
      ]
      try bluez.call(adapter, BlueZ.adapter, "SetDiscoveryFilter", [.dictionary(filter)])
      do throws(DBusError) {
        try bluez.call(adapter, BlueZ.adapter, "StartDiscovery")
      } catch {
        guard error.code == "InProgress" else { throw error }
      }
    }
  }

  private func stopDiscovery(_ adapters: [String]) {
    for adapter in adapters { callIgnoringFailure(adapter, BlueZ.adapter, "StopDiscovery") }
  }

  private func remove(_ device: BluetoothDevice) {
    callIgnoringFailure(device.adapter, BlueZ.adapter, "RemoveDevice", [.objectPath(device.path)])
  }

  private func disconnect(_ device: BluetoothDevice) {
    callIgnoringFailure(device.path, BlueZ.device, "Disconnect")
  }

  private func unregisterAgent() {
    callIgnoringFailure(
      "/org/bluez", "org.bluez.AgentManager1", "UnregisterAgent", [.objectPath(Self.agentPath)])
  }

  func callIgnoringFailure(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) {
    do throws(DBusError) {
      try bluez.call(path, interface, member, arguments, within: 5000)
    } catch {
      // An error is ignored. When this program's connection to the bus ends, bluetoothd stops the search in
      // any case.
    }
  }
}

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

  /// Answers a call of bluetoothd to this program's only object, the client profile; nil refuses the call.
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
