// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A request as it was received.
package struct ReceivedRequest: Sendable {
  package var method = ""
  package var path = ""
  /// The headers, by lower-case name.
  package var headers: [String: String] = [:]
  package var body: [UInt8] = []
  /// The size of head and body in bytes.
  package var byteCount = 0

  package init(method: String = "", path: String = "", headers: [String: String] = [:], body: [UInt8] = []) {
    (self.method, self.path, self.headers, self.body) = (method, path, headers, body)
  }
}

/// A server's answer, and its behaviour after it.
package struct ScriptedAnswer: Sendable {
  package enum End: Sendable {
    /// Waits for the next request.
    case keep
    /// Waits this long for the next request, and closes the connection.
    case keepFor(milliseconds: Int32)
    case close
    /// Resets the connection.
    case reset
    /// Sends nothing more, until the client closes the connection.
    case hold
    /// Sends a byte every few milliseconds, until the client closes the connection.
    case drip
  }

  package var bytes: [UInt8]
  package var end: End

  /// An answer that consists of exactly these bytes.
  package static func raw(_ text: String, _ end: End = .close) -> ScriptedAnswer {
    ScriptedAnswer(bytes: Array(text.utf8), end: end)
  }

  /// A complete answer.
  package static func status(_ status: Int, _ body: [UInt8] = [], headers: [String] = []) -> ScriptedAnswer {
    let head = ["HTTP/1.1 \(status) Scripted", "Content-Length: \(body.count)"] + headers
    return ScriptedAnswer(bytes: Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body, end: .keep)
  }
}

/// An HTTP server on loopback with answers, valid or not, from a test. It uses plain sockets and one thread
/// per connection.
package final class ScriptedServer: Sendable {
  package typealias Script = @Sendable (ReceivedRequest) -> ScriptedAnswer

  package let port: UInt16
  private let listener: Int32
  private let log = Log()

  package var url: String { "http://127.0.0.1:\(port)" }
  /// Every request so far.
  package var requests: [ReceivedRequest] { log.requests.withLock { $0 } }
  /// The number of connections.
  package var connectionCount: Int { log.connections.withLock { $0 } }

  package init(_ script: @escaping Script) throws {
    signal(SIGPIPE, SIG_IGN)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(listener, $0, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard bound else { throw CocoaError(.fileReadUnknown) }
    port = UInt16(bigEndian: address.sin_port)
    Thread { [listener, log] in Self.accept(listener, log, script) }.start()
  }

  /// The accepting thread closes the socket. If it was closed here, the next server could get its number, and
  /// that thread would accept the server's clients.
  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func accept(_ listener: Int32, _ log: Log, _ script: @escaping Script) {
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      if connection < 0, errno == EINVAL { break }
      guard connection >= 0 else { continue }
      log.connections.withLock { $0 += 1 }
      Thread { Connection(connection).serve(log, script) }.start()
    }
    close(listener)
  }

  /// A port of loopback without a server.
  package static func closedPort() throws -> UInt16 {
    let server = try ScriptedServer { _ in .status(200) }
    return server.port
  }
}

/// The requests and connections of a server.
private final class Log: Sendable {
  let requests = Mutex<[ReceivedRequest]>([])
  let connections = Mutex(0)
}

/// One connection of a scripted server.
private struct Connection {
  private static let longestWaitMilliseconds: Int32 = 30_000
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  func serve(_ log: Log, _ script: ScriptedServer.Script) {
    defer { close(descriptor) }
    var buffer: [UInt8] = []
    while let request = read(&buffer) {
      log.requests.withLock { $0.append(request) }
      let answer = script(request)
      send(answer.bytes)
      switch answer.end {
      case .keep: continue
      case .keepFor(let milliseconds): if buffer.isEmpty, !left(within: milliseconds) { return }
      case .close: return
      case .reset: return reset()
      case .hold: return waitForClient(Self.longestWaitMilliseconds)
      case .drip: return drip()
      }
    }
  }

  /// Reads a request with its body; nil at the end of the connection, and for an invalid request.
  private func read(_ buffer: inout [UInt8]) -> ReceivedRequest? {
    let separator = Array("\r\n\r\n".utf8)
    var end = buffer.firstRange(of: separator)
    while end == nil {
      guard receive(&buffer), buffer.count < 1 << 20 else { return nil }
      // This byte begins a TLS handshake, which is answered like any invalid request.
      if buffer.first == 0x16 { return ReceivedRequest(method: "TLS") }
      end = buffer.firstRange(of: separator)
    }
    guard let end, var request = Self.head(buffer[..<end.lowerBound]) else { return nil }
    let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
    while buffer.count < end.upperBound + length { guard receive(&buffer) else { return nil } }
    request.body = Array(buffer[end.upperBound..<end.upperBound + length])
    request.byteCount = end.upperBound + length
    buffer.removeFirst(request.byteCount)
    return request
  }

  private static func head(_ bytes: ArraySlice<UInt8>) -> ReceivedRequest? {
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3 else { return nil }
    var request = ReceivedRequest(method: String(words[0]), path: String(words[1]))
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      request.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    return request
  }

  private func receive(_ buffer: inout [UInt8]) -> Bool {
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else { return false }
    buffer.append(contentsOf: piece[..<count])
    return true
  }

  private func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      sent += count
    }
  }

  private func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// Whether the client closed the connection or sent something within the time.
  @discardableResult
  private func left(within milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, milliseconds) != 0
  }

  private func waitForClient(_ milliseconds: Int32) { left(within: milliseconds) }

  private func drip() {
    for _ in 0..<3000 where !left(within: 5) { send([UInt8(ascii: " ")]) }
  }
}
