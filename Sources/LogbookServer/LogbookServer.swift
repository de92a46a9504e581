// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookAPI
import Logging
import ServiceLifecycle
import UnixSignals

/// The glucoport protocol over HTTP, with a storage. This type and `ServerSettings` are the room's interface.
package struct LogbookServer: Sendable {
  private let storage: any ServerStorage
  private let settings: ServerSettings

  package init(_ storage: any ServerStorage, _ settings: ServerSettings) {
    self.storage = storage
    self.settings = settings
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled, then finishes current requests. SIGHUP reloads
  /// certificate and key.
  ///
  /// - Parameter onListening: receives the URLs in the order of the settings, once all sockets listen.
  /// - Throws: `Failure`: `unavailable` if an address cannot be used, `configuration` for an unusable certificate or key.
  package func run(onListening: @escaping @Sendable (_ urls: [String]) async -> Void) async throws {
    let logger = settings.logger()
    // Libraries log only errors: the rest is of no use to administrators.
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
    // Set up before the server is announced: without a handler SIGHUP would end the process.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    try await listeners.listen()
    // The services are stopped in reverse order.
    var configuration = ServiceGroupConfiguration(
      services: [
        listeners, CertificateReload(hangups, certificate, states, logger), Watchdog(storage, states),
        EarlierWork(storage, logger),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    configuration.maximumGracefulShutdownDuration = settings.shutdownTime
    try await ServiceGroup(configuration: configuration).run()
  }
}

/// Reports states to the service manager, if there is one.
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

/// Reloads certificate and key at each SIGHUP. Open connections continue.
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

/// Finishes what an interrupted process left in the storage.
private struct EarlierWork: Service {
  private let storage: any ServerStorage
  private let logger: Logger

  init(_ storage: any ServerStorage, _ logger: Logger) {
    self.storage = storage
    self.logger = logger
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      do throws(ServiceError) {
        try await storage.finishEarlierWork()
      } catch {
        logger.warning("earlier work is not finished; the next start continues")
      }
    }
    // A service that returns would end the group.
    do { try await gracefulShutdown() } catch {
      // The group was cancelled.
    }
  }
}

/// Reports to the service manager that the server responds: that its storage answers, even with an error.
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
        // Without a watchdog, only wait for the end.
        do { try await Task.sleep(for: interval ?? .seconds(86_400)) } catch { return }
      }
    }
    states.send(.stopping)
  }

  /// Reports even if the storage fails: requests report such errors, and a restart would not help. A hanging storage
  /// prevents the report.
  private func report() async {
    do throws(ServiceError) {
      try await storage.check()
    } catch {
      guard !Task.isCancelled else { return }
    }
    states.send(.alive)
  }
}
