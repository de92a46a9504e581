// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import SimulatedMeters

/// A Silicon Labs CP2102 with a meter, for the kernel's driver, which provides a terminal. Requests and
/// fields are those of Silicon Labs' application note AN571.
package final class CP210xChip: SimulatedMeter {
  private enum Request {
    static let enable: UInt8 = 0x00
    static let setLine: UInt8 = 0x03
    static let line: UInt8 = 0x04
    static let modemStatus: UInt8 = 0x08
    static let status: UInt8 = 0x10
    static let flow: UInt8 = 0x14
    static let speed: UInt8 = 0x1D
    static let setSpeed: UInt8 = 0x1E
    static let vendor: UInt8 = 0xFF
  }

  package let deviceDescriptor: [UInt8]
  package let configurationDescriptor: [UInt8]
  package let strings: [String]

  private let meter: any SimulatedLine
  private var settings = LineSettings(baud: 9600)
  private var isEnabled = false
  private var outgoing: [UInt8] = []

  package init(_ meter: any SimulatedLine, vendorID: UInt16, productID: UInt16) {
    let plain = TerminalChip(vendorID: vendorID, productID: productID)
    self.meter = meter
    deviceDescriptor = plain.deviceDescriptor
    configurationDescriptor = plain.configurationDescriptor
    strings = plain.strings
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    guard request.type & 0x80 == 0 else { return answer(request) }
    switch request.request {
    case Request.enable: isEnabled = request.value == 1
    case Request.setLine: setLine(request.value)
    case Request.setSpeed where data.count == 4:
      settings.baud = data.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    default: break
    }
    return .accepted
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    if isEnabled { outgoing += meter.accept(packet, line: settings) }
    return isEnabled
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard !outgoing.isEmpty else { return .nothing }
    let packet = Array(outgoing.prefix(maxBytes))
    outgoing.removeFirst(packet.count)
    return .data(packet)
  }
}

extension CP210xChip {
  private func answer(_ request: ControlRequest) -> ControlAnswer {
    switch request.request {
    case Request.line: .data([lineByte, settings.dataBits])
    case Request.modemStatus: .data([0])
    case Request.status: .data([UInt8](repeating: 0, count: 19))
    case Request.flow: .data([UInt8](repeating: 0, count: 16))
    case Request.speed: .data((0..<4).map { UInt8(truncatingIfNeeded: settings.baud >> ($0 * 8)) })
    // The answer to this request is the chip's part number, which is that of a CP2102.
    case Request.vendor where request.value == 0x370B: .data([0x02])
    default: .stall
    }
  }

  /// The stop bits in the low four bits, and the parity in the high four bits.
  private var lineByte: UInt8 { settings.parity.rawValue << 4 | (settings.stopBits == 2 ? 2 : 0) }

  private func setLine(_ value: UInt16) {
    settings.dataBits = UInt8(value >> 8)
    settings.parity = LineSettings.Parity(rawValue: UInt8(value >> 4 & 0x0F)) ?? .none
    settings.stopBits = value & 0x0F == 2 ? 2 : 1
  }
}
