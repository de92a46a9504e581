// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A Menarini GlucoMen areo GK with its own plug: the areo's session over the communications class.
///
/// These details of real meters are unknown and were chosen for the simulation: the endpoints, and that the
/// meter ignores the settings of its line.
package final class SimulatedAreoGK: SimulatedMeter {
  package let deviceDescriptor = BuiltDescriptors.device(
    vendorID: 0x2C81, productID: 0x0500, deviceClass: 2)
  package let configurationDescriptor = BuiltDescriptors.configuration([
    BuiltDescriptors.interface(
      0, class: (2, 2, 1),
      extra: [5, 0x24, 0, 0x10, 0x01, 5, 0x24, 1, 0, 1, 4, 0x24, 2, 2, 5, 0x24, 6, 0, 1],
      [BuiltDescriptors.Endpoint(address: 0x82, type: 3, size: 8)]),
    BuiltDescriptors.interface(
      1, class: (0x0A, 0, 0),
      [
        BuiltDescriptors.Endpoint(address: 0x01, type: 2, size: 64),
        BuiltDescriptors.Endpoint(address: 0x81, type: 2, size: 64),
      ]),
  ])
  package let strings = ["IndieSemi", "Ernie", "0001"]

  private let areo: SimulatedAreo
  private var line: [UInt8] = [0x80, 0x25, 0, 0, 0, 1, 8]
  private var outgoing: [UInt8] = []

  package init(_ memory: SimulatedMemory) { areo = SimulatedAreo(memory, isGK: true) }

  /// Whether the meter can store the item: glucose and ketones in whole minutes.
  package static func holds(_ item: SimulatedItem) -> Bool { SimulatedAreo.holdsWithKetones(item) }

  /// The content of the meter, with the clock that a host set.
  package var memory: SimulatedMemory { areo.memory }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request) {
    case (0x21, 0x20) where data.count == 7:
      line = data
      return .accepted
    case (0xA1, 0x21): return .data(line)
    case (0x21, 0x22): return .accepted
    default: return .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard endpoint == 0x01 else { return false }
    outgoing += areo.accept(packet)
    return true
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    if endpoint == 0x82 { return .nothing }
    guard endpoint == 0x81 else { return .stall }
    return outgoing.isEmpty ? .nothing : .data(outgoing.takeFirst(maxBytes))
  }
}
