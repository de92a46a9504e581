// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Logbook
import SimulatedMeters

/// A pseudo-terminal with a simulated meter.
///
/// Unchecked: only one thread uses the line, and the descriptors never change.
package final class SimulatedTerminal: @unchecked Sendable {
  /// The path that the program opens.
  package let path: String

  private let line: any SimulatedLine
  private let meterEnd: Int32
  /// The program's end of the terminal. It is kept open here, so that the terminal remains when the program
  /// closes it.
  private let programEnd: Int32
  private let stopping: (reader: Int32, writer: Int32)
  private let socket: SocketServer

  /// - Parameter path: the socket to which umockdev's library sends the calls of the terminal's device file.
  ///   All calls are passed to the kernel.
  init(_ line: any SimulatedLine, socket path: String) throws {
    self.line = line
    meterEnd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var lock: Int32 = 0
    var number: Int32 = 0
    var pipes: [Int32] = [0, 0]
    // TIOCSPTLCK and TIOCGPTN, which have no names in Swift.
    guard meterEnd >= 0, ioctl(meterEnd, 0x4004_5431, &lock) == 0, ioctl(meterEnd, 0x8004_5430, &number) == 0,
      pipe(&pipes) == 0
    else { throw POSIXError(.EIO) }
    socket = try SocketServer(at: path) { connection in
      let memory = ProgramMemory(connection)
      while memory.nextCall() != nil { memory.passOn() }
    }
    self.path = "/dev/pts/\(number)"
    programEnd = open(self.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    stopping = (pipes[0], pipes[1])
    Thread.detachNewThread { self.run() }
  }

  /// The current settings of the line. `isCooked` is true while a terminal has its initial settings.
  package var settings: LineSettings { Self.settings(attributes) }
  package var isCooked: Bool { attributes.c_lflag & tcflag_t(ICANON) != 0 }

  package func stop() {
    close(stopping.writer)
    socket.stop()
  }

  private var attributes: termios {
    var attributes = termios()
    tcgetattr(programEnd, &attributes)
    return attributes
  }

  private func run() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    var ends = [
      pollfd(fd: meterEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stopping.reader, events: 0, revents: 0),
    ]
    while poll(&ends, 2, -1) >= 0, ends[1].revents == 0 {
      let count = read(meterEnd, &bytes, bytes.count)
      guard count > 0 else { break }
      let answer = line.accept(Array(bytes[..<count]), line: settings)
      if !answer.isEmpty { write(meterEnd, answer, answer.count) }
    }
    for descriptor in [meterEnd, programEnd, stopping.reader] { close(descriptor) }
  }

  private static func settings(_ attributes: termios) -> LineSettings {
    let speeds: [UInt32: Int32] = [
      1200: B1200, 2400: B2400, 4800: B4800, 9600: B9600, 19200: B19200, 38400: B38400, 57600: B57600,
      115_200: B115200,
    ]
    func has(_ flag: some BinaryInteger) -> Bool { attributes.c_cflag & tcflag_t(flag) == tcflag_t(flag) }
    // A pseudo-terminal drops PARENB and keeps PARODD, so PARODD without PARENB also means odd parity.
    let speed = speeds.first { speed_t($0.value) == attributes.c_ospeed }
    return LineSettings(
      baud: speed?.key ?? 0, parity: has(PARODD) ? .odd : has(PARENB) ? .even : .none,
      dataBits: has(CS8) ? 8 : 7, stopBits: has(CSTOPB) ? 2 : 1, hasHardwareFlowControl: has(CRTSCTS))
  }
}
