// SPDX-License-Identifier: Apache-2.0

package import Logbook
import LogbookAPI
package import NIOHTTP1
import Synchronization

/// A request to a remote.
package struct ExchangeRequest: Sendable {
  package var method = HTTPMethod.GET
  /// The path and the query, which are appended to the address of the remote.
  package var path: String
  package var headers: HTTPHeaders = [:]
  package var body: [UInt8]?
  /// Whether the remote accepts a body that is compressed with gzip.
  var mayBePacked = true
}

/// An answer from a remote, with any status. Its body is decompressed.
package struct ExchangeAnswer: Sendable {
  package var status: Int
  package var headers: HTTPHeaders
  package var body: [UInt8]

  package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// Sends requests to a remote over the network. Tests use a replacement.
package protocol HTTPTransport: Sendable {
  /// Sends one request exactly once.
  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer
}

/// The limits of one exchange with a remote.
struct ExchangeLimits: Sendable {
  /// The time limit for making a connection.
  var connect = Duration.seconds(10)
  /// The maximum time without any data in either direction.
  var idle = Duration.seconds(30)
  /// The time limit for the whole exchange. A full batch takes 20 s at 16 KiB/s.
  var whole = Duration.seconds(180)
  /// The maximum size of a body in bytes, both compressed and decompressed.
  var bodyBytes = WireProtocol.maxBodyBytes
}

/// Counts the requests to a remote, and the compressed bytes of bodies in both directions.
package final class Traffic: Sendable {
  private let requestCount = Atomic(0)
  private let sentBytes = Atomic(0)
  private let receivedBytes = Atomic(0)

  package init() {}

  /// The number of requests that were sent.
  package var requests: Int { requestCount.load(ordering: .relaxed) }
  /// The number of bytes that were sent in bodies.
  package var sent: Int { sentBytes.load(ordering: .relaxed) }
  /// The number of bytes that were received in bodies.
  package var received: Int { receivedBytes.load(ordering: .relaxed) }

  func addRequest(bytes: Int) {
    requestCount.add(1, ordering: .relaxed)
    sentBytes.add(bytes, ordering: .relaxed)
  }

  func addReceived(bytes: Int) { receivedBytes.add(bytes, ordering: .relaxed) }
}
