// SPDX-License-Identifier: Apache-2.0

package import Logbook
import LogbookAPI
package import NIOHTTP1
import Synchronization

/// A request to a remote.
package struct ExchangeRequest: Sendable {
  package var method = HTTPMethod.GET
  /// Path and query, relative to the address.
  package var path: String
  package var headers: HTTPHeaders = [:]
  package var body: [UInt8]?
  /// Whether the remote is known to accept a body compressed by gzip.
  var mayBePacked = true
}

/// A remote's answer of any status, with its body decompressed.
package struct ExchangeAnswer: Sendable {
  package var status: Int
  package var headers: HTTPHeaders
  package var body: [UInt8]

  package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// Sends requests to a remote: over the network, or to a replacement of it.
package protocol HTTPTransport: Sendable {
  /// Sends one request, once.
  func carry(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer
}

/// The limits of one exchange with a remote.
struct ExchangeLimits: Sendable {
  /// The time until a connection exists.
  var connect = Duration.seconds(10)
  /// The time without a byte in either direction.
  var idle = Duration.seconds(30)
  /// The total time. A full batch takes 20 s at 16 KiB/s.
  var whole = Duration.seconds(180)
  /// The maximum size of a body, compressed and decompressed.
  var bodyBytes = WireProtocol.maxBodyBytes
}

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
