// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// Lists the devices on the bus, and opens them.
public struct USBBus {
  private let isInterrupted: () -> Bool

  /// The bus of this machine.
  ///
  /// - Parameter isInterrupted: polled while an exchange waits, for example `SignalFlag.isRaised`. When it becomes
  ///   true, one exchange ends with `.interrupted` at once. A driver's exchanges to end the session then have one
  ///   second in total.
  public init(isInterrupted: @escaping () -> Bool = { false }) { self.isInterrupted = isInterrupted }

  /// The version of the libusb library that this process uses, such as `1.0.26`.
  package static var libraryVersion: String { LibUSB.version }

  /// Every device on the bus, including hubs, by bus and address. Opens nothing.
  ///
  /// - Throws: `Failure` if the system refuses to list the bus.
  public func devices() throws -> [PluggedDevice] {
    try LibUSB().devices().map { SystemDevice($0).described }.sorted {
      ($0.bus, $0.address) < ($1.bus, $1.address)
    }
  }

  /// Why a device cannot be opened over this link although permission exists; nil if no reason was found. Opens nothing.
  package func obstruction(to device: PluggedDevice, _ link: MeterLink) -> Failure? {
    guard case .disk = link else { return nil }
    do throws(Failure) {
      try SystemDevice(device).refuseMounted()
      return nil
    } catch {
      return error
    }
  }

  /// Opens a device for exchanges over this link. The caller must close it; `withTransport` does both.
  ///
  /// The kernel's driver is detached only from the interfaces that the link needs.
  ///
  /// - Throws: `Failure`: `.permission` with the command that gives it, `.unavailable` if the device has disappeared or
  ///   is in use, `.protocolViolation` if the device has no such interface.
  public func open(_ device: PluggedDevice, _ link: MeterLink) throws -> any OpenTransport {
    let watch = Watch(isInterrupted: isInterrupted)
    if case .terminal(let settings) = link {
      return try TerminalTransport(device, settings, watch: watch)
    }
    if case .disk = link { try SystemDevice(device).refuseMounted() }
    let isChip = if case .cp2110 = link { true } else { false }
    let port = try LibUSB().open(device, isShared: isChip, watch: watch)
    return try LinkTransport.open(link, over: port)
  }

  /// Opens a device, performs the work, and always closes it.
  ///
  /// - Throws: the error of the work; else the error of closing.
  public func withTransport<Result>(
    to device: PluggedDevice, _ link: MeterLink, _ work: (any OpenTransport) throws -> Result
  ) throws -> Result {
    let transport = try open(device, link)
    let result = Swift.Result { try work(transport) }
    let closing = Swift.Result { try transport.close() }
    let value = try result.get()
    try closing.get()
    return value
  }
}
