// SPDX-License-Identifier: Apache-2.0

import CLibUSB
import Glibc
import Logbook

/// A session of libusb. It knows only devices that were plugged in before the session began. So each listing,
/// and each session with a meter, needs a separate session of libusb.
///
/// Pointers to memory of libusb are used only in this file.
final class LibUSB {
  fileprivate let context: OpaquePointer

  /// - Throws: `Failure` if USB is unavailable on this system.
  init() throws(Failure) {
    var context: OpaquePointer?
    let code = libusb_init(&context)
    guard code == 0, let context else {
      throw Failure(.unavailable, "listing the USB bus: \(LibUSB.words(code))")
    }
    self.context = context
  }

  deinit { libusb_exit(context) }

  static var version: String {
    guard let version = libusb_get_version()?.pointee else { return "" }
    return "\(version.major).\(version.minor).\(version.micro)"
  }

  /// Every device on the bus, with the content of its descriptor.
  func devices() throws(Failure) -> [PluggedDevice] {
    var devices: [PluggedDevice] = []
    try forEachDevice { _, described in
      devices.append(described)
      return true
    }
    return devices
  }

  /// Opens a device from a listing.
  ///
  /// - Parameter isShared: whether other products share the ids of the device, as with a chip. If permission
  ///   is missing, the advice in the failure then includes the rules for shared ids.
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

  /// The message of libusb for an error code.
  fileprivate static func words(_ code: Int32) -> String { String(cString: libusb_strerror(code)) }

  private func forEachDevice(_ look: (OpaquePointer, PluggedDevice) -> Bool) throws(Failure) {
    var list: UnsafeMutablePointer<OpaquePointer?>?
    let count = libusb_get_device_list(context, &list)
    guard count >= 0, let list else {
      throw Failure(.unavailable, "listing the USB bus: \(LibUSB.words(Int32(clamping: count)))")
    }
    defer { libusb_free_device_list(list, 1) }
    for device in UnsafeBufferPointer(start: list, count: count).compactMap({ $0 }) {
      guard look(device, LibUSB.pluggedDevice(device)) else { break }
    }
  }

