// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters

/// A device that echoes each packet. The first byte states the number of packets in the echo. Written
/// features are stored.
final class EchoMeter: SimulatedMeter {
  let deviceDescriptor: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x34, 0x12, 0x78, 0x56, 0, 1, 1, 2, 3, 1]
  let configurationDescriptor: [UInt8]
  let strings = ["Maker", "Echo", "E-1"]
  private(set) var features: [[UInt8]] = []
  private(set) var waiting: [[UInt8]] = []

  private let refused: UInt8 = 0xEE

  init(interfaces: [[UInt8]]) {
    let body = interfaces.flatMap { $0 }
    let total = body.count + 9
    configurationDescriptor = [9, 2, UInt8(total), 0, UInt8(interfaces.count), 1, 0, 0x80, 50] + body
  }

  static func hid(output: Bool = true) -> EchoMeter {
    var descriptor: [UInt8] = [9, 4, 0, 0, output ? 2 : 1, 3, 0, 0, 0, 9, 0x21, 0, 1, 0, 1, 0x22, 35, 0]
    descriptor += [7, 5, 0x81, 3, 64, 0, 1]
    if output { descriptor += [7, 5, 0x02, 3, 64, 0, 1] }
    return EchoMeter(interfaces: [descriptor])
  }

  static func bulk() -> EchoMeter {
    EchoMeter(interfaces: [[9, 4, 0, 0, 2, 15, 0, 0, 0, 7, 5, 0x81, 2, 64, 0, 0, 7, 5, 0x01, 2, 64, 0, 0]])
  }

  static func cdc() -> EchoMeter {
    EchoMeter(interfaces: [
      [9, 4, 0, 0, 1, 2, 2, 1, 0, 7, 5, 0x83, 3, 8, 0, 16],
      [9, 4, 1, 0, 2, 10, 0, 0, 0, 7, 5, 0x81, 2, 64, 0, 0, 7, 5, 0x01, 2, 64, 0, 0],
    ])
  }

  func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request, request.value >> 8) {
    case (0x21, 0x09, 2): return accept(data, endpoint: 0) ? .accepted : .stall
    case (0x21, 0x09, 3), (0x21, 0x20, _), (0x21, 0x22, _):
      features.append(data.isEmpty ? [UInt8(request.value & 0xFF)] : data)
      return .accepted
    case (0xA1, 0x01, 3): return .data([UInt8(request.value & 0xFF), 0xAA, 0xBB])
    default: return .stall
    }
  }

  func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard packet.first != refused else { return false }
    waiting += Array(repeating: packet, count: Int(packet.first ?? 0) & 0x1F)
    return true
  }

  func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == 0x81, !waiting.isEmpty else { return .nothing }
    return .data(waiting.removeFirst())
  }
}

/// A serial line that never answers.
final class SilentLine: SimulatedLine {
  func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8] { [] }
}

/// A serial line that echoes what it receives if the speed is right.
final class EchoLine: SimulatedLine {
  func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8] { line.baud == 19200 ? bytes : [0xFF] }
}
