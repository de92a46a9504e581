// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import LogbookAPI
import LogbookServer
import ServerStore
import Testing

/// The answer of a server.
struct Reply: Sendable {
  let status: Int
  let headers: [String: String]
  let body: [UInt8]

  var error: ErrorBody? {
    do { return try ErrorBody(body) } catch { return nil }
  }

  /// Parses an answer; nil if it has no complete head.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count > 1, let status = Int(words[1]) else { return nil }
    self.status = status
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
        in: .whitespaces)
    }
    self.headers = headers
    body = Array(bytes[end.upperBound...])
  }
}

/// A server on a real socket, and what a client needs to reach it.
struct Peer: Sendable {
  let port: UInt16
  let storage: EmbeddedStorage
  let login: Login

  static let writeToken = "gp_write"
  static let readToken = "gp_read"
  /// The token of another logbook.
  static let otherToken = "gp_other"
  static let run = [
    "Glucoport-Node: 00000000-0000-4000-8000-000000000001",
    "Glucoport-Run: 1 00000000-0000-4000-8000-000000000002",
  ]

  /// The logbook that the tests' login can access, with the permissions of the login.
  var logbook: any LogbookService { storage.logbook(for: login) }

  /// Runs a server, and passes it to `body`.
  static func with(
    quota: LogbookQuota = LogbookQuota(), _ adjust: (inout ServerSettings) -> Void = { _ in },
    _ body: @Sendable (Peer) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-peer-\(UUID().uuidString)")
    let logins = try Logins(folder: folder.path)
    try logins.add(name: "Anna", role: .write, logbook: "Anna's", token: LoginToken(writeToken), at: 0)
    try logins.add(name: "reader", role: .read, logbook: nil, token: LoginToken(readToken), at: 0)
    try logins.add(
      name: "Berta", role: .write, logbook: "Berta's", token: LoginToken(otherToken), at: 0)
    try logins.close()
    let storage = try EmbeddedStorage(folder: folder.path, quota: quota)
    var settings = ServerSettings(addresses: [ListeningAddress(host: "127.0.0.1", port: 0)]) { 1_795_219_200 }
    settings.isQuiet = true
    adjust(&settings)
    let server = LogbookServer(storage, settings)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (urls, continuation) = AsyncStream.makeStream(of: String.self)
      group.addTask { try await server.run { continuation.yield($0[0]) } }
      var iterator = urls.makeAsyncIterator()
      let url = await iterator.next() ?? ""
      let login = try #require(try await storage.logins.login(tokenHash: LoginToken(writeToken).hash))
      try await body(
        Peer(port: UInt16(url.split(separator: ":").last ?? "") ?? 0, storage: storage, login: login))
      group.cancelAll()
    }
    try await storage.close()
    try FileManager.default.removeItem(at: folder)
  }

  /// Sends a request with a JSON body, and returns the answer.
  func send(
    _ method: String, _ path: String, token: String? = writeToken, headers: [String] = run,
    body: [UInt8]? = nil
  ) async throws -> Reply? {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
    if let token { lines.append("Authorization: Bearer \(token)") }
    if let body {
      lines.append("Content-Length: \(body.count)")
      if !headers.contains(where: { $0.hasPrefix("Content-Type") }) {
        lines.append("Content-Type: application/json")
      }
    }
    let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    return Reply(try await session([head + (body ?? [])]))
  }

  /// The status of the answer to a request; nil if the connection was closed without an answer.
  func status(
    _ method: String, _ path: String, token: String? = writeToken, headers: [String] = run,
    body: [UInt8]? = nil
  ) async throws -> Int? {
    try await send(method, path, token: token, headers: headers, body: body)?.status
  }

  /// Sends pieces with a pause after each, and returns everything received until the server closes the
  /// connection.
  ///
  /// This function uses a separate thread: a blocking call would occupy one of the few threads that the
  /// server's tasks share.
  func session(_ pieces: [[UInt8]], pauseMilliseconds: UInt32 = 0) async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [port] in
        continuation.resume(with: Result { try Self.session(port, pieces, pauseMilliseconds) })
      }
    }
  }

  /// Opens connections, sends a text on each, and reads nothing. The caller closes them.
  ///
  /// - Parameter source: the last number of their source address, 127.0.0.x.
  func hold(_ count: Int, sending text: String = "", from source: UInt8 = 1) throws -> [Int32] {
    try (0..<count).map { _ in
      let descriptor = try Self.connection(port, from: source)
      let bytes = Array(text.utf8)
      if !bytes.isEmpty { #expect(write(descriptor, bytes, bytes.count) == bytes.count) }
      return descriptor
    }
  }

  private static func connection(_ port: UInt16, from source: UInt8 = 1) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var room: Int32 = 4096
    if source != 1 {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
      var own = sockaddr_in()
      own.sin_family = sa_family_t(AF_INET)
      own.sin_addr.s_addr = (UInt32(0x7F00_0000) + UInt32(source)).bigEndian
      let bound = withUnsafePointer(to: &own) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard bound == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return descriptor
  }

  private static func session(_ port: UInt16, _ pieces: [[UInt8]], _ pause: UInt32) throws -> [UInt8] {
    let descriptor = try connection(port)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    for piece in pieces {
      // A server may refuse by closing the connection, so the write may fail. NIO ignores SIGPIPE for the
      // whole process.
      guard write(descriptor, piece, piece.count) >= 0 else { break }
      if pause > 0 { usleep(pause * 1000) }
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN { throw POSIXError(.ETIMEDOUT) }
      guard count > 0 else { return answer }
      answer += buffer[..<count]
    }
  }
}

/// Readings and changes of records that tests send to the server.
enum Sample {
  static func history(_ count: Int) -> ReadingBatch {
    let readings = (0..<count).map { number in
      var reading = Reading(
        device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: 1_700_000_000 + Int64(number) * 300),
        placement: Placement(utcOffset: 3600, source: .zone),
        .value(Quantity(Double(60 + number % 200), .milligramsPerDecilitre)), line: 0)
      reading.occurrenceIsStated = true
      return reading
    }
    return ReadingBatch(
      devices: [Device(vendor: "Abbott", model: "Libre 3", serial: "SECRET-SERIAL", format: "libreview")],
      readings: readings)
  }

  static let guid = "11111111-2222-4333-8444-555555555555"

  static func change(_ text: String, base: String? = nil, version: Int = 1) -> RecordChange {
    RecordChange(
      guid: guid, node: guid, version: version, base: base,
      state: RecordState(
        kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: 0),
        placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields(["text": .text(text)]),
        isDeleted: false))
  }
}
