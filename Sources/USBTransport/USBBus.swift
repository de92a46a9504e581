// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// What is plugged in, and the way to communicate with it.
public struct USBBus {
  private let isInterrupted: () -> Bool

  /// The bus of this machine.
  ///
  /// - Parameter isInterrupted: asked again and again while an exchange waits, for example `SignalFlag.isRaised`. Once
  ///   it is true, one exchange ends with `.interrupted` at once, and what a driver then does to say good-bye has
  ///   one second in all.
  public init(isInterrupted: @escaping () -> Bool = { false }) { self.isInterrupted = isInterrupted }

  /// The version of the libusb library that this process uses, such as `1.0.26`.
  package static var libraryVersion: String { LibUSB.version }

  /// Every device at the bus, hubs too, by bus and address. Nothing is opened.
  ///
  /// - Throws: `Failure` when the system does not let the bus be listed.
  public func devices() throws -> [PluggedDevice] {
    try LibUSB().devices().map { SystemDevice($0).described }.sorted {
      ($0.bus, $0.address) < ($1.bus, $1.address)
    }
  }

  /// Why a device could not be opened over this link although permission is there; nil where nothing is seen that
  /// prevents it. Nothing is opened.
  package func obstruction(to device: PluggedDevice, _ link: MeterLink) -> Failure? {
    guard case .disk = link else { return nil }
    do throws(Failure) {
      try SystemDevice(device).refuseMounted()
      return nil
    } catch {
      return error
    }
  }

  /// Opens a device for exchanges over this link. Whoever opens it closes it; `withTransport` does both.
  ///
  /// The kernel's driver is taken off the interfaces that the link needs, and no others.
  ///
  /// - Throws: `Failure`: `.permission` with the command that gives it, `.unavailable` when the device is gone or in use,
  ///   `.protocolViolation` when the device has no such interface.
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

  /// Opens a device, does the work, and closes it in every case.
  ///
  /// - Throws: what the work throws; else what closing throws.
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
