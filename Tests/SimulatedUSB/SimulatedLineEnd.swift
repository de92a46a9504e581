// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import USBTransport

/// The host's end of a simulated serial line.
final class SimulatedLineEnd: OpenTransport {
  private(set) var session: FaultySession

  private let line: any SimulatedLine
  private var settings: LineSettings
  private var unread: [UInt8] = []

  init(_ line: any SimulatedLine, _ settings: LineSettings, fault: Fault?) {
    self.line = line
    self.settings = settings
    session = FaultySession(fault)
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    guard !session.isUnplugged else { throw .unplugged }
    switch exchange {
    case .send(let bytes):
      session.countStep()
      answer(line.accept(bytes, line: settings))
    case .receive(let maxBytes):
      guard !unread.isEmpty else { throw .timedOut }
      let bytes = Array(unread.prefix(maxBytes))
      unread.removeFirst(bytes.count)
      return bytes
    case .setLine(let line): settings = line
    case .discard: unread = []
    default: throw .unsupported
    }
    return []
  }

  func close() throws {}

  /// A serial line cannot stall, so the answer is lost instead.
  private func answer(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    let coming = session.coming()
    if coming == .never || coming == .stalled { return }
    let packet = session.arrive(bytes, coming)
    unread += coming == .twice ? packet + packet : packet
  }
}
