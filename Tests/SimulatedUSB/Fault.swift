// SPDX-License-Identifier: Apache-2.0

/// One fault between a meter and the host, at one packet.
package struct Fault: Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// One bit is changed, in the byte at this position of the packet, in thousandths of its length.
    case corrupt(place: Int)
    /// Only the first half of the packet arrives.
    case shorten
    /// The packet arrives twice.
    case extra
    /// The endpoint stalls once instead of answering.
    case stall
    /// Nothing arrives from this packet on.
    case silence
    /// The device is unplugged.
    case unplug
    /// The device leaves the bus and returns at once, as when the kernel resets it.
    case reset
  }

  package var kind: Kind
  /// The index of the packet from 0, counted among the packets from the meter. For `unplug` and `reset`, all
  /// packets are counted.
  package var packet: Int

  package init(_ kind: Kind, at packet: Int) {
    self.kind = kind
    self.packet = packet
  }

  package var description: String { "\(kind) at packet \(packet)" }

  /// The packet with one changed bit, or shortened. Padding at its end is not changed, since it is not read.
  func apply(to packet: [UInt8]) -> [UInt8] {
    let used = (packet.lastIndex { $0 != 0 } ?? 0) + 1
    switch kind {
    case .corrupt(let place):
      var packet = packet
      let index = min(used - 1, used * place / 1000)
      if packet.indices.contains(index) { packet[index] ^= 1 }
      return packet
    case .shorten: return Array(packet.prefix(used / 2))
    default: return packet
    }
  }
}

/// The state of a session and its fault.
package struct FaultySession {
  /// What happens to the next packet.
  enum Coming: Hashable {
    case whole, damaged, twice, stalled, never
  }

  private let fault: Fault?
  /// The number of packets from the meter.
  package private(set) var received = 0
  /// The number of packets in both directions.
  package private(set) var steps = 0
  private var hasStalled = false
  private var hasReset = false

  package init(_ fault: Fault?) { self.fault = fault }

  package var isUnplugged: Bool {
    guard let fault, fault.kind == .unplug else { return false }
    return steps >= fault.packet
  }

  /// Whether the device leaves the bus during this transfer.
  mutating func resets() -> Bool {
    guard let fault, fault.kind == .reset, !hasReset, steps >= fault.packet else { return false }
    hasReset = true
    return true
  }

  package mutating func countStep() { steps += 1 }

  /// What happens to the next packet. Callers must call this function before they take the packet from the
  /// meter.
  mutating func coming() -> Coming {
    guard let fault, fault.packet <= received else { return .whole }
    switch fault.kind {
    case .silence: return .never
    case .stall where !hasStalled:
      hasStalled = true
      return .stalled
    case .corrupt where fault.packet == received, .shorten where fault.packet == received: return .damaged
    case .extra where fault.packet == received: return .twice
    default: return .whole
    }
  }

  /// Counts a packet of the meter, and returns it as it arrives.
  mutating func arrive(_ packet: [UInt8], _ coming: Coming) -> [UInt8] {
    received += 1
    steps += 1
    return coming == .damaged ? fault?.apply(to: packet) ?? packet : packet
  }
}
