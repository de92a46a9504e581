// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// The settings and limits of a server.
package struct ServerSettings: Sendable {
  /// The addresses on which the server listens, in addition to `systemSockets`.
  package var addresses: [ListeningAddress]
  /// The listening sockets that the service manager passed.
  package var systemSockets: [SystemSocket] = []
  /// The file mode of Unix sockets that the server creates.
  package var socketMode: mode_t = 0o660
  /// The only address that serves metrics. If nil, all addresses serve them, but only to clients on this
  /// machine.
  package var metricsAddress: ListeningAddress?
  /// The service manager to which the server reports its state; nil without one.
  package var notifier: ServiceNotifier?
  /// The files for TLS; nil to serve plain HTTP.
  package var tls: ServerTLS?
  /// The host's clock in UTC seconds.
  package var clock: @Sendable () -> Int64
  package var logFormat = ServerLogFormat.text
  /// Whether the log contains only warnings and errors, without a line for each request.
  package var isQuiet = false
  /// The maximum time without data on a connection, between requests and within a request.
  package var idleTime = Duration.seconds(30)
  /// The time limit for the head of the first request on a connection.
  package var headTime = Duration.seconds(10)
  /// The time limit for receiving a body.
  package var bodyTime = Duration.seconds(300)
  /// The minimum number of bytes of a body that must arrive in each `bodyPaceTime`.
  package var bodyPaceBytes = 4 << 10
  /// The interval for `bodyPaceBytes`.
  package var bodyPaceTime = Duration.seconds(5)
  /// The time limit for sending an answer. One second is added for each 16 KiB of the answer.
  package var answerTime = Duration.seconds(30)
  /// The delay of the answer to a failed login, after too many failures from one address.
  package var failedLoginDelay = Duration.milliseconds(500)
  /// How long current requests may take after the server was asked to stop.
  package var shutdownTime = Duration.seconds(10)
  /// The maximum number of connections. If there are more, silent ones are closed; see `ConnectionTable`.
  package var maxConnections = 256
  /// The maximum number of connections from one address. It is only half of `maxConnections`, since all
  /// connections through one proxy have the same address.
  package var maxConnectionsPerAddress = 128
  /// The maximum number of requests at the same time. Further requests are answered with 503.
  package var maxRequests = 32
  /// The maximum number of requests of one login at the same time.
  package var maxRequestsPerLogin = 8
  /// The maximum number of bytes in all bodies that are being received or processed.
  package var maxBytesAtWork = 64 << 20
  /// The maximum number of bytes in all answers that clients have not received yet.
  package var maxAnswerBytes = 64 << 20
  /// The maximum size of one attachment's content in bytes.
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
  /// The routes that the main addresses serve. These include metrics only if no separate address is set for
  /// metrics.
  var mainRoutes: RequestOrigin.RouteSet {
    metricsAddress == nil && !systemSockets.contains { $0.isForMetrics } ? .everything : .calls
  }
}
