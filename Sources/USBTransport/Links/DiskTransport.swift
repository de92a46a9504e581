// SPDX-License-Identifier: Apache-2.0

import Logbook

/// SCSI commands to a USB disk, bulk-only (mass storage class, bulk-only transport 1.0). The disk is never
/// mounted.
final class DiskTransport: OpenTransport {
  private static let resetMilliseconds = 2000
  private static let senseLength = 18

  private let port: any USBPort
  private let interface: UInt8
  private let input: USBEndpoint
  private let output: USBEndpoint
  private var tag: UInt32 = 0

  /// Claims the disk, and detaches the kernel's driver.
  init(_ port: any USBPort) throws {
    (input, output) = try port.claimBulk(8, "disk")
    let own = output
    interface = port.interfaces.first { $0.endpoints.contains(own) }?.number ?? 0
    self.port = port
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .command(let command, let count):
      return try retryingAttention(within: milliseconds) { () throws(TransportError) in
        try run(command, .reads(count), within: milliseconds)
      }
    case .commandWriting(let command, let data):
      return try retryingAttention(within: milliseconds) { () throws(TransportError) in
        try run(command, .writes(data), within: milliseconds)
      }
    default: return try port.performRequest(exchange, within: milliseconds)
    }
  }

  func close() throws { try port.close() }
}

extension DiskTransport {
  private enum Data {
    case reads(Int)
    case writes([UInt8])

    var count: Int {
      switch self {
      case .reads(let count): count
      case .writes(let bytes): bytes.count
      }
    }
  }

  /// Runs a command. If the device refuses it, requests the reason, since the device otherwise accepts no
  /// other command. If the reason is only a change of the device (unit attention), repeats the command.
  private func retryingAttention(
    within milliseconds: Int, _ command: () throws(TransportError) -> [UInt8]
  ) throws(TransportError) -> [UInt8] {
    do { return try command() } catch { guard error == .stalled else { throw error } }
    guard try senseKey(within: milliseconds) == 6 else { throw .stalled }
    do { return try command() } catch {
      if error == .stalled { _ = try senseKey(within: milliseconds) }
      throw error
    }
  }

  /// The sense key, which states why the last command was refused. It is the low half of byte 2 in the answer
  /// to REQUEST SENSE; 0 if the answer is too short.
  private func senseKey(within milliseconds: Int) throws(TransportError) -> UInt8 {
    let length = UInt8(Self.senseLength)
    let sense = try run([0x03, 0, 0, 0, length, 0], .reads(Self.senseLength), within: milliseconds)
    return sense.count > 2 ? sense[2] & 0x0F : 0
  }

  /// Runs one command: sends its wrapper, transfers its data, and receives its status. After any error the
  /// device is reset, so that the next command starts cleanly.
  private func run(_ command: [UInt8], _ data: Data, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  {
    guard (1...16).contains(command.count) else { throw .unsupported }
    tag &+= 1
    let status: Status
    let bytes: [UInt8]
    do {
      try port.write(wrapper(command, data), to: output, within: milliseconds)
      bytes = try transfer(data, within: milliseconds)
      status = try readStatus(within: milliseconds)
      try throwIfFailed(status, data.count)
    } catch {
      if error != .unplugged { recover() }
      // A stall here violates the protocol, since a disk reports a refused command by its status.
      throw error == .stalled ? .failed("the disk violated the bulk-only protocol") : error
    }
    guard status.code == 0 else { throw .stalled }
    return try delivered(bytes, data, residue: Int(status.residue))
  }

  /// The 31 bytes that are sent before each command: signature, tag, length, direction, unit, and the command
  /// padded to 16 bytes.
  private func wrapper(_ command: [UInt8], _ data: Data) -> [UInt8] {
    let isRead = if case .reads = data { true } else { false }
    let head = [0x55, 0x53, 0x42, 0x43] + bytes(tag) + bytes(UInt32(clamping: data.count))
    return head + [isRead ? 0x80 : 0, 0, UInt8(command.count)] + command
      + [UInt8](repeating: 0, count: 16 - command.count)
  }

  /// Transfers the data. If the device has less data, it stalls its endpoint, and its status states how many
  /// bytes are missing.
  private func transfer(_ data: Data, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    do {
      switch data {
      case .reads(0): return []
      case .reads(let count): return try port.read(count, from: input, within: milliseconds)
      case .writes(let bytes):
        if !bytes.isEmpty { try port.write(bytes, to: output, within: milliseconds) }
        return []
      }
    } catch {
      guard error == .stalled else { throw error }
      if case .reads = data { try port.clearHalt(input) } else { try port.clearHalt(output) }
      return []
    }
  }

  private struct Status {
    let residue: UInt32
    let code: UInt8
  }

  /// Reads the 13 bytes of the status after a command. If the endpoint stalls, its halt is cleared, and the
  /// status is read once more.
  private func readStatus(within milliseconds: Int) throws(TransportError) -> Status {
    let bytes: [UInt8]
    do { bytes = try port.read(13, from: input, within: milliseconds) } catch {
      guard error == .stalled else { throw error }
      try port.clearHalt(input)
      bytes = try port.read(13, from: input, within: milliseconds)
    }
    guard bytes.count == 13, bytes[..<4].elementsEqual([0x55, 0x53, 0x42, 0x53]), number(bytes[4..<8]) == tag
    else {
      throw .failed("the disk sent a damaged command status")
    }
    return Status(residue: number(bytes[8..<12]), code: bytes[12])
  }

  private func throwIfFailed(_ status: Status, _ count: Int) throws(TransportError) {
    guard status.code < 2, status.residue <= count else {
      throw .failed("the disk answered another command")
    }
  }

  private func delivered(_ bytes: [UInt8], _ data: Data, residue: Int) throws(TransportError) -> [UInt8] {
    switch data {
    case .reads(let count):
      guard bytes.count >= count - residue else { throw .failed("the disk sent less than it announced") }
      return Array(bytes.prefix(count - residue))
    case .writes(let bytes):
      guard residue == 0 else {
        throw .failed("the disk accepted \(bytes.count - residue) of \(bytes.count) bytes")
      }
      return []
    }
  }

  /// Resets the bulk-only interface, and clears the halts of both endpoints. Errors are ignored, since the
  /// next command will show them.
  private func recover() {
    let reset = ControlRequest(type: 0x21, request: 0xFF, value: 0, index: UInt16(interface))
    let steps: [() throws -> Void] = [
      { try self.port.controlOut(reset, [], within: Self.resetMilliseconds) },
      { try self.port.clearHalt(self.input) },
      { try self.port.clearHalt(self.output) },
    ]
    for step in steps {
      if case .failure = Result(catching: step) { return }
    }
  }

  private func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
