// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import LogbookAPI
import NIOCore

/// Reads the body of a request within its limits: bytes before and after unpacking, and time.
struct IncomingBody {
  let bytesAtWork: BytesAtWork
  let time: Duration
  var type = "application/json"
  var most = Wire.maxBodyBytes

  /// Gives the bytes of a body to `use`, which runs while its bytes are counted as at work.
  func read<Value: Sendable>(
    _ request: Request, _ use: ([UInt8]) async throws -> Value
  ) async throws -> Value {
    let isPacked = try isPacked(request)
    let declared = try declaredBytes(request)
    return try await counted(declared ?? most) {
      let body = try await collect(request)
      guard isPacked else { return try await use(body) }
      let unpacked = try unpack(body)
      return try await counted(unpacked.count) { try await use(unpacked) }
    }
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

  private func declaredBytes(_ request: Request) throws -> Int? {
    guard let text = request.headers[.contentLength] else { return nil }
    guard let length = Int(text), length >= 0 else { throw Refusal(.badRequest, "invalid length") }
    guard length <= most else { throw tooLarge }
    return length
  }

  private var tooLarge: Refusal {
    Refusal(.tooLarge, "a body has at most \(most) bytes")
  }

  private func unpack(_ body: [UInt8]) throws -> [UInt8] {
    do {
      return try WireGzip.unpack(body, limit: most)
    } catch {
      switch error {
      case .tooLarge: throw tooLarge
      case .damaged: throw Refusal(.badRequest, "the gzip of the body is damaged")
      }
    }
  }

  private func counted<Value: Sendable>(
    _ bytes: Int, _ work: () async throws -> Value
  ) async throws -> Value {
    guard await bytesAtWork.take(bytes) else {
      var refusal = Refusal(.busy, "too many large requests at the same time; try again")
      refusal.retryAfterSeconds = 1
      throw refusal
    }
    do {
      let value = try await work()
      await bytesAtWork.release(bytes)
      return value
    } catch {
      await bytesAtWork.release(bytes)
      throw error
    }
  }

  /// The bytes of the body. One that comes in drops would hold its connection for hours.
  private func collect(_ request: Request) async throws -> [UInt8] {
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask { [most, tooLarge] in
        var bytes: [UInt8] = []
        for try await buffer in request.body {
          guard bytes.count + buffer.readableBytes <= most else { throw tooLarge }
          bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
      }
      group.addTask { [time] in
        try await Task.sleep(for: time)
        var refusal = Refusal(.busy, "the body took too long to arrive")
        refusal.statusOverride = .requestTimeout
        throw refusal
      }
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }
}
