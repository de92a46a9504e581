// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#endif

/// How a server runs, and how much it bears.
package struct ServerSettings: Sendable {
  /// Where it listens, beside the sockets that the service manager passed.
  package var addresses: [ListeningAddress]
  /// Sockets that listen already.
  package var systemSockets: [SystemSocket] = []
  /// Who may use the Unix sockets that it makes.
  package var socketMode: mode_t = 0o660
  /// Where it serves the metrics, and then nowhere else; nil for the addresses of everything, to this machine alone.
  package var metricsAddress: ListeningAddress?
  /// The service manager that hears of the server's states; nil without one.
  package var notifier: ServiceNotifier?
  /// Without it, plain HTTP.
  package var tls: ServerTLS?
  /// The host's clock in UTC seconds.
  package var clock: @Sendable () -> Int64
  /// How the lines of the log are written.
  package var logFormat = ServerLogFormat.text
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
  /// The connections of one address, whatever they do. Half of all, since a proxy brings everybody's from one address.
  package var maxConnectionsPerAddress = 128
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

  /// A server at these addresses, by this clock.
  package init(
    addresses: [ListeningAddress], tls: ServerTLS? = nil, clock: @escaping @Sendable () -> Int64
  ) {
    self.addresses = addresses
    self.tls = tls
    self.clock = clock
  }
}

extension ServerSettings {
  /// What is served where the metrics have no place of their own, or have one.
  var mainPlace: RequestOrigin.Place {
    metricsAddress == nil && !systemSockets.contains { $0.isForMetrics } ? .everything : .calls
  }
}
