// SPDX-License-Identifier: Apache-2.0

import Glibc
public import Logbook

/// Lists the devices on the bus, and opens them.
public struct USBBus {
  private let isInterrupted: () -> Bool

  /// The bus of this machine.
  ///
  /// - Parameter isInterrupted: polled while an exchange waits, for example `SignalFlag.isRaised`. When it
  ///   becomes true, one exchange ends with `.interrupted` at once. After that, a driver has one second in
  ///   total for the exchanges that end the session.
  public init(isInterrupted: @escaping () -> Bool = { false }) { self.isInterrupted = isInterrupted }

  /// The version of the libusb library that this process uses, such as `1.0.26`.
  package static var libraryVersion: String { LibUSB.version }

  /// Every device on the bus, including hubs, by bus and address. No device is opened.
  ///
  /// - Throws: `Failure` if the system refuses to list the bus.
  public func devices() throws -> [PluggedDevice] {
    try LibUSB().devices().map { SystemDevice($0).pluggedDevice }.sorted {
      ($0.bus, $0.address) < ($1.bus, $1.address)
    }
  }

  /// Why a device cannot be opened over this link although permission exists; nil if no reason was found. The
  /// device is not opened.
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
  /// - Throws: `Failure`: `.permission` with the command that grants it, `.unavailable` if the device has
  ///   disappeared or is in use. Also `.protocolViolation` if it has no such interface.
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
  /// - Throws: the error of the work; if the work succeeded, the error of closing.
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

/// A device on the USB bus, as seen without opening it. Listing wakes no meter and needs no permission.
public struct PluggedDevice: Hashable, Sendable {
  /// The number of the bus.
  public var bus: UInt8
  /// The number that the kernel assigned when the device was plugged in. When the device is plugged in again,
  /// it gets another number.
  public var address: UInt8
  /// The port where the device is plugged in, in the kernel's notation: `1-1.4`.
  public var port: String
  /// The USB vendor id.
  public var vendorID: UInt16
  /// The USB product id.
  public var productID: UInt16
  /// The manufacturer that the device states; may be empty. The text is not trusted, so callers must remove
  /// control characters before they show it.
  public var manufacturer = ""
  /// The product that the device states; may be empty. The text is not trusted; see `manufacturer`.
  public var product = ""
  /// The serial number of the USB chip, which may differ from the serial number of the meter; may be empty.
  /// The text is not trusted; see `manufacturer`.
  public var serial = ""
  /// The classes of the device's interfaces; empty if the system does not report them. 2 is a serial line, 3
  /// HID, 8 a disk.
  public var interfaceClasses: Set<UInt8> = []
  /// The kernel drivers that are bound to the device's interfaces, such as `usbhid`.
  public var kernelDrivers: [String] = []
  /// The file to open for a session with the device: `/dev/bus/usb/001/002`.
  public var node: String
  /// The terminal of the kernel's driver, if there is one: `/dev/ttyUSB0`.
  public var terminal: String?
  /// Whether this process may open the file `node`.
  public var mayOpenNode = false
  /// Whether this process may open the file `terminal`.
  public var mayOpenTerminal = false

  /// A device whose other properties are empty.
  package init(bus: UInt8, address: UInt8, port: String, vendorID: UInt16, productID: UInt16, node: String) {
    self.bus = bus
    self.address = address
    self.port = port
    self.vendorID = vendorID
    self.productID = productID
    self.node = node
  }

  /// Whether both are the same device, and it was not unplugged in between. When a device is plugged in
  /// again, the kernel assigns another address.
  func isSame(as other: PluggedDevice) -> Bool {
    (bus, address, port, vendorID, productID)
      == (other.bus, other.address, other.port, other.vendorID, other.productID)
  }
}

extension USBBus {
  /// A command that grants people and cron jobs the permission to open meters.
  ///
  /// - Parameters:
  ///   - isShared: whether the rules include cables and chips whose ids other devices share.
  ///   - ids: the ids of a device that no driver knows, and for which there is no other rule.
  package static func permissionCommand(isShared: Bool, ids: String? = nil) -> String {
    let options = (isShared ? " --shared" : "") + (ids.map { " --usb " + $0 } ?? "")
    return "glucoport meter udev-rules\(options) | sudo tee /etc/udev/rules.d/70-glucoport.rules "
      + "&& sudo udevadm control --reload && sudo udevadm trigger"
  }
}

extension Failure {
  /// The failure for a device whose file may not be opened, with the command that grants permission.
  ///
  /// - Parameter isShared: whether other devices share its ids, so that the default rules omit it.
  static func noPermission(_ node: String, isShared: Bool) -> Failure {
    let command = USBBus.permissionCommand(isShared: isShared)
    return Failure(.permission, "opening the meter: Permission denied: \(node); run: \(command)")
  }

