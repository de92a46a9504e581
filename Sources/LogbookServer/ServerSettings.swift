// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// The settings and limits of a server.
package struct ServerSettings: Sendable {
  /// The addresses on which it listens, in addition to the sockets of the service manager.
  package var addresses: [ListeningAddress]
  /// Listening sockets from the service manager.
  package var systemSockets: [SystemSocket] = []
  /// The mode of the Unix sockets that it creates.
  package var socketMode: mode_t = 0o660
  /// The only address with metrics; nil serves them at all addresses, only to this machine.
  package var metricsAddress: ListeningAddress?
  /// The service manager to which states are reported; nil without one.
  package var notifier: ServiceNotifier?
  /// The certificate; without it, plain HTTP.
  package var tls: ServerTLS?
  /// The host's clock in UTC seconds.
  package var clock: @Sendable () -> Int64
  /// The format of the log.
  package var logFormat = ServerLogFormat.text
  /// Whether the log has only warnings and errors, and no line for each request.
  package var isQuiet = false
  /// The maximum silence on a connection, between requests and within one.
  package var idleTime = Duration.seconds(30)
  /// The time limit for the first request head of a connection.
  package var headTime = Duration.seconds(10)
  /// The time limit for receiving a body.
  package var bodyTime = Duration.seconds(300)
  /// The minimum number of bytes of a body in each `bodyPaceTime`.
  package var bodyPaceBytes = 4 << 10
  /// The interval of `bodyPaceBytes`.
  package var bodyPaceTime = Duration.seconds(5)
  /// The time limit for sending an answer, plus one second for each 16 KiB of it.
  package var answerTime = Duration.seconds(30)
  /// The delay of the answer to a failed login after too many failures.
  package var failedLoginDelay = Duration.milliseconds(500)
  /// The time limit for current requests when the server is asked to stop.
  package var shutdownTime = Duration.seconds(10)
  /// The maximum number of connections. Above it, silent ones are closed.
  package var maxConnections = 256
  /// The maximum number of connections of one address, busy or silent. It is half of all, since all connections through
  /// a proxy have one address.
  package var maxConnectionsPerAddress = 128
  /// The maximum number of concurrent requests. Further ones are answered with 503.
  package var maxRequests = 32
  /// The maximum number of concurrent requests of one login.
  package var maxRequestsPerLogin = 8
  /// The maximum total size of all bodies in use.
  package var maxBytesAtWork = 64 << 20
  /// The maximum total size of answers that clients have not received yet.
  package var maxAnswerBytes = 64 << 20
  /// The maximum size of one attachment's content.
  package var maxContentBytes: Int64 = 25 << 20
  /// The number of failed logins from one address in a minute above which answers are delayed.
  package var maxFailedLogins = 20
  /// The settings of pages for a browser; nil for no pages.
  package var pages: PageSettings?

  package init(
    addresses: [ListeningAddress], tls: ServerTLS? = nil, clock: @escaping @Sendable () -> Int64
  ) {
    self.addresses = addresses
    self.tls = tls
    self.clock = clock
  }
}

extension ServerSettings {
  /// The routes of the main addresses, which depend on whether metrics have a separate address.
  var mainPlace: RequestOrigin.Place {
    metricsAddress == nil && !systemSockets.contains { $0.isForMetrics } ? .everything : .calls
  }
}
