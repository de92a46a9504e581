// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A meter whose first answer is slow: a driver with a shorter timeout receives none.
final class SlowFirstAnswer: Transport {
  private let transport: any Transport
  private let delay: Int
  private var hasAnswered = false

  init(_ transport: any Transport, milliseconds: Int) {
    self.transport = transport
    delay = milliseconds
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    if case .receive = exchange, !hasAnswered {
      guard milliseconds > delay else { throw .timedOut }
      hasAnswered = true
    }
    return try transport.perform(exchange, within: milliseconds)
  }
}
