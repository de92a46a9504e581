// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import USBTransport

/// The host's end of a connection to a simulated Bluetooth meter.
final class SimulatedRadioLink: OpenTransport {
  private(set) var session: FaultySession

  private let meter: SimulatedGlucoseMeter
  private var repeated: [UInt8]?

  init(_ meter: SimulatedGlucoseMeter, fault: Fault?) {
    self.meter = meter
    session = FaultySession(fault)
    meter.connect()
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    guard !session.isUnplugged, !meter.isGone else { throw .unplugged }
    switch exchange {
    case .readValue(let characteristic):
      let place = SimulatedCharacteristic(characteristic.service, characteristic.rawValue)
      guard let value = meter.values[place] else { throw .unsupported }
      return try arrive(value)
    case .subscribe(let characteristic):
      session.countStep()
      guard characteristic.service == 0x1808, meter.subscribe(characteristic.rawValue) else {
        throw .unsupported
      }
      return []
    case .recordAccess(let request):
      session.countStep()
      switch meter.request(request.bytes) {
      case nil: return []
      case 0x05: throw .notPaired
      default: throw .stalled
      }
    case .notification: return try notification()
    default: throw .unsupported
    }
  }

  func close() throws {}

  private func notification() throws(TransportError) -> [UInt8] {
    if let bytes = repeated {
      repeated = nil
      return bytes
    }
    guard let next = meter.next() else { throw meter.isGone ? .unplugged : .timedOut }
    let number = [UInt8(next.number & 0xFF), UInt8(next.number >> 8)]
    return number + (try arrive(next.bytes) { self.repeated = number + $0 })
  }

  /// The value as it arrives: the session's fault changes it, if the fault is at this packet.
  private func arrive(
    _ bytes: [UInt8], twice: ([UInt8]) -> Void = { _ in }
  ) throws(TransportError) -> [UInt8] {
    let coming = session.coming()
    switch coming {
    case .never: throw .timedOut
    case .stalled: throw .stalled
    default: break
    }
    let packet = session.arrive(bytes, coming)
    if coming == .twice { twice(packet) }
    return packet
  }
}
