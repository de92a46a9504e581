// SPDX-License-Identifier: Apache-2.0

import CLibUSB
import Glibc
import Logbook

/// A session of libusb. It sees what is plugged in at its beginning, so there is one for each listing and each
/// session.
///
/// This file holds all pointers to what libusb owns.
final class LibUSB {
  fileprivate let context: OpaquePointer

  /// - Throws: `Failure` when the system has no USB that can be used.
  init() throws(Failure) {
    var context: OpaquePointer?
    let code = libusb_init(&context)
    guard code == 0, let context else {
      throw Failure(.unavailable, "listing the USB bus: \(LibUSB.words(code))")
    }
    self.context = context
  }

  deinit { libusb_exit(context) }

  /// The version of the library.
  static var version: String {
    guard let version = libusb_get_version()?.pointee else { return "" }
    return "\(version.major).\(version.minor).\(version.micro)"
  }

  /// Every device at the bus, with what its descriptor reports.
  func devices() throws(Failure) -> [PluggedDevice] {
    var devices: [PluggedDevice] = []
    try forEachDevice { _, described in
      devices.append(described)
      return true
    }
    return devices
  }

  /// Opens a device that a listing gave.
  ///
  /// - Parameter isShared: whether its ids are a chip's, which needs separate rules where permission is missing.
  func open(_ device: PluggedDevice, isShared: Bool, watch: Watch) throws(Failure) -> LibUSBPort {
    var handle: OpaquePointer?
    var code = LIBUSB_ERROR_NO_DEVICE.rawValue
    try forEachDevice { pointer, described in
      guard described.isSame(as: device) else { return true }
      code = libusb_open(pointer, &handle)
      return false
    }
    guard code == 0, let handle else {
      switch libusb_error(rawValue: code) {
      case LIBUSB_ERROR_ACCESS: throw .noPermission(device.node, isShared: isShared)
      case LIBUSB_ERROR_NO_DEVICE, LIBUSB_ERROR_NOT_FOUND: throw .gone(device.node)
      case LIBUSB_ERROR_BUSY: throw .inUse(device.node)
      default: throw Failure(.inputOutput, "opening the meter: \(LibUSB.words(code))")
      }
    }
    let port = LibUSBPort(self, handle, node: device.node, watch: watch)
    try port.configure()
    return port
  }

  /// What libusb says of an error.
  fileprivate static func words(_ code: Int32) -> String { String(cString: libusb_strerror(code)) }

  private func forEachDevice(_ look: (OpaquePointer, PluggedDevice) -> Bool) throws(Failure) {
    var list: UnsafeMutablePointer<OpaquePointer?>?
    let count = libusb_get_device_list(context, &list)
    guard count >= 0, let list else {
      throw Failure(.unavailable, "listing the USB bus: \(LibUSB.words(Int32(clamping: count)))")
    }
    defer { libusb_free_device_list(list, 1) }
    for device in UnsafeBufferPointer(start: list, count: count).compactMap({ $0 }) {
      guard look(device, LibUSB.described(device)) else { break }
    }
  }

  private static func described(_ device: OpaquePointer) -> PluggedDevice {
    var descriptor = libusb_device_descriptor()
    // Never fails: libusb keeps the descriptor since it found the device.
    libusb_get_device_descriptor(device, &descriptor)
    let bus = libusb_get_bus_number(device)
    let address = libusb_get_device_address(device)
    var ports = [UInt8](repeating: 0, count: 7)
    let depth = Int(libusb_get_port_numbers(device, &ports, Int32(ports.count)))
    let path = ports.prefix(max(0, depth)).map { String($0) }.joined(separator: ".")
    func padded(_ number: UInt8) -> String {
      let digits = String(number)
      return String(repeating: "0", count: 3 - digits.count) + digits
    }
    var described = PluggedDevice(
      bus: bus, address: address, port: depth > 0 ? "\(bus)-\(path)" : "usb\(bus)",
      vendorID: descriptor.idVendor, productID: descriptor.idProduct,
      node: "/dev/bus/usb/\(padded(bus))/\(padded(address))")
    described.interfaceClasses = Set(interfaces(of: device).map(\.interfaceClass))
    return described
  }

