// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookAPI
import Logging
import ServiceLifecycle
import UnixSignals

/// A server for the glucoport protocol over HTTP, with a storage. This type and `ServerSettings` are the
/// interface of the module.
package struct LogbookServer: Sendable {
  private let storage: any ServerStorage
  private let settings: ServerSettings

  /// A server that does not listen yet.
  package init(_ storage: any ServerStorage, _ settings: ServerSettings) {
    self.storage = storage
    self.settings = settings
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled. Then the server finishes the current
  /// requests. SIGHUP reloads certificate and key.
  ///
  /// - Parameter onListening: receives the URLs, in the order of the settings, as soon as all sockets are
  ///   listening.
  /// - Throws: `Failure`: `unavailable` if an address cannot be used, `configuration` for an unusable
  ///   certificate or key.
  package func run(onListening: @escaping @Sendable (_ urls: [String]) async -> Void) async throws {
    let logger = settings.logger()
    // Only warnings and errors of the libraries are logged. Their other messages do not help administrators.
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
    // The handler is installed before the server is announced, since a SIGHUP without a handler would end the
    // process.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    try await listeners.listen()
    // A service group stops its services in reverse order, so the listeners stop last.
    var configuration = ServiceGroupConfiguration(
      services: [
        listeners, CertificateReload(hangups, certificate, states, logger), Watchdog(storage, states),
        EarlierWork(storage, logger),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    configuration.maximumGracefulShutdownDuration = settings.shutdownTime
    try await ServiceGroup(configuration: configuration).run()
  }
}

/// Reports the states of the server to the service manager, if there is one.
private struct ServiceStates: Sendable {
  let notifier: ServiceNotifier?
  private let logger: Logger

  init(_ notifier: ServiceNotifier?, _ logger: Logger) {
    self.notifier = notifier
    self.logger = logger
  }

  func send(_ state: ServiceNotifier.ServiceState) {
    guard let notifier, !notifier.send(state) else { return }
    logger.warning("the service manager cannot be informed")
  }
}

/// Reloads certificate and key whenever SIGHUP arrives. Open connections are not affected.
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

/// Finishes the work in the storage that an interrupted process left.
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
        logger.warning(
          "earlier work is not finished; the next start continues", metadata: ["reason": "\(error)"])
      }
    }
    // If this service returned, the service group would end all other services. So it waits until the server
    // stops.
    do { try await gracefulShutdown() } catch {
      // The service group was cancelled, so this service ends, too.
    }
  }
}

/// Reports to the service manager that the server responds, as long as its storage answers, even with an
/// error.
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
        // Without a watchdog in the service manager, this service only waits until the server stops. The
        // sleep only throws when it is cancelled.
        do { try await Task.sleep(for: interval ?? .seconds(86_400)) } catch { return }
      }
    }
    states.send(.stopping)
  }

  /// Reports that the server responds, even if the storage returns an error. Answers to requests report such
  /// errors, and a restart would not help. If the storage does not answer at all, nothing is reported.
  private func report() async {
    do throws(ServiceError) {
      try await storage.check()
    } catch {
      guard !Task.isCancelled else { return }
    }
    states.send(.alive)
  }
}
