// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import SimulatedMeters

/// A meter with other USB ids than usual for its model, like a later model.
package final class RenumberedMeter: SimulatedMeter {
  private let meter: any SimulatedMeter
  package let deviceDescriptor: [UInt8]

  package init(_ meter: any SimulatedMeter, vendorID: UInt16, productID: UInt16) {
    self.meter = meter
    let ids = [vendorID, productID].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    deviceDescriptor = meter.deviceDescriptor[..<8] + ids + meter.deviceDescriptor[12...]
  }

  package var configurationDescriptor: [UInt8] { meter.configurationDescriptor }
  package var strings: [String] { meter.strings }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    meter.control(request, maxBytes: maxBytes, data: data)
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool { meter.accept(packet, endpoint: endpoint) }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    meter.nextPacket(endpoint: endpoint, maxBytes: maxBytes)
  }
}
