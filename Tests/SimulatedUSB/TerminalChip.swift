// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters

/// A chip with a serial line. Only the kernel's driver exchanges bytes with it.
final class TerminalChip: SimulatedMeter {
  let deviceDescriptor: [UInt8]
  let configurationDescriptor: [UInt8] = [
    9, 2, 32, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 2, 0xFF, 0, 0, 0, 7, 5, 0x81, 2, 64, 0, 0, 7, 5, 0x01, 2, 64,
    0, 0,
  ]
  let strings = ["Silicon Labs", "USB to UART Bridge Controller"]

  init(vendorID: UInt16, productID: UInt16) {
    let ids = [vendorID, productID].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    deviceDescriptor = [18, 1, 0, 2, 0, 0, 0, 64] + ids + [0, 1, 1, 2, 0, 1]
  }

  func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer { .stall }
  func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool { false }
  func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer { .stall }
}
