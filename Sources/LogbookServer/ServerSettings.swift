// SPDX-License-Identifier: Apache-2.0

/// Where a server listens.
package struct ListeningAddress: Hashable, Sendable {
  /// A name or a numeric address, without the brackets of IPv6.
  package var host: String
  /// The port; 0 lets the system choose one.
  package var port: Int

  /// An address of these parts.
  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// The address from `HOST:PORT` or `[IPV6]:PORT`; nil for anything else.
  package init?(text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty else { return nil }
    self.init(host: String(host), port: Int(port))
  }

  /// Whether only this machine can reach it.
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    // All parts are numbers, since a name may begin with an address: 127.0.0.1.example.com.
    let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return parts.count == 4 && parts[0] == 127 && !parts.contains(nil)
  }

  /// The host as a URL has it.
  var urlHost: String { host.contains(":") ? "[\(host)]" : host }
}

/// How a server runs, and how much it bears.
package struct ServerSettings: Sendable {
  /// Where it listens.
  package var address: ListeningAddress
  /// Without it, plain HTTP.
  package var tls: ServerTLS?
  /// The host's clock in UTC seconds.
  package var clock: @Sendable () -> Int64
  /// Whether the log has warnings and errors alone, and no line for each request.
  package var isQuiet = false
  /// How long a connection may say nothing, between requests and within one.
  package var idleTime = Duration.seconds(30)
  /// How long a connection may take until the first head of a request is there.
  package var headTime = Duration.seconds(10)
  /// How long a body may take to arrive.
  package var bodyTime = Duration.seconds(300)
  /// The bytes of a body that have to arrive within each `bodyPaceTime`.
  package var bodyPaceBytes = 4 << 10
  /// How long a body may bring fewer bytes than `bodyPaceBytes`.
  package var bodyPaceTime = Duration.seconds(5)
  /// How long an answer may take until it is sent, beside a second for each 16 KiB of it.
  package var answerTime = Duration.seconds(30)
  /// How long the answer to a failed login is kept back, where there were too many.
  package var failedLoginDelay = Duration.milliseconds(500)
  /// How long requests at work may take when the server is asked to stop.
  package var shutdownTime = Duration.seconds(10)
  /// Where more come, silent ones are closed.
  package var maxConnections = 256
  /// The requests that are worked on at one time; others are answered with 503.
  package var maxRequests = 32
  /// The requests of one login that are worked on at one time.
  package var maxRequestsPerLogin = 8
  /// The bytes of all bodies that are at work at one time.
  package var maxBytesAtWork = 64 << 20
  /// The bytes of answers that clients have not taken yet.
  package var maxAnswerBytes = 64 << 20
  /// The bytes of one attachment's content.
  package var maxContentBytes: Int64 = 25 << 20
  /// Failed logins from one address within a minute, behind which the answer is to wait.
  package var maxFailedLogins = 20
  /// Pages for a browser; nil for none.
  package var pages: PageSettings?

  /// A server at this address, by this clock.
  package init(address: ListeningAddress, tls: ServerTLS? = nil, clock: @escaping @Sendable () -> Int64) {
    self.address = address
    self.tls = tls
    self.clock = clock
  }
}
