// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import NIOHTTP1

/// Sends one request on a separate connection, without another thread, a connection pool or encryption. It is
/// only used for a numeric address without encryption. A run that finds nothing new makes only this request,
/// and ends sooner if no connection pool is created for it.
///
/// The exchange blocks the thread of its caller.
struct DirectExchange: Sendable {
  /// The maximum length of an answer's head, in bytes.
  private static let maxHeadBytes = 64 << 10
  /// The interval at which the exchange checks whether the task was cancelled, while it waits for the socket.
  private static let slice = Duration.milliseconds(500)

  private let address: RemoteAddress
  private let limits: ExchangeLimits

  /// Nil if the address needs encryption, or if its host must be resolved by a name server.
  init?(_ address: RemoteAddress, limits: ExchangeLimits) {
    guard !address.isEncrypted, Socket.isNumeric(address.hostName) else { return nil }
    (self.address, self.limits) = (address, limits)
  }

  /// The answer to a request without a body. The answer's body is not decompressed. Nil if no connection was
  /// made, or if only the HTTP client can read the format of the answer. In these cases, the HTTP client
  /// sends the request again. This is safe, since a request without a body changes nothing on the remote.
  func answer(
    to path: String, _ headers: HTTPHeaders, until end: ContinuousClock.Instant, _ traffic: Traffic
  ) throws(ServiceError) -> ExchangeAnswer? {
    guard let request = Self.head(of: path, headers, address),
      let socket = Socket(host: address.hostName, port: address.port)
    else { return nil }
    defer { socket.close() }
    guard try isConnected(socket, until: min(end, .now + limits.connect)) else { return nil }
    traffic.addRequest(bytes: 0)
    try send(request, socket, end)
    var bytes: [UInt8] = []
    while true {
      if let head = AnswerHead(bytes) {
        // An interim answer (status 1xx) is skipped. The actual answer follows it.
        if (100..<200).contains(head.status), head.status != 101 {
          bytes.removeFirst(head.byteCount)
          continue
        }
        guard let length = head.bodyBytes else { return nil }
        guard length <= limits.bodyBytes else { throw address.tooLong(limits) }
        bytes.removeFirst(head.byteCount)
        while bytes.count < length { try receive(&bytes, socket, end) }
        guard bytes.count == length else { return nil }
        return ExchangeAnswer(status: head.status, headers: head.headers, body: bytes)
      }
      guard bytes.count < Self.maxHeadBytes, !AnswerHead.isComplete(bytes),
        bytes.prefix(5).elementsEqual("HTTP/".utf8.prefix(bytes.count))
      else { return nil }
      try receive(&bytes, socket, end)
    }
  }

  /// The bytes of the request; nil if a text in it contains characters that would end a line.
  private static func head(of path: String, _ headers: HTTPHeaders, _ address: RemoteAddress) -> [UInt8]? {
    var lines = ["GET \(address.text.dropFirst("http://\(address.host)".count))\(path) HTTP/1.1"]
    lines.append("Host: \(address.host)")
    lines += headers.map { "\($0.name): \($0.value)" }
    lines.append("Connection: close")
    let isClean = lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    // A space in the path would end the path in the request line early.
    guard isClean, !path.utf8.contains(0x20), !address.text.utf8.contains(0x20) else { return nil }
    return Array(lines.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8)
  }
}

extension DirectExchange {
  private func isConnected(
    _ socket: Socket, until end: ContinuousClock.Instant
  ) throws(ServiceError) -> Bool {
    guard try wait(for: POLLOUT, socket, end) else {
      throw address.unavailable("cannot connect: connection timed out")
    }
    return socket.isConnected
  }

  private func send(
    _ request: [UInt8], _ socket: Socket, _ end: ContinuousClock.Instant
  ) throws(ServiceError) {
    var rest = request[...]
    while !rest.isEmpty {
      guard try wait(for: POLLOUT, socket, min(end, .now + limits.idle)) else {
        throw address.unavailable("it did not accept the request in time")
      }
      rest = rest.dropFirst(try moved(socket.send(rest)))
    }
  }

  private func receive(
    _ bytes: inout [UInt8], _ socket: Socket, _ end: ContinuousClock.Instant
  ) throws(ServiceError) {
    guard try wait(for: POLLIN, socket, min(end, .now + limits.idle)) else {
      throw address.unavailable("it did not answer in time")
    }
    let isFirst = bytes.isEmpty
    let count = try moved(socket.receive(&bytes))
    if count == 0, socket.isAtEnd {
      throw address.unavailable(
        isFirst ? "it closed the connection without an answer" : "connection lost during the answer")
    }
  }