  /// The interfaces of a device's active configuration; none where the system does not say. Nothing is sent to it.
  fileprivate static func interfaces(of device: OpaquePointer) -> [USBInterface] {
    var descriptor: UnsafeMutablePointer<libusb_config_descriptor>?
    guard libusb_get_active_config_descriptor(device, &descriptor) == 0, let descriptor else {
      return []
    }
    defer { libusb_free_config_descriptor(descriptor) }
    let list = UnsafeBufferPointer(
      start: descriptor.pointee.interface, count: Int(descriptor.pointee.bNumInterfaces))
    return list.compactMap { interface in
      guard interface.num_altsetting > 0, let setting = interface.altsetting?.pointee else { return nil }
      let endpoints = UnsafeBufferPointer(start: setting.endpoint, count: Int(setting.bNumEndpoints))
      return USBInterface(
        number: setting.bInterfaceNumber, interfaceClass: setting.bInterfaceClass,
        endpoints: endpoints.map {
          USBEndpoint(
            address: $0.bEndpointAddress, attributes: $0.bmAttributes, maxPacketSize: $0.wMaxPacketSize)
        })
    }
  }
}

/// An open device.
///
/// All transfers are asynchronous ones that are waited for here, because libusb's own waits cannot be ended early.
final class LibUSBPort: USBPort {
  private(set) var interfaces: [USBInterface] = []

  /// Reads that wait at an endpoint of a device that sends unasked; a meter's longest burst between two exchanges is
  /// shorter.
  private static let keptReads = 16
  /// How long the kernel may take to give a cancelled transfer back. It takes microseconds unless the host controller
  /// is broken; then the memory is left to it.
  private static let cancelMilliseconds = 1000

  private let library: LibUSB
  private let handle: OpaquePointer
  private let node: String
  private let watch: Watch
  private var claimed: [UInt8] = []
  private var detached: [UInt8] = []
  private var kept: [UInt8: [Transfer]] = [:]
  private var isOpen = true

  fileprivate init(_ library: LibUSB, _ handle: OpaquePointer, node: String, watch: Watch) {
    self.library = library
    self.handle = handle
    self.node = node
    self.watch = watch
  }

  deinit {
    // Reached only where nobody closed it; nobody can be informed.
    _ = release()
  }

  func claim(_ interface: UInt8) throws(Failure) {
    guard !claimed.contains(interface) else { return }
    let number = Int32(interface)
    if libusb_kernel_driver_active(handle, number) == 1 {
      let code = libusb_detach_kernel_driver(handle, number)
      guard code == 0 || code == LIBUSB_ERROR_NOT_FOUND.rawValue else { throw failure(code) }
      if code == 0 { detached.append(interface) }
    }
    let code = libusb_claim_interface(handle, number)
    guard code == 0 else { throw failure(code) }
    claimed.append(interface)
  }

