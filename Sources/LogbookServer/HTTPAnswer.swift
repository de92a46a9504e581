// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI
import NIOCore

/// The answer to a request, before compression.
struct HTTPAnswer {
  var status = HTTPResponse.Status.ok
  var headers: HTTPFields = [:]
  var body: [UInt8] = []
  var type = "application/json"
  /// Whether the body may be compressed with gzip. A range of bytes must not be compressed, since the client
  /// would take it for a range of compressed bytes.
  var mayBePacked = true
  /// Whether the connection is closed after this answer. If it stayed open, unread data of the client could
  /// be taken for the next request.
  var endsConnection = false

  /// The minimum size in bytes of a body that is compressed. Smaller bodies hardly become smaller by
  /// compression.
  private static let minPackedBytes = 1024

  /// The answer as a response, which is compressed if the client accepts gzip.
  ///
  /// - Parameter delivery: counts the bytes until the client has received them, and limits the time for it.
  func response(takesGzip: Bool, _ delivery: AnswerDelivery? = nil) async -> Response {
    var headers = headers
    // No cache between client and server may store health data.
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
      // A small body fits in the buffers of the system. Even if the client does not read it, the connection
      // counts as silent.
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

  /// The answer that is sent instead if the server has not enough memory for an answer.
  private static var full: HTTPAnswer {
    var refusal = Refusal(.busy, "too many answers are on their way; try again")
    refusal.retryAfterSeconds = 1
    return HTTPAnswer(status: refusal.status, headers: refusal.headers, body: refusal.body)
  }

  /// A body after which the connection is closed without reading further data from the client.
  private static func last(_ buffer: ByteBuffer) -> ResponseBody {
    ResponseBody(contentLength: buffer.readableBytes) { writer in
      try await writer.write(buffer)
      try await writer.finish(nil)
      throw EndOfConnection()
    }
  }
}

/// Thrown to close a connection after its answer.
struct EndOfConnection: Error {}

/// The transfer of an answer to its client. Until the client reads the bytes, they occupy memory of the
/// server. So these bytes are counted for the client's login, and the connection is closed after a time
/// limit.
struct AnswerDelivery: Sendable {
  /// The minimum size of an answer whose bytes are counted. Smaller answers fit in the buffers of the system.
  static let minCountedBytes = 16 << 10

  let limits: WorkLimits
  let login: String
  let channel: any Channel
  let time: Duration
  let connections: OpenConnections

  func begin(_ bytes: Int) async -> Bool { await limits.reserve(bytes, for: login) }

  /// Notes that the answer has ended, so that the connection counts as silent.
  func end() { connections.update(channel, isWorking: false) }

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
          // A piece is only written when the system has accepted the previous piece. Writing the whole answer
          // at once would copy it to a buffer.
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

extension HTTPFields {
  /// The headers that state how many bytes of an attachment the server holds.
  static func holding(_ held: HeldContent) -> HTTPFields {
    var headers: HTTPFields = [:]
    headers.set(held)
    return headers
  }

  /// Sets the headers that state how many bytes of an attachment the server holds.
  mutating func set(_ held: HeldContent) {
    self[wire: WireProtocol.heldHeader] = String(held.bytes)
    if let size = held.size { self[wire: WireProtocol.sizeHeader] = String(size) }
  }

  /// The value of a header of the protocol, by the header's name.
  subscript(wire name: String) -> String? {
    get { HTTPField.Name(name).flatMap { self[$0] } }
    set { if let field = HTTPField.Name(name) { self[field] = newValue } }
  }
}