  /// The failure for a device that has disappeared.
  static func gone(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: \(node) has disappeared; plug the meter in and retry")
  }

  /// The failure for a device that another program uses.
  static func inUse(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: another program uses \(node); close it and retry")
  }

  /// The failure for a device without the interface that a link needs.
  static func noInterface(_ what: String) -> Failure {
    Failure(.protocolViolation, "opening the meter: the device has no \(what); is it in the right mode?")
  }
}

/// The kernel's information about a device, in files that every user may read.
struct SystemDevice {
  private let device: PluggedDevice

  init(_ device: PluggedDevice) { self.device = device }

  /// The device with all information that the kernel has about it.
  var pluggedDevice: PluggedDevice {
    var described = device
    described.manufacturer = SystemFiles.line(folder + "/manufacturer")
    described.product = SystemFiles.line(folder + "/product")
    described.serial = SystemFiles.line(folder + "/serial")
    let drivers = interfaceFolders.compactMap { SystemFiles.linkName($0 + "/driver") }
    described.kernelDrivers = Array(Set(drivers)).sorted()
    described.terminal = terminalName.map { "/dev/" + $0 }
    described.mayOpenNode = SystemFiles.mayReadAndWrite(device.node)
    described.mayOpenTerminal = described.terminal.map(SystemFiles.mayReadAndWrite) ?? false
    return described
  }

  /// Refuses a device with a mounted disk. Detaching the kernel's driver would damage files that are open on
  /// the disk.
  func refuseMounted() throws(Failure) {
    let mounts = SystemFiles.text("/proc/self/mounts").split(separator: "\n").map { $0.split(separator: " ") }
    for disk in disks {
      let used = mounts.first { $0.count > 1 && $0[0].hasPrefix("/dev/" + disk) }
      guard let used else { continue }
      throw Failure(
        .unavailable,
        "opening the meter: its disk /dev/\(disk) is mounted at \(used[1]); run: umount \(used[1])")
    }
  }

  private var folder: String { "/sys/bus/usb/devices/" + device.port }

  private var interfaceFolders: [String] {
    SystemFiles.names(folder).filter { $0.hasPrefix(device.port + ":") }.sorted().map { folder + "/" + $0 }
  }

  /// The name of the device's serial terminal. For a chip with its own kernel driver, the terminal's folder
  /// is in the folder of the interface. For the communications class, it is in the folder `tty`.
  private var terminalName: String? {
    for interface in interfaceFolders {
      let names = SystemFiles.names(interface).sorted()
      if let name = names.first(where: { $0.hasPrefix("ttyUSB") }) { return name }
      if names.contains("tty"), let name = SystemFiles.names(interface + "/tty").min() { return name }
    }
    return nil
  }

  /// The names of the device's disks. The kernel has them below
  /// `interface/host0/target0:0:0/0:0:0:0/block/sda`.
  private var disks: [String] {
    var folders = interfaceFolders
    for prefix in ["host", "target", "", "block"] {
      folders = folders.flatMap { folder in
        SystemFiles.names(folder).filter { prefix.isEmpty ? $0.contains(":") : $0.hasPrefix(prefix) }
          .map { folder + "/" + $0 }
      }
    }
    return folders.flatMap(SystemFiles.names)
  }
}

/// The small files in which the kernel describes devices. A missing file counts as empty, since a device may
/// lack a name, for example.
private enum SystemFiles {
  private static let maxBytes = 65536

  static func text(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while text.count < maxBytes {
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
      guard count > 0 else { break }
      text += piece[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The first line of a file, without the line break; empty if the file cannot be read.
  static func line(_ path: String) -> String {
    String(text(path).prefix { !$0.isNewline })
  }

  static func names(_ folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// The last component of a link's target; nil if there is no link.
  static func linkName(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: 1024)
    let count = target.withUnsafeMutableBytes { bytes -> Int in
      guard let start = bytes.baseAddress else { return -1 }
      return readlink(path, start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard count > 0 else { return nil }
    return String(decoding: target[..<count], as: UTF8.self).split(separator: "/").last.map(String.init)
  }

  /// Whether this process may open the file for reading and writing.
  static func mayReadAndWrite(_ path: String) -> Bool { access(path, R_OK | W_OK) == 0 }
}
