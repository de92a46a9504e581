// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The objects of bluetoothd, with their interfaces and properties: `org.freedesktop.DBus.ObjectManager`.
typealias BlueZObjects = [String: [String: [String: DBusValue]]]

/// A session with bluetoothd over the system bus.
///
/// One thread waits for everything: answers of bluetoothd, its signals, its calls of the agent, and packets
/// of sockets.
final class BlueZ {
  static let service = "org.bluez"
  static let adapter = "org.bluez.Adapter1"
  static let device = "org.bluez.Device1"
  static let characteristic = "org.bluez.GattCharacteristic1"
  static let gattService = "org.bluez.GattService1"
  static let gattManager = "org.bluez.GattManager1"

  /// Answers a call of bluetoothd to this program's agent, which asks for passkeys; nil refuses the call.
  var agent: ((DBusMessage) -> [DBusValue]?)?
  /// Receives each signal that comes over the bus.
  var onSignal: (DBusMessage) -> Void = { _ in }

  private let bus: DBusConnection
  private let isInterrupted: () -> Bool
  /// The maximum time from a process signal such as SIGINT to the end of a wait, in milliseconds.
  static let sliceMilliseconds: Int32 = 100

  /// - Throws: `Failure` of category `.unavailable` without a bus or without bluetoothd.
  init(address: String, isInterrupted: @escaping () -> Bool) throws(Failure) {
    bus = try DBusConnection(address: address)
    self.isInterrupted = isInterrupted
    // Each connection to the bus must begin with the call `Hello`. The function of libdbus for this call
    // waits without a limit and ignores signals.
    let greetingMilliseconds = 10_000
    do {
      _ = try call(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", to: "org.freedesktop.DBus",
        within: greetingMilliseconds)
    } catch {
      if case DBusError.interrupted = error { throw Failure(bluez: error, doing: "Bluetooth") }
      throw Failure(
        .unavailable, "Bluetooth: the system bus at \(address) does not answer: \(error.words)")
    }
    let rule = "type='signal',sender='\(Self.service)'"
    do {
      try listen(for: rule)
    } catch {
      throw Failure(bluez: error, doing: "Bluetooth")
    }
  }

  /// Asks the bus for a signal `NameOwnerChanged` when bluetoothd ends or starts.
  func watchOwner() throws(DBusError) {
    try listen(
      for: "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
  }

  private func listen(for rule: String) throws(DBusError) {
    try call(
      "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", [.string(rule)], to: "org.freedesktop.DBus"
    )
  }

  /// Calls a method and waits for its answer.
  ///
  /// - Throws: `DBusError`, also `interrupted` and `timedOut`.
  @discardableResult
  func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
    to destination: String = BlueZ.service, within milliseconds: Int = 25_000
  ) throws(DBusError) -> [DBusValue] {
    let serial = try bus.send(to: destination, path, interface, member, arguments)
    var answer: DBusMessage?
    try wait(within: milliseconds) { message in
      if message.replySerial == serial, message.kind == .answer || message.kind == .error { answer = message }
      return answer != nil
    }
    guard let answer else { throw DBusError.timedOut }
    guard answer.kind == .answer else {
      throw DBusError(name: answer.errorName, words: answer.arguments.first?.text ?? "")
    }
    return answer.arguments
  }

  /// Receives messages until `isMet` returns true. Returns false if the time has passed first.
  ///
  /// - Parameters:
  ///   - slice: after a process signal such as SIGINT, the wait ends within this time, in milliseconds.
  ///   - isMet: is called with each message.
  @discardableResult
  func wait(
    within milliseconds: Int, slice longest: Int32 = BlueZ.sliceMilliseconds,
    until isMet: (DBusMessage) -> Bool = { _ in false }
  ) throws(DBusError) -> Bool {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      if isInterrupted() { throw DBusError.interrupted }
      let left = (end - ContinuousClock.now) / .milliseconds(1)
      guard left > 0 else { return false }
      guard let (message, received) = try bus.next(within: 0) else {
        // `poll` also returns after a process signal. The wait function of libdbus would continue to wait.
        var entry = pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)
        _ = Glibc.poll(&entry, 1, min(longest, Int32(left) + 1))
        continue
      }
      if let received { try answer(message, received) }
      if message.kind == .signal { onSignal(message) }
      if isMet(message) { return true }
    }
  }

  /// Waits for a message or for a packet of one of these sockets. Returns the sockets with a packet.
  func poll(_ sockets: [Int32], within milliseconds: Int) -> [Int32] {
    var list = (sockets + [bus.descriptor]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let count = Glibc.poll(&list, nfds_t(list.count), Int32(min(milliseconds, Int(Self.sliceMilliseconds))))
    guard count > 0 else { return [] }
    return list.dropLast().filter { $0.revents != 0 }.map(\.fd)
  }

  /// Receives the messages that have already arrived from the bus, without waiting.
  func receiveMessages() throws(DBusError) {
    if isInterrupted() { throw DBusError.interrupted }
    while let (message, received) = try bus.next(within: 0) {
      if let received { try answer(message, received) }
      if message.kind == .signal { onSignal(message) }
    }
  }

  /// All objects of bluetoothd.
  func objects() throws(DBusError) -> BlueZObjects {
    let answer = try call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    return answer.first?.entries?.mapValues { interfaces in
      (interfaces.entries ?? [:]).mapValues { $0.entries ?? [:] }
    } ?? [:]
  }

  /// Sets a property.
  func set(_ path: String, _ interface: String, _ name: String, _ value: DBusValue) throws(DBusError) {
    try call(
      path, "org.freedesktop.DBus.Properties", "Set", [.string(interface), .string(name), .variant(value)])
  }

  private func answer(_ message: DBusMessage, _ received: DBusConnection.ReceivedCall) throws(DBusError) {
    if let values = agent?(message) {
      try bus.answer(received, values)
    } else {
      try bus.refuse(received, "org.bluez.Error.Rejected")
    }
  }
}

