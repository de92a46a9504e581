// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import SimulatedMeters

/// The bus's answer to one transfer.
package enum WireAnswer: Hashable, Sendable {
  case data([UInt8])
  case accepted
  case nothing
  case stall
  case gone
}

/// A connected meter. Standard requests are answered from its descriptors, and faults are applied to its
/// packets.
package final class SimulatedDevice {
  package let meter: any SimulatedMeter
  package private(set) var session: FaultySession

  private var again: [UInt8: [UInt8]] = [:]

  package init(_ meter: any SimulatedMeter, fault: Fault? = nil) {
    self.meter = meter
    session = FaultySession(fault)
  }

  package var isGone: Bool { session.isUnplugged }

  package var vendorID: UInt16 { word(meter.deviceDescriptor, 8) }
  package var productID: UInt16 { word(meter.deviceDescriptor, 10) }

  /// The string descriptor with the index in byte `index` of the device descriptor.
  package func string(at index: Int) -> String? {
    guard meter.deviceDescriptor.indices.contains(index) else { return nil }
    let number = Int(meter.deviceDescriptor[index])
    return meter.strings.indices.contains(number - 1) ? meter.strings[number - 1] : nil
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> WireAnswer {
    guard !isGone, !session.resets() else { return .gone }
    guard request.type & 0x60 != 0 else { return standard(request, maxBytes: maxBytes) }
    return asked(request, maxBytes: maxBytes, data: data)
  }

  /// The answer of the meter to a request that is not a standard one.
  private func asked(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> WireAnswer {
    let isRead = request.type & 0x80 != 0
    let coming = isRead ? session.coming() : .whole
    if coming == .stalled { return .stall }
    if coming == .never { return .nothing }
    switch meter.control(request, maxBytes: maxBytes, data: data) {
    case .data(let bytes): return .data(Array(session.arrive(bytes, coming).prefix(maxBytes)))
    case .accepted:
      session.countStep()
      return isRead ? .data([]) : .accepted
    case .stall: return .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> WireAnswer {
    guard !isGone, !session.resets() else { return .gone }
    guard meter.accept(packet, endpoint: endpoint) else { return .stall }
    session.countStep()
    return .accepted
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> WireAnswer {
    guard !isGone, !session.resets() else { return .gone }
    if let packet = again.removeValue(forKey: endpoint) { return .data(packet) }
    let coming = session.coming()
    if coming == .stalled { return .stall }
    if coming == .never { return .nothing }
    switch meter.nextPacket(endpoint: endpoint, maxBytes: maxBytes) {
    case .data(let bytes):
      let packet = session.arrive(bytes, coming)
      if coming == .twice { again[endpoint] = packet }
      return .data(packet)
    case .nothing: return .nothing
    case .stall: return .stall
    }
  }
}

extension SimulatedDevice {
  private func standard(_ request: ControlRequest, maxBytes: Int) -> WireAnswer {
    guard request.type & 0x80 != 0 else { return .accepted }
    switch (request.request, request.value >> 8) {
    case (0x06, 1): return .data(Array(meter.deviceDescriptor.prefix(maxBytes)))
    case (0x06, 2): return .data(Array(meter.configurationDescriptor.prefix(maxBytes)))
    case (0x06, 3):
      return stringDescriptor(Int(request.value & 0xFF)).map { .data(Array($0.prefix(maxBytes))) } ?? .stall
    // A class of interfaces, such as HID, defines this descriptor, so the meter itself answers. The kernel's
    // HID driver requests the descriptor of the reports.
    case (0x06, 0x22) where request.type == 0x81: return asked(request, maxBytes: maxBytes, data: [])
    case (0x00, _): return .data([0, 0])
    case (0x08, _): return .data([1])
    default: return .stall
    }
  }

  private func stringDescriptor(_ index: Int) -> [UInt8]? {
    if index == 0 { return [4, 3, 0x09, 0x04] }
    guard meter.strings.indices.contains(index - 1) else { return nil }
    let units = meter.strings[index - 1].utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return [UInt8(clamping: units.count + 2), 3] + units
  }

  private func word(_ bytes: [UInt8], _ index: Int) -> UInt16 {
    bytes.count > index + 1 ? UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8 : 0
  }
}
