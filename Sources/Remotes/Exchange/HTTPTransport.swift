// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import NIOHTTP1

/// A request to a remote.
package struct ExchangeRequest: Sendable {
  package var method = HTTPMethod.GET
  /// Behind the address: path and query.
  package var path: String
  package var headers: HTTPHeaders = [:]
  package var body: [UInt8]?
  /// Whether the remote is known to take a body that is packed by gzip.
  var mayBePacked = true
}

/// A remote's answer, whatever its status, with its body unpacked.
package struct ExchangeAnswer: Sendable {
  package var status: Int
  package var headers: HTTPHeaders
  package var body: [UInt8]

  package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// What takes requests to a remote and brings its answers: the network, or whatever replaces it.
package protocol HTTPTransport: Sendable {
  /// Carries one request, once.
  func carry(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer
}
