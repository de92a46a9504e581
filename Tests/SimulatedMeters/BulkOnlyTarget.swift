// SPDX-License-Identifier: Apache-2.0

/// The device's side of USB mass storage in bulk-only transport: command, data, status.
struct BulkOnlyTarget {
  /// The result of a SCSI command.
  struct Outcome {
    /// The data for the host; empty for a command that writes.
    var data: [UInt8] = []
    /// Whether the command succeeded.
    var isGood = true
  }

  private enum Phase {
    case command
    case dataOut(BulkOnlyCommand, [UInt8])
    case dataIn([UInt8], status: [UInt8], isShort: Bool)
    case status([UInt8])
    /// After an invalid command block, the device accepts nothing except a reset.
    case broken
  }

  private var phase = Phase.command

  /// Takes one transfer from the host. Returns false to stall the endpoint.
  mutating func accept(_ packet: [UInt8], run: (BulkOnlyCommand, [UInt8]) -> Outcome) -> Bool {
    switch phase {
    case .dataOut(let command, let data):
      let data = data + packet
      if data.count >= command.length {
        let outcome = run(command, Array(data.prefix(command.length)))
        phase = .status(command.status(residue: 0, outcome.isGood))
      } else {
        phase = .dataOut(command, data)
      }
      return true
    default:
      guard let command = BulkOnlyCommand(packet) else {
        phase = .broken
        return false
      }
      begin(command, run: run)
      return true
    }
  }

  /// The next bytes for the host.
  mutating func nextPacket(maxBytes: Int) -> PacketAnswer {
    switch phase {
    case .command, .dataOut: return .nothing
    case .broken: return .stall
    case .status(let status):
      phase = .command
      return .data(status)
    case .dataIn(let data, let status, let isShort):
      if data.isEmpty {
        phase = .status(status)
        return isShort ? .stall : nextPacket(maxBytes: maxBytes)
      }
      let rest = Array(data.dropFirst(maxBytes))
      phase = rest.isEmpty ? .status(status) : .dataIn(rest, status: status, isShort: isShort)
      return .data(Array(data.prefix(maxBytes)))
    }
  }

  /// Performs the class request that resets the transport.
  mutating func reset() { phase = .command }

  private mutating func begin(_ command: BulkOnlyCommand, run: (BulkOnlyCommand, [UInt8]) -> Outcome) {
    if command.length > 0, !command.reads {
      phase = .dataOut(command, [])
      return
    }
    let outcome = run(command, [])
    let data = Array(outcome.data.prefix(command.length))
    let status = command.status(residue: command.length - data.count, outcome.isGood)
    phase =
      command.length == 0
      ? .status(status) : .dataIn(data, status: status, isShort: data.count < command.length)
  }
}

/// The command block that begins a command.
struct BulkOnlyCommand {
  let tag: [UInt8]
  /// The number of bytes that the host wants to transfer.
  let length: Int
  /// Whether the direction is to the host.
  let reads: Bool
  let bytes: [UInt8]

  init?(_ packet: [UInt8]) {
    guard packet.count == 31, packet.starts(with: Array("USBC".utf8)), packet[13] == 0,
      (1...16).contains(packet[14])
    else { return nil }
    tag = Array(packet[4..<8])
    length = littleEndianNumber(packet[8..<12])
    reads = packet[12] & 0x80 != 0
    bytes = Array(packet[15..<31])
  }

  /// The status block of 13 bytes that ends the command.
  func status(residue: Int, _ isGood: Bool) -> [UInt8] {
    Array("USBS".utf8) + tag + littleEndian(UInt32(residue)) + [isGood ? 0 : 1]
  }
}
