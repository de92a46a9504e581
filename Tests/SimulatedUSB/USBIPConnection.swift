// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook

/// A simulated device on a connection to the kernel's `vhci_hcd`. The connection uses USB/IP after its
/// handshake. There, every message begins with 48 bytes in network order
/// (`Documentation/usb/usbip_protocol.rst`).
///
/// Only one thread uses a connection. If the device has no data for a transfer, the transfer stays pending.
/// The device can only have more data after it received something, so pending transfers are tried again
/// after each message.
package final class USBIPConnection {
  private struct Message {
    let command: UInt32
    let number: UInt32
    let isIn: Bool
    let endpoint: UInt8
    /// The size of a transfer's buffer; in an unlinking, the number of the transfer.
    let length: UInt32
    let unlinked: UInt32
    let setup: [UInt8]
  }

  private enum Command {
    static let submit: UInt32 = 1
    static let unlink: UInt32 = 2
    static let submitted: UInt32 = 3
    static let unlinked: UInt32 = 4
  }

  /// The maximum size of a transfer in bytes, far more than any tested program uses.
  private static let maxBytes: UInt32 = 1 << 20

  private let device: SimulatedDevice
  private let connection: Int32
  private var pending: [Message] = []

  package init(_ device: SimulatedDevice, over connection: Int32) {
    self.device = device
    self.connection = connection
  }

  /// The number of ended transfers, including those of the kernel's own drivers.
  package private(set) var transfers = 0

  /// Answers until the other end closes the connection or sends an invalid message, or the device is
  /// unplugged.
  package func serve() {
    while !device.isGone, let message = nextMessage() {
      switch message.command {
      case Command.submit:
        guard submit(message) else { return }
      case Command.unlink: unlink(message)
      default: return
      }
      progress()
    }
  }
}

extension USBIPConnection {
  private func nextMessage() -> Message? {
    guard let head = receive(48) else { return nil }
    let words = stride(from: 0, to: 40, by: 4).map { start in
      head[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    guard words[6] <= Self.maxBytes || words[0] == Command.unlink else { return nil }
    return Message(
      command: words[0], number: words[1], isIn: words[3] == 1, endpoint: UInt8(words[4] & 0x0F),
      length: words[6], unlinked: words[5], setup: Array(head[40...]))
  }

  /// Starts a transfer; false if its data do not arrive.
  private func submit(_ message: Message) -> Bool {
    let data = message.isIn ? [] : receive(Int(message.length))
    guard let data else { return false }
    if message.endpoint == 0 {
      answer(message, control(message, data), written: data.count)
    } else if message.isIn {
      pending.append(message)
    } else {
      answer(message, device.accept(data, endpoint: message.endpoint), written: data.count)
    }
    return true
  }

  private func control(_ message: Message, _ data: [UInt8]) -> WireAnswer {
    let setup = message.setup
    func word(_ index: Int) -> UInt16 { UInt16(setup[index]) | UInt16(setup[index + 1]) << 8 }
    let request = ControlRequest(type: setup[0], request: setup[1], value: word(2), index: word(4))
    return device.control(request, maxBytes: Int(word(6)), data: data)
  }

  /// Lets the device answer pending transfers, in their order at each endpoint.
  private func progress() {
    let waiting = pending
    pending = []
    var dry: Set<UInt8> = []
    for message in waiting {
      let answer =
        dry.contains(message.endpoint)
        ? .nothing : device.nextPacket(endpoint: message.endpoint | 0x80, maxBytes: Int(message.length))
      if answer == .nothing || answer == .stall { dry.insert(message.endpoint) }
      self.answer(message, answer, written: 0)
    }
  }

  private func unlink(_ message: Message) {
    let index = pending.firstIndex { $0.number == message.unlinked }
    if let index { pending.remove(at: index) }
    send([Command.unlinked, message.number, 0, 0, 0, index == nil ? 0 : status(ECONNRESET)])
  }

  private func answer(_ message: Message, _ answer: WireAnswer, written: Int) {
    var (data, actual, error): ([UInt8], Int, Int32) = ([], 0, 0)
    switch answer {
    case .data(let bytes):
      data = Array(bytes.prefix(Int(message.length)))
      actual = data.count
      if data.count < bytes.count { error = EOVERFLOW }
    case .accepted: actual = written
    case .stall: error = EPIPE
    case .gone: error = ESHUTDOWN
    case .nothing:
      pending.append(message)
      return
    }
    transfers += 1
    send([Command.submitted, message.number, 0, 0, 0, status(error), UInt32(actual)], data)
  }

  /// The kernel expects errors as negative numbers.
  private func status(_ error: Int32) -> UInt32 { UInt32(bitPattern: -error) }

  private func receive(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      let part = bytes.withUnsafeMutableBytes { buffer in
        recv(connection, buffer.baseAddress?.advanced(by: got), count - got, 0)
      }
      if part < 0, errno == EINTR { continue }
      guard part > 0 else { return nil }
      got += part
    }
    return bytes
  }

  /// Sends a message: a head with these words, padded to 48 bytes, and the data. If the connection is closed,
  /// the next read notices it.
  private func send(_ words: [UInt32], _ data: [UInt8] = []) {
    let head = words.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    var rest = (head + [UInt8](repeating: 0, count: 48 - head.count) + data)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
