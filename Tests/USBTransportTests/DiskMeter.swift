// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters

/// A disk of four blocks with the bulk-only transport, and with faults that a test chooses.
final class DiskMeter: SimulatedMeter {
  enum Quirk: Equatable {
    case none, wrongSignature, wrongTag, attention, refusal, shortRead, phaseError, missingStatus
  }

  let deviceDescriptor: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x34, 0x12, 0x78, 0x56, 0, 1, 0, 0, 0, 1]
  let configurationDescriptor: [UInt8] = [
    9, 2, 32, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 2, 8, 6, 0x50, 0, 7, 5, 0x82, 2, 64, 0, 0, 7, 5, 0x01, 2, 64,
    0, 0,
  ]
  let strings: [String] = []
  private(set) var blocks = (0..<4).map { [UInt8](repeating: UInt8($0), count: 512) }
  private(set) var resets = 0

  /// The fault at the first command other than REQUEST SENSE.
  private var quirk: Quirk
  private var answers: [PacketAnswer] = []
  private var writing: (block: Int, tag: [UInt8])?
  private var sense: UInt8 = 0

  init(_ quirk: Quirk = .none) { self.quirk = quirk }

  func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    guard request.type == 0x21, request.request == 0xFF else { return .stall }
    resets += 1
    answers = []
    writing = nil
    return .accepted
  }

  func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    if let (block, tag) = writing {
      writing = nil
      blocks[block] = packet
      answers.append(.data(status(tag)))
      return true
    }
    guard packet.count == 31, Array(packet[..<4]) == Array("USBC".utf8) else { return false }
    let tag = Array(packet[4..<8])
    let block = Int(packet[20]) % blocks.count
    switch packet[15] {
    case 0x03: answers += [.data([0x70, 0, sense] + [UInt8](repeating: 0, count: 15)), .data(status(tag))]
    case 0x28: read(block, tag)
    case 0x2A: writing = (block, tag)
    default: answers.append(.data(status(tag, code: 1)))
    }
    return true
  }

  func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == 0x82, !answers.isEmpty else { return .nothing }
    return answers.removeFirst()
  }

  private func read(_ block: Int, _ tag: [UInt8]) {
    let data = PacketAnswer.data(blocks[block])
    switch quirk {
    case .none: answers += [data, .data(status(tag))]
    case .wrongSignature: answers += [data, .data([0] + status(tag).dropFirst())]
    case .wrongTag: answers += [data, .data(status([9, 9, 9, 9]))]
    case .attention, .refusal:
      sense = quirk == .attention ? 6 : 5
      answers += [.stall, .data(status(tag, residue: 512, code: 1))]
    case .shortRead: answers += [.data(Array(blocks[block][..<100])), .data(status(tag, residue: 412))]
    case .phaseError: answers += [data, .data(status(tag, code: 2))]
    case .missingStatus: answers += [data]
    }
    quirk = .none
  }

  private func status(_ tag: [UInt8], residue: Int = 0, code: UInt8 = 0) -> [UInt8] {
    Array("USBS".utf8) + tag + [UInt8(residue & 0xFF), UInt8(residue >> 8), 0, 0, code]
  }
}
