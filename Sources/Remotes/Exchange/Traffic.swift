// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the requests to a remote, and the compressed bytes of bodies in both directions.
package final class Traffic: Sendable {
  private let requestCount = Atomic(0)
  private let sentBytes = Atomic(0)
  private let receivedBytes = Atomic(0)

  package init() {}

  /// The number of requests.
  package var requests: Int { requestCount.load(ordering: .relaxed) }
  /// The number of bytes sent in bodies.
  package var sent: Int { sentBytes.load(ordering: .relaxed) }
  /// The number of bytes received in bodies.
  package var received: Int { receivedBytes.load(ordering: .relaxed) }

  func addRequest(bytes: Int) {
    requestCount.add(1, ordering: .relaxed)
    sentBytes.add(bytes, ordering: .relaxed)
  }

  func addReceived(bytes: Int) { receivedBytes.add(bytes, ordering: .relaxed) }
}
