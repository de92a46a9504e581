// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import LogbookAPI
import NIOCore

/// What a request is answered with, before it is packed for the way.
struct Answer {
  var status = HTTPResponse.Status.ok
  var headers: HTTPFields = [:]
  var body: [UInt8] = []
  var type = "application/json"
  /// Whether it may go out packed by gzip: a range of bytes would be one of the packed bytes.
  var mayBePacked = true
  /// Whether the connection ends with it, because the rest of the request was not read.
  var endsConnection = false

  /// Smaller bodies gain nothing.
  private static let minPackedBytes = 1024

  /// The response, gzipped for a client that takes it.
  func response(takesGzip: Bool) -> Response {
    var headers = headers
    // Health data is nobody else's to keep.
    headers[.cacheControl] = "no-store"
    headers[.xContentTypeOptions] = "nosniff"
    var bytes = body
    if !bytes.isEmpty { headers[.contentType] = type }
    if takesGzip, mayBePacked, body.count > Self.minPackedBytes, let packed = WireGzip.pack(body) {
      bytes = packed
      headers[.contentEncoding] = "gzip"
    }
    if status != .notModified { headers[.vary] = "Accept-Encoding" }
    guard endsConnection else {
      return Response(
        status: status, headers: headers,
        body: bytes.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
    headers[.connection] = "close"
    return Response(status: status, headers: headers, body: Self.last(ByteBuffer(bytes: bytes)))
  }

  /// A body behind which the connection is closed: what else the client sends is not waited for.
  private static func last(_ buffer: ByteBuffer) -> ResponseBody {
    ResponseBody(contentLength: buffer.readableBytes) { writer in
      try await writer.write(buffer)
      try await writer.finish(nil)
      throw EndOfConnection()
    }
  }

  private struct EndOfConnection: Error {}
}
