// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import NIOHTTP1

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
