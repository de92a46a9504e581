// SPDX-License-Identifier: Apache-2.0

/// Where a server listens.
public struct ListeningAddress: Hashable, Sendable {
  /// A name or a numeric address, without the brackets of IPv6.
  public var host: String
  /// The port; 0 lets the system choose one.
  public var port: Int

  /// An address of these parts.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// The address from `HOST:PORT` or `[IPV6]:PORT`; nil for anything else.
  public init?(text: String) {
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
  public var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && host.split(separator: ".").compactMap { UInt8($0) }.count == 4)
  }

  /// The host as a URL has it.
  var urlHost: String { host.contains(":") ? "[\(host)]" : host }
}

/// The files by which a server proves who it is.
public struct ServerTLS: Hashable, Sendable {
  /// The certificate and those that signed it, PEM.
  public var certificateFile: String
  /// Its private key, PEM.
  public var keyFile: String

  /// A certificate and its key.
  public init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}

/// How a server runs, and how much it bears.
public struct ServerSettings: Sendable {
  /// Where it listens.
  public var address: ListeningAddress
  /// Without it, plain HTTP.
  public var tls: ServerTLS?
  /// The host's clock in UTC seconds.
  public var clock: @Sendable () -> Int64
  /// Whether the log has warnings and errors alone, and no line for each request.
  public var isQuiet = false
  /// How long a connection may say nothing, between requests and within one.
  public var idleTime = Duration.seconds(30)
  /// How long a body may take to arrive.
  public var bodyTime = Duration.seconds(300)
  /// How long requests at work may take when the server is asked to stop.
  public var shutdownTime = Duration.seconds(10)
  /// Further connections wait.
  public var maxConnections = 256
  /// The bytes of all bodies that are at work at one time.
  public var maxBytesAtWork = 64 << 20
  /// The bytes of one attachment's content.
  public var maxContentBytes: Int64 = 25 << 20
  /// Failed logins from one address within a minute, behind which the answer is to wait.
  public var maxFailedLogins = 20

  /// A server at this address, by this clock.
  public init(address: ListeningAddress, tls: ServerTLS? = nil, clock: @escaping @Sendable () -> Int64) {
    self.address = address
    self.tls = tls
    self.clock = clock
  }
}