  private static func pluggedDevice(_ device: OpaquePointer) -> PluggedDevice {
    var descriptor = libusb_device_descriptor()
    // This call never fails, since libusb stored the descriptor when it found the device.
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

  /// The interfaces of a device's active configuration; empty if the system does not report them. Sends
  /// nothing to the device.
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
/// Transfers are asynchronous, and this type waits for their ends. The functions of libusb that wait for a
/// transfer cannot be ended early, so they are not used.
final class LibUSBPort: USBPort {
  private(set) var interfaces: [USBInterface] = []

  /// The number of pending reads at an endpoint of a device that sends without a request. A meter sends fewer
  /// packets than this between two exchanges.
  private static let maxPendingReads = 16
  /// The time limit for a cancelled transfer to return from the kernel. This usually takes microseconds. A
  /// defective host controller may exceed the limit. The transfer's memory is then never freed, since the
  /// kernel may still write to it.
  private static let cancelMilliseconds = 1000

  private let library: LibUSB
  private let handle: OpaquePointer
  private let node: String
  private let watch: Watch
  private var claimed: [UInt8] = []
  private var detached: [UInt8] = []
  private var pendingReads: [UInt8: [Transfer]] = [:]
  private var isOpen = true

  fileprivate init(_ library: LibUSB, _ handle: OpaquePointer, node: String, watch: Watch) {
    self.library = library
    self.handle = handle
    self.node = node
    self.watch = watch
  }

  deinit {
    // This code runs only if the caller did not call `close`. Errors cannot be reported from here.
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
    if let first = pendingReads[endpoint.address]?.first {
      return try readPending(first, endpoint, within: milliseconds)
    }
    // A device may send a whole packet, so the buffer holds whole packets. With a shorter buffer, the host
    // controller would report an overflow.
    let packets = (max(1, maxBytes) + endpoint.packetSize - 1) / endpoint.packetSize
    let room = [UInt8](repeating: 0, count: packets * endpoint.packetSize)
    let bytes = try perform(try Transfer(handle, endpoint, room), within: milliseconds)
    guard bytes.count <= maxBytes else { throw .overflow }
    return bytes
  }

  func startReading(_ endpoint: USBEndpoint) throws(TransportError) {
    for _ in 0..<LibUSBPort.maxPendingReads {
      let room = [UInt8](repeating: 0, count: endpoint.packetSize)
      let transfer = try Transfer(handle, endpoint, room)
      try transfer.submit()
      pendingReads[endpoint.address, default: []].append(transfer)
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
  /// Reads the next packet of an endpoint with pending reads. Transfers of one endpoint end in the order in
  /// which they were submitted.
  private func readPending(
    _ first: Transfer, _ endpoint: USBEndpoint, within milliseconds: Int
  ) throws(TransportError) -> [UInt8] {
    let deadline = try watch.deadline(milliseconds)
    try wait(for: first, until: deadline)
    do {
      let bytes = try first.result()
      try first.submit()
      pendingReads[endpoint.address]?.removeFirst()
      pendingReads[endpoint.address]?.append(first)
      return bytes
    } catch TransportError.stalled {
      cancel(pendingReads.removeValue(forKey: endpoint.address) ?? [])
      try clearHalt(endpoint)
      try startReading(endpoint)
      throw .stalled
    }
  }

  /// Submits a transfer and waits for its end, or cancels it at the deadline.
  private func perform(_ transfer: Transfer, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    let deadline = try watch.deadline(milliseconds)
    try transfer.submit()
    do {
      try wait(for: transfer, until: deadline)
    } catch {
      cancel([transfer])
      // The transfer may have ended before it was cancelled. If a message consists of whole packets, no short
      // packet ends the transfer. So the bytes that were received before the deadline are returned.
      guard error == .timedOut, transfer.hasCompleted else { throw error }
      return transfer.bytes
    }
    return try transfer.result()
  }

  private func wait(for transfer: Transfer, until deadline: Watch.Deadline) throws(TransportError) {
    guard !transfer.isDone else { return }
    // Events that have already arrived are handled without waiting, even after the deadline.
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
      // If libusb cannot handle events, waiting would not end the transfers. Callers report an earlier error.
      do { try handleEvents(10) } catch { return }
    }
  }

  /// Sets the first configuration if the device has none. Setting a configuration again would reset some
  /// meters, and their pending data would be lost.
  fileprivate func configure() throws(Failure) {
    var configuration: Int32 = 0
    var code = libusb_get_configuration(handle, &configuration)
    if code == 0, configuration == 0 { code = libusb_set_configuration(handle, 1) }
    guard code == 0 else { throw failure(code) }
    interfaces = LibUSB.interfaces(of: libusb_get_device(handle))
  }

  /// Releases the interfaces, returns them to the kernel's drivers, and closes the device.
  ///
  /// - Returns: the messages of the steps that failed; empty if none did.
  private func release() -> String {
    guard isOpen else { return "" }
    isOpen = false
    cancel(pendingReads.values.flatMap { $0 })
    pendingReads = [:]
    var failed: [String] = []
    for interface in claimed.reversed() {
      collectError(libusb_release_interface(handle, Int32(interface)), in: &failed)
    }
    for interface in detached.reversed() {
      collectError(libusb_attach_kernel_driver(handle, Int32(interface)), in: &failed)
    }
    libusb_close(handle)
    return failed.joined(separator: ", ")
  }

  /// Collects the error of releasing or reattaching an interface. Errors are ignored if the device has
  /// disappeared, or if a kernel driver already uses the interface.
  private func collectError(_ code: Int32, in failed: inout [String]) {
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

  /// The count for the length field of a control request, which has 16 bits.
  ///
  /// - Throws: `.failed` for a larger count.
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

/// One transfer and its memory. It retains itself while the kernel uses it. So the memory of a transfer that
/// never returns is never freed, since the kernel may still write to it.
private final class Transfer {
  private(set) var isDone = true

  private let transfer: UnsafeMutablePointer<libusb_transfer>
  private let memory: UnsafeMutableBufferPointer<UInt8>
  /// The number of bytes before the data: the setup packet of a control request.
  private let prefix: Int

  convenience init(_ handle: OpaquePointer, _ endpoint: USBEndpoint, _ bytes: [UInt8]) throws(TransportError)
  {
    try self.init(handle, bytes, prefix: 0)
    transfer.pointee.endpoint = endpoint.address
    let kind = endpoint.kind == .interrupt ? LIBUSB_TRANSFER_TYPE_INTERRUPT : LIBUSB_TRANSFER_TYPE_BULK
    transfer.pointee.type = UInt8(kind.rawValue)
  }

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

  /// The bytes that were received or sent.
  var bytes: [UInt8] {
    let count = min(max(0, Int(transfer.pointee.actual_length)), memory.count - prefix)
    return Array(memory[prefix..<(prefix + count)])
  }

  /// Whether an ended transfer was completed, or received bytes from the device before it was cancelled.
  var hasCompleted: Bool {
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
    // The call fails if the transfer has already ended. This is not an error.
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