extension DBusError {
  static let timedOut = DBusError(name: "org.freedesktop.DBus.Error.NoReply", words: "no answer")
  static let interrupted = DBusError(name: "interrupted", words: "interrupted")

  /// The last part of the error's name, such as `AuthenticationFailed`.
  var code: String { String(name.split(separator: ".").last ?? "") }

  /// The error that an exchange with a meter reports for this error of D-Bus.
  var transportError: TransportError {
    switch code {
    case "interrupted": .interrupted
    case "NoReply", "Timeout": .timedOut
    case "NotConnected", "UnknownObject", "DoesNotExist": .unplugged
    case "NotAuthorized": .notPaired
    case "NotPermitted" where isOfSecurity: .notPaired
    case "NotPermitted", "NotSupported", "InvalidValueLength", "InProgress": .stalled
    case "Failed" where isOfSecurity: .notPaired
    case "Failed" where words.contains("Not connected"): .unplugged
    case "Failed" where words.contains("ATT error"): .stalled
    default: .failed(words.isEmpty ? name : words)
    }
  }

  /// Whether a connection ended while it was set up. The cause may be a weak signal, or that the meter has
  /// lost the pairing: bluetoothd 5.66 reports both with the same text.
  var isAbort: Bool {
    code == "Failed"
      && ["connection-abort-by-local", "caused connection abort"].contains { words.contains($0) }
  }

  /// Whether the meter refused a request for lack of security. The ATT errors are 05 (authentication), 08
  /// (authorisation) and 0F (encryption).
  private var isOfSecurity: Bool {
    ["Not paired", "0x05", "0x08", "0x0f", "uthenticat", "ncrypt"].contains { words.contains($0) }
  }
}

extension Failure {
  /// The failure for a connection that ended while it was set up.
  static func aborted(_ device: BluetoothDevice, _ doing: String) -> Failure {
    Failure(
      .unavailable,
      "\(doing): the connection ended at its start; bring the meter near and retry; if it ends again, the meter has lost "
        + "the pairing: run 'glucoport meter forget \(device.address)', then 'glucoport meter pair'")
  }

  /// An error of the bus or of bluetoothd as a sentence with its remedy.
  init(bluez error: DBusError, doing: String) {
    switch error.code {
    case "interrupted": self.init(.temporary, "\(doing): interrupted")
    case "ServiceUnknown", "NameHasNoOwner":
      self.init(
        .unavailable,
        "\(doing): bluetoothd is not running; install and start it: sudo apt install bluez && sudo systemctl start bluetooth"
      )
    case "AccessDenied":
      self.init(
        .permission,
        "\(doing): permission denied by the system bus; join the group bluetooth: sudo usermod -aG bluetooth \"$USER\""
      )
    case "AuthenticationFailed":
      self.init(
        .permission,
        "\(doing): the meter refused the passkey; it is printed on the meter or shown on its screen")
    case "AuthenticationCanceled", "AuthenticationRejected", "AuthenticationTimeout":
      self.init(.unavailable, "\(doing): the meter ended the pairing; put it in pairing mode again and retry")
    case "NoReply", "Timeout", "ConnectionAttemptFailed", "NotReady", "DoesNotExist", "UnknownObject":
      self.init(
        .unavailable,
        "\(doing): the meter did not answer; bring it near, switch Bluetooth on in its menu and retry")
    default:
      self.init(
        .unavailable,
        "\(doing): \(error.words.isEmpty ? error.name : error.words); bring the meter near and retry")
    }
  }
}
