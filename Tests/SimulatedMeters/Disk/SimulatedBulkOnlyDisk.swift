// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The bulk-only transport of a read-only disk: command blocks and status blocks around SCSI commands.
package final class SimulatedBulkOnlyDisk {
  private enum Phase {
    case idle
    /// The host reads the data, and then the status.
    case giving
    /// The disk expects this number of bytes that the host has announced, and drops them.
    case taking(Int)
    /// An endpoint is stalled before the host reads the status.
    case stalled
    /// After an invalid command block, the disk accepts nothing except a reset.
    case lost
  }

  /// Sectors of 512 bytes.
  package var sectors: [[UInt8]]
  /// The number of commands that the disk refuses before it is ready. Until then, the disk still reports its
  /// identity and why it refused a command.
  package var refusals = 0
  /// The number of the host's attempts to write.
  package private(set) var writes = 0

  private static let sectorSize = 512
  private let vendor: String
  private let product: String
  private var phase = Phase.idle
  private var data: [UInt8] = []
  private var hasEndOfData = false
  private var status: [UInt8] = []
  /// Why the last command failed: sense key and additional code.
  private var sense: (key: UInt8, code: UInt8) = (0, 0)

  package init(_ sectors: [[UInt8]], vendor: String, product: String) {
    self.sectors = sectors
    self.vendor = vendor
    self.product = product
  }

  package func control(_ request: ControlRequest) -> ControlAnswer {
    switch (request.type, request.request) {
    case (0x21, 0xFF):
      phase = .idle
      return .accepted
    case (0xA1, 0xFE): return .data([0])
    default: return .stall
    }
  }

  package func accept(_ packet: [UInt8]) -> Bool {
    switch phase {
    case .taking(let left):
      let rest = left - packet.count
      phase = rest > 0 ? .taking(rest) : .giving
      return true
    case .idle:
      guard packet.count == 31, packet.starts(with: [0x55, 0x53, 0x42, 0x43]), (1...16).contains(packet[14])
      else {
        phase = .lost
        return false
      }
      run(packet)
      return true
    case .giving, .stalled, .lost: return false
    }
  }

  package func nextPacket(maxBytes: Int) -> PacketAnswer {
    switch phase {
    case .stalled:
      phase = .giving
      return .stall
    case .giving where !data.isEmpty: return .data(data.takeFirst(maxBytes))
    case .giving where hasEndOfData:
      hasEndOfData = false
      return .data([])
    case .giving:
      phase = .idle
      return .data(status)
    case .lost: return .stall
    case .idle, .taking: return .nothing
    }
  }
}

extension SimulatedBulkOnlyDisk {
  /// Runs the SCSI command in a command block, and prepares the data and the status for the host.
  private func run(_ block: [UInt8]) {
    let asked = Self.little(block[8..<12])
    let isTowardsHost = block[12] & 0x80 != 0
    let answer = answer(Array(block[15..<(15 + Int(block[14]))]))
    let given = isTowardsHost ? Array((answer ?? []).prefix(asked)) : []
    let residue = isTowardsHost ? asked - given.count : (answer == nil ? asked : 0)
    let residueBytes = (0..<4).map { (place: Int) -> UInt8 in UInt8(residue >> (place * 8) & 0xFF) }
    status = Array("USBS".utf8) + block[4..<8] + residueBytes
    status.append(answer == nil ? 1 : 0)
    data = given
    // If less data than requested ends with a full packet, only an empty packet shows the host that it is
    // complete.
    hasEndOfData = !given.isEmpty && given.count < asked && given.count % 64 == 0
    if answer != nil { sense = (0, 0) }
    if isTowardsHost {
      phase = given.isEmpty && asked > 0 ? .stalled : .giving
    } else {
      phase = asked > 0 ? .taking(asked) : .giving
    }
  }

  private func answer(_ command: [UInt8]) -> [UInt8]? {
    if refusals > 0, command[0] != 0x03, command[0] != 0x12 {
      refusals -= 1
      // The sense key for a disk that is not ready, but becoming ready.
      return fail(2, 0x04)
    }
    switch command[0] {
    case 0x00, 0x1E, 0x1B, 0x35: return []
    case 0x03: return [0x70, 0, sense.key, 0, 0, 0, 0, 10, 0, 0, 0, 0, sense.code, 0, 0, 0, 0, 0]
    case 0x12:
      let text = { (text: String, width: Int) in
        Array(text.utf8.prefix(width)) + [UInt8](repeating: 0x20, count: max(0, width - text.utf8.count))
      }
      return [0x00, 0x80, 0x04, 0x02, 0x1F, 0, 0, 0] + text(vendor, 8) + text(product, 16) + text("1.00", 4)
    case 0x1A: return [0x03, 0x00, 0x80, 0x00]
    case 0x23: return [0, 0, 0, 8] + Self.big(sectors.count) + [0x02] + Self.big(Self.sectorSize).dropFirst()
    case 0x25: return Self.big(sectors.count - 1) + Self.big(Self.sectorSize)
    case 0x28 where command.count >= 10: return read(command)
    case 0x2A:
      writes += 1
      return fail(7, 0x27)
    default: return fail(5, 0x20)
    }
  }

  private func read(_ command: [UInt8]) -> [UInt8]? {
    let first = command[2..<6].reduce(0) { $0 << 8 | Int($1) }
    let count = Int(command[7]) << 8 | Int(command[8])
    guard first + count <= sectors.count else { return fail(5, 0x21) }
    return Array(sectors[first..<(first + count)].joined())
  }

  private func fail(_ key: UInt8, _ code: UInt8) -> [UInt8]? {
    sense = (key, code)
    return nil
  }

  private static func big(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }
  }

  private static func little(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
