// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import LogbookAPI
import NIOCore

/// Reads the body of a request within limits: its size before and after decompression, its time, and its
/// rate.
struct IncomingBody: Sendable {
  let bytesAtWork: WorkLimits
  let time: Duration
  /// The minimum number of bytes that must arrive in each interval of the duration `time`, until the body
  /// ends.
  let pace: (bytes: Int, time: Duration)
  /// The name of the login that sent the request.
  var login = ""
  var type = "application/json"
  var maxBytes = WireProtocol.maxBodyBytes

  /// Passes the bytes of a body to `use`. They count as memory in use until `use` returns.
  func read<Value: Sendable>(
    _ request: Request, _ use: ([UInt8]) async throws -> Value
  ) async throws -> Value {
    let isPacked = try isPacked(request)
    try checkDeclared(request)
    let tally = ByteTally(bytesAtWork, login)
    do {
      let body = try await collect(request, tally)
      // If the server began to stop while the body was read, the body is not processed.
      try Task.checkCancellation()
      let value: Value
      if isPacked {
        let unpacked = try unpack(body)
        guard await tally.reserve(unpacked.count) else { throw busy }
        value = try await use(unpacked)
      } else {
        value = try await use(body)
      }
      await tally.release()
      return value
    } catch {
      await tally.release()
      throw error
    }
  }
}

/// Counts the bytes of one body as they arrive. The length that the request announces is not counted.
/// Otherwise a client could block others by announcing large bodies.
private actor ByteTally {
  private let limits: WorkLimits
  private let login: String
  private var reserved = 0
  /// The number of bytes received so far.
  private(set) var arrived = 0

  init(_ limits: WorkLimits, _ login: String) {
    self.limits = limits
    self.login = login
  }

  func reserve(_ bytes: Int) async -> Bool {
    guard await limits.reserve(bytes, for: login) else { return false }
    reserved += bytes
    return true
  }

  func count(arrived bytes: Int) { arrived += bytes }

  func release() async {
    await limits.release(reserved, for: login)
    reserved = 0
  }
}

extension IncomingBody {
  private func isPacked(_ request: Request) throws -> Bool {
    let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased() ?? ""
    guard type.filter({ $0 != " " }) == self.type else {
      throw Refusal(.badType, "a body of the type \(self.type) is expected")
    }
    switch request.headers[.contentEncoding]?.lowercased() {
    case nil, "identity": return false
    case "gzip": return true
    default: throw Refusal(.badType, "a body in gzip or without encoding is expected")
    }
  }

  private func checkDeclared(_ request: Request) throws {
    guard let text = request.headers[.contentLength] else { return }
    guard let length = Int(text), length >= 0 else { throw Refusal(.badRequest, "invalid length") }
    guard length <= maxBytes else { throw tooLarge }
  }

  private var tooLarge: Refusal {
    Refusal(.tooLarge, "a body has at most \(maxBytes) bytes")
  }

  private var busy: Refusal {
    var refusal = Refusal(.busy, "too many large requests at the same time; try again")
    refusal.retryAfterSeconds = 1
    return refusal
  }

  private var tooSlow: Refusal {
    var refusal = Refusal(.busy, "the body took too long to arrive")
    refusal.statusOverride = .requestTimeout
    return refusal
  }

  private func unpack(_ body: [UInt8]) throws -> [UInt8] {
    do {
      return try WireGzip.unpack(body, limit: maxBytes)
    } catch {
      switch error {
      case .tooLarge: throw tooLarge
      case .damaged: throw Refusal(.badRequest, "the gzip of the body is damaged")
      }
    }
  }

  /// Receives the bytes of the body. Bytes must arrive at a minimum rate. Otherwise a slow client would
  /// occupy a connection for hours.
  private func collect(_ request: Request, _ tally: ByteTally) async throws -> [UInt8] {
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask {
        var bytes: [UInt8] = []
        for try await buffer in request.body {
          guard bytes.count + buffer.readableBytes <= maxBytes else { throw tooLarge }
          guard await tally.reserve(buffer.readableBytes) else { throw busy }
          await tally.count(arrived: buffer.readableBytes)
          bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
      }
      group.addTask {
        let end = ContinuousClock.now + time
        var before = 0
        while ContinuousClock.now < end {
          try await Task.sleep(until: min(end, .now + pace.time))
          let arrived = await tally.arrived
          guard arrived - before >= pace.bytes else { break }
          before = arrived
        }
        throw tooSlow
      }
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }
}
