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
  ///
  /// - Parameter delivery: what counts its bytes until the client has them, and how long that may take.
  func response(takesGzip: Bool, _ delivery: AnswerDelivery? = nil) async -> Response {
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
    if bytes.count < AnswerDelivery.minCountedBytes {
      // It is in the system's buffers at once: whoever does not take it is as silent as who asks for nothing.
      delivery?.end()
    } else if let delivery {
      guard await delivery.begin(bytes.count) else {
        delivery.end()
        return await Self.full.response(takesGzip: false)
      }
      if endsConnection { headers[.connection] = "close" }
      return Response(
        status: status, headers: headers, body: delivery.body(bytes, endsConnection: endsConnection))
    }
    guard endsConnection else {
      return Response(
        status: status, headers: headers,
        body: bytes.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
    headers[.connection] = "close"
    return Response(status: status, headers: headers, body: Self.last(ByteBuffer(bytes: bytes)))
  }

  /// In place of an answer that there is no memory for.
  private static var full: Answer {
    var refusal = Refusal(.busy, "too many answers are on their way; try again")
    refusal.retryAfterSeconds = 1
    return Answer(status: refusal.status, headers: refusal.headers, body: refusal.body)
  }

  /// A body behind which the connection is closed: what else the client sends is not waited for.
  private static func last(_ buffer: ByteBuffer) -> ResponseBody {
    ResponseBody(contentLength: buffer.readableBytes) { writer in
      try await writer.write(buffer)
      try await writer.finish(nil)
      throw EndOfConnection()
    }
  }
}

/// Ends a connection behind an answer.
struct EndOfConnection: Error {}

/// The bytes of an answer on their way. A client that does not take them holds memory of the server, so that they are
/// counted for its login, and the connection ends where that takes too long.
struct AnswerDelivery: Sendable {
  /// Smaller answers are in the system's buffers at once.
  static let minCountedBytes = 16 << 10

  let limits: WorkLimits
  let login: String
  let channel: any Channel
  let time: Duration
  let connections: OpenConnections

  func begin(_ bytes: Int) async -> Bool { await limits.take(bytes, for: login) }

  /// Nothing is under way on the connection any more.
  func end() { connections.note(channel, isWorking: false) }

  func body(_ bytes: [UInt8], endsConnection: Bool) -> ResponseBody {
    let count = bytes.count
    let maxTime = time + .seconds(count / Self.minCountedBytes)
    return ResponseBody(contentLength: count) { writer in
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await Task.sleep(for: maxTime)
            try await channel.close()
          }
          defer { group.cancelAll() }
          // In pieces: each waits until the one before is with the system, a whole would be buffered at once.
          var start = 0
          while start < count {
            let piece = start..<min(start + Self.minCountedBytes, count)
            try await writer.write(ByteBuffer(bytes: bytes[piece]))
            start = piece.upperBound
          }
          try await writer.finish(nil)
        }
      } catch {
        await limits.release(count, for: login)
        throw error
      }
      await limits.release(count, for: login)
      end()
      if endsConnection { throw EndOfConnection() }
    }
  }
}
