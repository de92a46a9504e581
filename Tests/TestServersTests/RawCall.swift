// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestServers

/// The answer to a request.
struct Reply {
  var status = 0
  /// The headers, by lower-case name.
  var headers: [String: String] = [:]
  var body: [UInt8] = []
  /// The body as JSON, if its type is JSON and it is not compressed.
  var json: DocumentValue?

  var text: String { String(decoding: body, as: UTF8.self) }
  var message: String? { json?["message"]?.text }
  var result: DocumentValue? { json?["result"] }
  /// The documents of a search or a history.
  var list: [DocumentValue] { (result ?? json)?.array ?? [] }
  var identifiers: [String] { list.compactMap { $0["identifier"]?.text } }
}

/// A connection that sends requests exactly as written, with plain sockets.
final class RawConnection {
  /// The server ended the connection, or did not answer in time.
  struct NoAnswer: Error {}

  private let descriptor: Int32

  init(port: UInt16, timeoutSeconds: Int = 60) throws {
    signal(SIGPIPE, SIG_IGN)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { [descriptor] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw NoAnswer() }
  }

  deinit { close(descriptor) }

  func send(_ method: String, _ path: String, _ headers: [String], _ body: [UInt8]) throws -> Reply {
    try start(method, path, headers, body)
    return try receive(hasBody: method != "HEAD")
  }

  /// Sends a request. `receive` waits for its answer.
  func start(_ method: String, _ path: String, _ headers: [String], _ body: [UInt8]) throws {
    let head = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Content-Length: \(body.count)"] + headers
    let bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw NoAnswer() }
      sent += count
    }
  }

  /// Waits until the server closes the connection; false if the server does not close it in time.
  func isClosedByServer() -> Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, 0) == 0
  }

  func receive(hasBody: Bool = true) throws -> Reply {
    var buffer: [UInt8] = []
    var end = buffer.firstRange(of: Array("\r\n\r\n".utf8))
    while end == nil {
      try more(&buffer)
      end = buffer.firstRange(of: Array("\r\n\r\n".utf8))
    }
    guard let end else { throw NoAnswer() }
    let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    var reply = Reply(status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1)
      reply.headers[sides[0].lowercased()] = sides[1].trimmingCharacters(in: .whitespaces)
    }
    let length = hasBody ? reply.headers["content-length"].flatMap { Int($0) } ?? 0 : 0
    while buffer.count < end.upperBound + length { try more(&buffer) }
    reply.body = Array(buffer[end.upperBound...])
    if reply.headers["content-type"]?.contains("json") == true, reply.headers["content-encoding"] == nil,
      hasBody
    {
      reply.json = try DocumentValue(json: reply.body)
    }
    return reply
  }

  private func more(_ buffer: inout [UInt8]) throws {
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else { throw NoAnswer() }
    buffer += piece[..<count]
  }
}
