// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookAPI
import Logging
import ServiceLifecycle
import UnixSignals

/// The glucoport protocol over HTTP, on a storage. This type and `ServerSettings` are the room's interface.
package struct LogbookServer: Sendable {
  private let storage: any ServerStorage
  private let settings: ServerSettings

  /// A server that is not listening yet.
  package init(_ storage: any ServerStorage, _ settings: ServerSettings) {
    self.storage = storage
    self.settings = settings
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled; then finishes the requests at work. With SIGHUP it
  /// reads its certificate and key again.
  ///
  /// - Parameter onListening: receives where it listens, in the order of the settings, once all of it is there.
  /// - Throws: `Failure`: `unavailable` where an address cannot be listened on, `configuration` for a certificate
  ///   or key that cannot be used.
  package func run(onListening: @escaping @Sendable (_ urls: [String]) async -> Void) async throws {
    let logger = settings.logger()
    // What libraries report is of no use to who runs the server, but for what goes wrong.
    var quiet = logger
    quiet.logLevel = .warning
    let certificate = try settings.tls.map { files throws(Failure) in try ServerCertificate(files) }
    let connections = OpenConnections(
      max: settings.maxConnections, perAddress: settings.maxConnectionsPerAddress)
    let responder = WireResponder(storage, settings, connections, logger)
    let states = ServiceStates(settings.notifier, logger)
    var listeners = Listeners(responder, settings, connections, certificate, quiet) { urls in
      await onListening(urls)
      states.send(.ready)
    }
    // Before anybody knows that there is a server: without it the signal would end the process.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    try await listeners.listen()
    // They are ended in the opposite order.
    var configuration = ServiceGroupConfiguration(
      services: [
        listeners, CertificateReload(hangups, certificate, states, logger), Watchdog(storage, states),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    configuration.maximumGracefulShutdownDuration = settings.shutdownTime
    try await ServiceGroup(configuration: configuration).run()
  }
}

/// What is reported to the service manager, where there is one.
private struct ServiceStates: Sendable {
  let notifier: ServiceNotifier?
  private let logger: Logger

  init(_ notifier: ServiceNotifier?, _ logger: Logger) {
    self.notifier = notifier
    self.logger = logger
  }

  func send(_ state: ServiceNotifier.State) {
    guard let notifier, !notifier.send(state) else { return }
    logger.warning("the service manager cannot be informed")
  }
}

/// Reads certificate and key again with each SIGHUP. Connections go on.
private struct CertificateReload: Service {
  private let hangups: UnixSignalsSequence
  private let certificate: ServerCertificate?
  private let states: ServiceStates
  private let logger: Logger

  init(
    _ hangups: UnixSignalsSequence, _ certificate: ServerCertificate?, _ states: ServiceStates,
    _ logger: Logger
  ) {
    self.hangups = hangups
    self.certificate = certificate
    self.states = states
    self.logger = logger
  }

  func run() async throws {
    for await _ in hangups.cancelOnGracefulShutdown() {
      states.send(.reloading(microseconds: ServiceNotifier.monotonicMicroseconds))
      do throws(Failure) {
        try await certificate?.reload()
        logger.info("reloaded", metadata: ["certificate": "\(certificate == nil ? "none" : "read again")"])
      } catch {
        logger.error("the certificate in use stays", metadata: ["reason": "\(error.message)"])
      }
      states.send(.ready)
    }
  }
}

/// Reports to the service manager that the server works: that its storage answers, be it with an error.
private struct Watchdog: Service {
  private let storage: any ServerStorage
  private let states: ServiceStates

  init(_ storage: any ServerStorage, _ states: ServiceStates) {
    self.storage = storage
    self.states = states
  }

  func run() async throws {
    let interval = states.notifier?.aliveInterval
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        if interval != nil { await report() }
        // Without a watchdog only the end is waited for.
        do { try await Task.sleep(for: interval ?? .seconds(86_400)) } catch { return }
      }
    }
    states.send(.stopping)
  }

  /// A restart mends no storage, whose errors requests report; a storage that hangs never comes to the report.
  private func report() async {
    do throws(ServiceError) {
      _ = try await storage.logins.login(tokenHash: [UInt8](repeating: 0, count: 32))
    } catch {
      guard !Task.isCancelled else { return }
    }
    states.send(.alive)
  }
}
