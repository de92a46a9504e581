// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logbook
package import LogbookAPI
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The glucoport protocol over HTTP, on a storage. This type and `ServerSettings` are the room's interface.
package struct LogbookServer: Sendable {
  private let storage: any ServerStorage
  private let settings: ServerSettings

  /// A server that is not listening yet.
  package init(_ storage: any ServerStorage, _ settings: ServerSettings) {
    self.storage = storage
    self.settings = settings
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled; then finishes the requests at work.
  ///
  /// - Parameter onListening: receives the address, once there is one.
  /// - Throws: `Failure`: `unavailable` where the address cannot be listened on, `configuration` for a certificate
  ///   or key that cannot be used.
  package func run(onListening: @escaping @Sendable (_ url: String) async -> Void) async throws {
    // Structured lines on standard error, which the system's journal takes.
    var logger = Logger(label: "glucoport") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = settings.isQuiet ? .warning : .info
    let connections = OpenConnections(max: settings.maxConnections)
    let responder = WireResponder(storage, settings, connections, logger)
    let scheme = settings.tls == nil ? "http" : "https"
    let host = settings.address.urlHost
    // What Hummingbird itself reports is of no use to who runs the server, but for what goes wrong.
    logger.logLevel = .warning
    let application = Application(
      responder: responder, server: try builder(connections),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.address.host, port: settings.address.port)),
      onServerRunning: { channel in
        await onListening("\(scheme)://\(host):\(channel.localAddress?.port ?? 0)")
      }, logger: logger)
    var configuration = ServiceGroupConfiguration(
      services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    configuration.maximumGracefulShutdownDuration = settings.shutdownTime
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch let error as IOError {
      let reason = String(cString: strerror(error.errnoCode))
      let advice = error.errnoCode == EADDRINUSE ? "; choose another port with --listen" : ""
      throw Failure(
        .unavailable, "cannot listen on \(host):\(settings.address.port): \(reason)\(advice)")
    } catch is SocketAddressError.UnknownHost {
      throw Failure(
        .unavailable, "cannot listen on \(host):\(settings.address.port): unknown host name; check --listen")
    }
  }
}

extension LogbookServer {
  private func builder(_ connections: OpenConnections) throws -> HTTPServerBuilder {
    let headTime = TimeAmount(settings.headTime)
    let plain = HTTPServerBuilder.http1(
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionGuard(connections, headTime: headTime)],
        idleTimeout: TimeAmount(settings.idleTime),
        httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
          maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 64)))
    guard let tls = settings.tls else { return plain }
    return try .tls(plain, tlsConfiguration: try tls.configuration())
  }
}