  func controlIn(_ request: ControlRequest, maxBytes: Int, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  {
    let transfer = try Transfer(handle, request, LibUSBPort.checkedLength(maxBytes))
    return try perform(transfer, within: milliseconds)
  }

  func controlOut(_ request: ControlRequest, _ data: [UInt8], within milliseconds: Int) throws(TransportError)
  {
    let transfer = try Transfer(handle, request, LibUSBPort.checkedLength(data.count), data)
    let sent = try perform(transfer, within: milliseconds)
    guard sent.count == data.count else {
      throw .failed("the meter accepted \(sent.count) of \(data.count) bytes")
    }
  }

  func write(_ bytes: [UInt8], to endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError) {
    let sent = try perform(try Transfer(handle, endpoint, bytes), within: milliseconds)
    guard sent.count == bytes.count else {
      throw .failed("the meter accepted \(sent.count) of \(bytes.count) bytes")
    }
  }

  func read(_ maxBytes: Int, from endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  {
    if let first = kept[endpoint.address]?.first {
      return try readKept(first, endpoint, within: milliseconds)
    }
    // A device may send a whole packet; a shorter buffer would make the host controller call it babble.
    let packets = (max(1, maxBytes) + endpoint.packetSize - 1) / endpoint.packetSize
    let room = [UInt8](repeating: 0, count: packets * endpoint.packetSize)
    let bytes = try perform(try Transfer(handle, endpoint, room), within: milliseconds)
    guard bytes.count <= maxBytes else { throw .overflow }
    return bytes
  }

  func keepReading(_ endpoint: USBEndpoint) throws(TransportError) {
    for _ in 0..<LibUSBPort.keptReads {
      let room = [UInt8](repeating: 0, count: endpoint.packetSize)
      let transfer = try Transfer(handle, endpoint, room)
      try transfer.submit()
      kept[endpoint.address, default: []].append(transfer)
    }
  }

  func clearHalt(_ endpoint: USBEndpoint) throws(TransportError) {
    let code = libusb_clear_halt(handle, endpoint.address)
    guard code == 0 else { throw LibUSBPort.error(code) }
  }

  func close() throws(Failure) {
    let failed = release()
    guard failed.isEmpty else {
      throw Failure(
        .inputOutput,
        "closing the meter: the kernel's driver could not be restored (\(failed)); unplug the meter and plug it in again"
      )
    }
  }
}

extension LibUSBPort {
  /// Reads the next packet of an endpoint that is kept reading: transfers of one endpoint end in their order.
  private func readKept(
    _ first: Transfer, _ endpoint: USBEndpoint, within milliseconds: Int
  ) throws(TransportError) -> [UInt8] {
    let deadline = try watch.deadline(milliseconds)
    try wait(for: first, until: deadline)
    do {
      let bytes = try first.result()
      try first.submit()
      kept[endpoint.address]?.removeFirst()
      kept[endpoint.address]?.append(first)
      return bytes
    } catch TransportError.stalled {
      cancel(kept.removeValue(forKey: endpoint.address) ?? [])
      try clearHalt(endpoint)
      try keepReading(endpoint)
      throw .stalled
    }
  }

  /// Submits a transfer and waits for its end; when the time is over, it is cancelled.
  private func perform(_ transfer: Transfer, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    let deadline = try watch.deadline(milliseconds)
    try transfer.submit()
    do {
      try wait(for: transfer, until: deadline)
    } catch {
      cancel([transfer])
      // It may have ended meanwhile, and a message of whole packets has no short one behind it: what came is not lost.
      guard error == .timedOut, transfer.hasCome else { throw error }
      return transfer.bytes
    }
    return try transfer.result()
  }

  private func wait(for transfer: Transfer, until deadline: Watch.Deadline) throws(TransportError) {
    guard !transfer.isDone else { return }
    // What has come already is taken up without waiting, also when the time is over.
    try handleEvents(0)
    while !transfer.isDone { try handleEvents(watch.wait(until: deadline)) }
  }

  private func handleEvents(_ milliseconds: Int) throws(TransportError) {
    var time = timeval(tv_sec: 0, tv_usec: milliseconds * 1000)
    let code = libusb_handle_events_timeout_completed(library.context, &time, nil)
    guard code == 0 || code == LIBUSB_ERROR_INTERRUPTED.rawValue else { throw LibUSBPort.error(code) }
  }

  private func cancel(_ transfers: [Transfer]) {
    for transfer in transfers { transfer.cancel() }
    let end = ContinuousClock.now + .milliseconds(LibUSBPort.cancelMilliseconds)
    while transfers.contains(where: { !$0.isDone }), ContinuousClock.now < end {
      do { try handleEvents(10) } catch { return }
    }
  }

  /// A device that is not configured gets its first configuration. One that is stays as it is: setting it again resets
  /// some meters, and what they had said is lost.
  fileprivate func configure() throws(Failure) {
    var configuration: Int32 = 0
    var code = libusb_get_configuration(handle, &configuration)
    if code == 0, configuration == 0 { code = libusb_set_configuration(handle, 1) }
    guard code == 0 else { throw failure(code) }
    interfaces = LibUSB.interfaces(of: libusb_get_device(handle))
  }

  /// Releases everything, and says what could not be.
  private func release() -> String {
    guard isOpen else { return "" }
    isOpen = false
    cancel(kept.values.flatMap { $0 })
    kept = [:]
    var failed: [String] = []
    for interface in claimed.reversed() {
      note(libusb_release_interface(handle, Int32(interface)), in: &failed)
    }
    for interface in detached.reversed() {
      note(libusb_attach_kernel_driver(handle, Int32(interface)), in: &failed)
    }
    libusb_close(handle)
    return failed.joined(separator: ", ")
  }

  /// What is gone needs nothing back, and what another interface's driver took already has it.
  private func note(_ code: Int32, in failed: inout [String]) {
    let fine = [LIBUSB_ERROR_NO_DEVICE, LIBUSB_ERROR_NOT_FOUND, LIBUSB_ERROR_BUSY].map(\.rawValue)
    if code < 0, !fine.contains(code) { failed.append(LibUSB.words(code)) }
  }

  private func failure(_ code: Int32) -> Failure {
    switch libusb_error(rawValue: code) {
    case LIBUSB_ERROR_ACCESS: .noPermission(node, isShared: false)
    case LIBUSB_ERROR_NO_DEVICE: .gone(node)
    case LIBUSB_ERROR_BUSY: .inUse(node)
    default: Failure(.inputOutput, "detaching the meter from its kernel driver: \(LibUSB.words(code))")
    }
  }

  /// The length field of a control request has sixteen bits.
  private static func checkedLength(_ count: Int) throws(TransportError) -> UInt16 {
    guard let length = UInt16(exactly: count) else { throw .failed("a control request of \(count) bytes") }
    return length
  }

  fileprivate static func error(_ code: Int32) -> TransportError {
    switch libusb_error(rawValue: code) {
    case LIBUSB_ERROR_TIMEOUT: .timedOut
    case LIBUSB_ERROR_NO_DEVICE: .unplugged
    case LIBUSB_ERROR_PIPE: .stalled
    case LIBUSB_ERROR_OVERFLOW: .overflow
    case LIBUSB_ERROR_INTERRUPTED: .interrupted
    case LIBUSB_ERROR_NOT_SUPPORTED: .unsupported
    default: .failed(LibUSB.words(code))
    }
  }
}

/// One transfer and its memory. While the kernel has it, it keeps itself alive: a transfer that never comes back costs
/// its memory and nothing else.
private final class Transfer {
  private(set) var isDone = true

  private let transfer: UnsafeMutablePointer<libusb_transfer>
  private let memory: UnsafeMutableBufferPointer<UInt8>
  /// Bytes in front of the data: the setup packet of a control request.
  private let prefix: Int

  /// A transfer over a bulk or interrupt endpoint.
  convenience init(_ handle: OpaquePointer, _ endpoint: USBEndpoint, _ bytes: [UInt8]) throws(TransportError)
  {
    try self.init(handle, bytes, prefix: 0)
    transfer.pointee.endpoint = endpoint.address
    let kind = endpoint.kind == .interrupt ? LIBUSB_TRANSFER_TYPE_INTERRUPT : LIBUSB_TRANSFER_TYPE_BULK
    transfer.pointee.type = UInt8(kind.rawValue)
  }

  /// A control request.
  convenience init(
    _ handle: OpaquePointer, _ request: ControlRequest, _ length: UInt16, _ data: [UInt8]? = nil
  ) throws(TransportError) {
    let numbers = [request.value, request.index, length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let setup = [request.type, request.request] + numbers
    let room = data ?? [UInt8](repeating: 0, count: Int(length))
    try self.init(handle, setup + room, prefix: setup.count)
    transfer.pointee.type = UInt8(LIBUSB_TRANSFER_TYPE_CONTROL.rawValue)
  }

  private init(_ handle: OpaquePointer, _ bytes: [UInt8], prefix: Int) throws(TransportError) {
    guard let transfer = libusb_alloc_transfer(0) else { throw .failed("no memory for a transfer") }
    self.transfer = transfer
    self.prefix = prefix
    memory = .allocate(capacity: max(1, bytes.count))
    _ = memory.initialize(from: bytes)
    transfer.pointee.dev_handle = handle
    transfer.pointee.buffer = memory.baseAddress
    transfer.pointee.length = Int32(bytes.count)
    transfer.pointee.callback = { ended in
      guard let data = ended?.pointee.user_data else { return }
      Unmanaged<Transfer>.fromOpaque(data).takeRetainedValue().isDone = true
    }
  }

  deinit {
    libusb_free_transfer(transfer)
    memory.deallocate()
  }

  /// What came, or went.
  var bytes: [UInt8] {
    let count = min(max(0, Int(transfer.pointee.actual_length)), memory.count - prefix)
    return Array(memory[prefix..<(prefix + count)])
  }

  /// Whether an ended transfer brought something from the device.
  var hasCome: Bool {
    let isRead = transfer.pointee.endpoint & 0x80 != 0 && transfer.pointee.actual_length > 0
    return isDone && (transfer.pointee.status == LIBUSB_TRANSFER_COMPLETED || isRead)
  }

  func submit() throws(TransportError) {
    let own = Unmanaged.passRetained(self)
    transfer.pointee.user_data = own.toOpaque()
    isDone = false
    let code = libusb_submit_transfer(transfer)
    guard code == 0 else {
      isDone = true
      own.release()
      throw LibUSBPort.error(code)
    }
  }

  func cancel() {
    // Fails where the transfer has ended already, which is what is wanted.
    if !isDone { _ = libusb_cancel_transfer(transfer) }
  }

  func result() throws(TransportError) -> [UInt8] {
    switch transfer.pointee.status {
    case LIBUSB_TRANSFER_COMPLETED: return bytes
    case LIBUSB_TRANSFER_TIMED_OUT: throw .timedOut
    case LIBUSB_TRANSFER_STALL: throw .stalled
    case LIBUSB_TRANSFER_NO_DEVICE: throw .unplugged
    case LIBUSB_TRANSFER_OVERFLOW: throw .overflow
    case LIBUSB_TRANSFER_CANCELLED: throw .failed("the system cancelled the transfer")
    default: throw .failed("the transfer failed on the bus")
    }
  }
}