  /// The number of bytes that were sent or received; 0 if the socket was not ready.
  private func moved(_ result: Result<Int, Socket.Problem>) throws(ServiceError) -> Int {
    switch result {
    case .success(let count): return count
    case .failure(let problem):
      if [EAGAIN, EINTR].contains(problem.code) { return 0 }
      throw address.unavailable("connection lost: \(String(cString: strerror(problem.code)))")
    }
  }

  /// Waits until the socket is ready. Returns false if the time limit passes first.
  private func wait(
    for events: Int32, _ socket: Socket, _ end: ContinuousClock.Instant
  ) throws(ServiceError) -> Bool {
    while true {
      if Task.isCancelled { throw address.unavailable("the exchange was cancelled") }
      let left = end - .now
      guard left > .zero else { return false }
      if socket.isReady(for: events, within: min(left, Self.slice)) { return true }
    }
  }
}

/// The beginning of an answer in HTTP/1.1, up to its body.
struct AnswerHead {
  let status: Int
  let headers: HTTPHeaders
  /// The length of the head in bytes, including the empty line at its end.
  let byteCount: Int

  /// Whether the bytes contain a complete head, valid or not.
  static func isComplete(_ bytes: [UInt8]) -> Bool { end(in: bytes) != nil }

  /// Nil if the bytes do not begin with a complete and valid head of an answer.
  init?(_ bytes: [UInt8]) {
    guard let end = Self.end(in: bytes),
      let text = String(validating: bytes[..<(end - 4)], as: UTF8.self)
    else { return nil }
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    guard let first = lines.popFirst(), let status = Self.status(first) else { return nil }
    var headers = HTTPHeaders()
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
        parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else { return nil }
      let value = parts[1].drop { $0 == " " || $0 == "\t" }
      headers.add(name: String(parts[0]), value: String(value[..<Self.trimmedEnd(value)]))
    }
    (self.status, self.headers, byteCount) = (status, headers, end)
  }

  /// The length of the body in bytes; nil if it is missing or stated more than once.
  var bodyBytes: Int? {
    // Answers with these statuses have no body, whatever their headers state.
    if status == 204 || status == 304 { return 0 }
    let lengths = headers["Content-Length"]
    guard headers["Transfer-Encoding"].isEmpty, lengths.count == 1,
      lengths[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(lengths[0])
  }

  private static func status(_ line: Substring) -> Int? {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", parts[1].utf8.count == 3,
      let status = Int(parts[1]), (100...999).contains(status)
    else { return nil }
    return status
  }

  private static func trimmedEnd(_ value: Substring) -> Substring.Index {
    value.lastIndex { $0 != " " && $0 != "\t" }.map(value.index(after:)) ?? value.startIndex
  }

  /// The index of the first byte after the empty line that ends the head; nil if there is none.
  private static func end(in bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    for place in 0...(bytes.count - 4)
    where bytes[place] == 0x0D && bytes[place + 1] == 0x0A && bytes[place + 2] == 0x0D
      && bytes[place + 3] == 0x0A
    {
      return place + 4
    }
    return nil
  }
}

/// A connection to a numeric address. Only `isReady` waits; the other functions never block.
private final class Socket {
  struct Problem: Error {
    let code: Int32
  }

  private let descriptor: Int32
  /// Whether the remote has closed its direction of the connection.
  private(set) var isAtEnd = false

  static func isNumeric(_ host: String) -> Bool {
    var (four, six) = (in_addr(), in6_addr())
    return inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1
  }

  /// Begins to connect; nil if this fails at once.
  init?(host: String, port: Int) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0, let list else { return nil }
    defer { freeaddrinfo(list) }
    let found = list.pointee
    descriptor = socket(
      found.ai_family, found.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
      found.ai_protocol)
    guard descriptor >= 0 else { return nil }
    guard connect(descriptor, found.ai_addr, found.ai_addrlen) == 0 || errno == EINPROGRESS else {
      Glibc.close(descriptor)
      return nil
    }
  }

  /// Whether the connection was made successfully.
  var isConnected: Bool {
    var (code, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 && code == 0
  }

  func isReady(for events: Int32, within time: Duration) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&entry, 1, Int32((time / .milliseconds(1)).rounded(.up))) > 0
  }

  func send(_ bytes: ArraySlice<UInt8>) -> Result<Int, Problem> {
    let count = bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    return count < 0 ? .failure(Problem(code: errno)) : .success(count)
  }

  /// Appends the bytes that have arrived, and returns their number.
  func receive(_ bytes: inout [UInt8]) -> Result<Int, Problem> {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0 { return .failure(Problem(code: errno)) }
    isAtEnd = count == 0
    bytes.append(contentsOf: buffer[..<count])
    return .success(count)
  }

  func close() { Glibc.close(descriptor) }
}
