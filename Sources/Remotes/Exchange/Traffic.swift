// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What went over the wire to and from a remote: requests, and the bytes of their bodies as they were packed.
package final class Traffic: Sendable {
  private let requestCount = Atomic(0)
  private let sentBytes = Atomic(0)
  private let receivedBytes = Atomic(0)

  /// Nothing yet.
  package init() {}

  /// How many requests were made.
  package var requests: Int { requestCount.load(ordering: .relaxed) }
  /// How many bytes of bodies were sent.
  package var sent: Int { sentBytes.load(ordering: .relaxed) }
  /// How many bytes of bodies came back.
  package var received: Int { receivedBytes.load(ordering: .relaxed) }

  func addRequest(bytes: Int) {
    requestCount.add(1, ordering: .relaxed)
    sentBytes.add(bytes, ordering: .relaxed)
  }

  func addReceived(bytes: Int) { receivedBytes.add(bytes, ordering: .relaxed) }
}
