// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A serial line that the kernel's driver provides as a terminal. It is opened exclusively, and its settings
/// are restored.
final class TerminalTransport: OpenTransport {
  private static let speeds: [UInt32: Int32] = [
    1200: B1200, 2400: B2400, 4800: B4800, 9600: B9600, 19200: B19200, 38400: B38400, 57600: B57600,
    115_200: B115200,
  ]

  private let descriptor: Int32
  private let found: termios
  private let watch: Watch
  private var isOpen = true

  /// Opens and configures the terminal of a device.
  init(_ device: PluggedDevice, _ settings: LineSettings, watch: Watch) throws {
    guard let path = device.terminal else {
      throw Failure(
        .unavailable,
        "opening the meter: the kernel created no serial device for it; plug it in again, and check 'dmesg' for its driver"
      )
    }
    self.watch = watch
    // With O_NONBLOCK, opening does not wait for the signal of a carrier, which no meter sends.
    descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw TerminalTransport.failure(errno, path) }
    var found = termios()
    guard tcgetattr(descriptor, &found) == 0, ioctl(descriptor, UInt(TIOCEXCL)) == 0 else {
      let error = TerminalTransport.failure(errno, path)
      Glibc.close(descriptor)
      throw error
    }
    self.found = found
    do {
      try set(settings)
    } catch {
      try close()
      throw Failure(error, doing: "setting the line of \(path)")
    }
  }

  deinit {
    // This code runs only if the caller did not call `close`. Errors cannot be reported from here.
    _ = release()
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .send(let bytes): try send(bytes, until: watch.deadline(milliseconds))
    case .receive(let maxBytes): return try receive(maxBytes, until: watch.deadline(milliseconds))
    case .setLine(let settings): try set(settings)
    case .discard: try throwIfFailed(tcflush(descriptor, TCIFLUSH))
    default: throw .unsupported
    }
    return []
  }

  func close() throws {
    guard isOpen, release() != 0, errno != EIO, errno != ENODEV else { return }
    throw Failure(.inputOutput, "closing the meter's line: \(TerminalTransport.words(errno))")
  }
}

extension TerminalTransport {
  private func send(_ bytes: [UInt8], until deadline: Watch.Deadline) throws(TransportError) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 { try waitAfterError(for: POLLOUT, until: deadline) } else { sent += count }
    }
  }

  private func receive(_ maxBytes: Int, until deadline: Watch.Deadline) throws(TransportError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(1, maxBytes))
    while true {
      let count = read(descriptor, &bytes, bytes.count)
      if count > 0 { return Array(bytes[..<count]) }
      // End of file on a terminal means that the line hung up.
      if count == 0 { throw .unplugged }
      try waitAfterError(for: POLLIN, until: deadline)
    }
  }

  /// If the failed call can succeed when it is repeated, waits until the line is ready. Throws for any other
  /// error.
  private func waitAfterError(for event: Int32, until deadline: Watch.Deadline) throws(TransportError) {
    guard errno == EAGAIN || errno == EINTR else { throw TerminalTransport.error(errno) }
    var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while entry.revents == 0 {
      let milliseconds = try watch.wait(until: deadline)
      if poll(&entry, 1, Int32(milliseconds)) < 0, errno != EINTR { throw TerminalTransport.error(errno) }
    }
  }

  private func set(_ settings: LineSettings) throws(TransportError) {
    guard let speed = Self.speeds[settings.baud] else { throw .unsupported }
    let sizes = [7: CS7, 8: CS8]
    guard let size = sizes[Int(settings.dataBits)] else { throw .unsupported }
    var line = found
    cfmakeraw(&line)
    line.c_cflag &= ~tcflag_t(CSIZE | PARENB | PARODD | CSTOPB | HUPCL)
    line.c_cflag &= ~tcflag_t(CRTSCTS)
    line.c_cflag |= tcflag_t(size | CREAD | CLOCAL)
    if settings.parity != .none { line.c_cflag |= tcflag_t(PARENB) }
    if settings.parity == .odd { line.c_cflag |= tcflag_t(PARODD) }
    if settings.stopBits == 2 { line.c_cflag |= tcflag_t(CSTOPB) }
    if settings.hasHardwareFlowControl { line.c_cflag |= tcflag_t(CRTSCTS) }
    cfsetspeed(&line, speed_t(speed))
    try throwIfFailed(tcsetattr(descriptor, TCSANOW, &line))
  }

  /// Restores the line's settings; returns 0, or `errno`.
  private func release() -> Int32 {
    guard isOpen else { return 0 }
    isOpen = false
    var settings = found
    tcflush(descriptor, TCIOFLUSH)
    let result = tcsetattr(descriptor, TCSANOW, &settings)
    let reason = errno
    _ = ioctl(descriptor, UInt(TIOCNXCL))
    Glibc.close(descriptor)
    errno = reason
    return result
  }

  private func throwIfFailed(_ result: Int32) throws(TransportError) {
    if result != 0 { throw TerminalTransport.error(errno) }
  }

  private static func error(_ code: Int32) -> TransportError {
    switch code {
    // A terminal whose device has disappeared returns EIO until it is closed.
    case EIO, ENODEV, ENXIO: .unplugged
    default: .failed(words(code))
    }
  }

  private static func failure(_ code: Int32, _ path: String) -> Failure {
    switch code {
    case EACCES, EPERM: .noPermission(path, isShared: true)
    case ENOENT, ENODEV, ENXIO, EIO: .gone(path)
    case EBUSY: .inUse(path)
    default: Failure(.inputOutput, "opening \(path): \(words(code))")
    }
  }

  private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
