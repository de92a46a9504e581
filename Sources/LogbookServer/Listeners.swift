// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPTypes
import HummingbirdCore
import Logbook
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// The listening sockets of a server, and their connections.
struct Listeners: Service {
  private typealias Connections = NIOAsyncChannel<HTTP1Channel.Value, Never>

  private struct Listener: Sendable {
    let connections: Connections
    let channel: HTTP1Channel
    let url: String
  }

  /// The time in which connections from the kernel's queue are set up after accepting ends.
  private static let handoverTime = TimeAmount.milliseconds(100)

  private let responder: WireResponder
  private let settings: ServerSettings
  private let open: OpenConnections
  private let certificate: ServerCertificate?
  private let logger: Logger
  private let announce: @Sendable (_ urls: [String]) async -> Void
  private var listeners: [Listener] = []
  private var unixSockets: [UnixSocket] = []

  init(
    _ responder: WireResponder, _ settings: ServerSettings, _ open: OpenConnections,
    _ certificate: ServerCertificate?, _ logger: Logger,
    announce: @escaping @Sendable (_ urls: [String]) async -> Void
  ) {
    self.announce = announce
    self.responder = responder
    self.settings = settings
    self.open = open
    self.certificate = certificate
    self.logger = logger
  }

  /// Listens on every address, or on none.
  ///
  /// - Throws: `Failure` of category `unavailable` if one address cannot be used.
  mutating func listen() async throws {
    do {
      for socket in settings.systemSockets {
        try await add(
          socket.address, at: socket.isForMetrics ? .metrics : settings.mainPlace,
          descriptor: socket.descriptor)
      }
      for address in settings.addresses { try await add(address, at: settings.mainPlace) }
      if let address = settings.metricsAddress { try await add(address, at: .metrics) }
    } catch {
      for listener in listeners { try await listener.connections.channel.close() }
      removeUnixSockets()
      throw error
    }
  }

  /// Serves connections until the server is asked to stop, then until the open connections end.
  func run() async throws {
    await withGracefulShutdownHandler {
      // The caller may stop the server as soon as it is informed.
      await announce(listeners.map(\.url))
      await withDiscardingTaskGroup { group in
        for listener in listeners { group.addTask { await serve(listener) } }
      }
    } onGracefulShutdown: {
      stopAccepting()
    }
    removeUnixSockets()
  }
}

extension Listeners {
  private mutating func add(
    _ address: ListeningAddress, at place: RequestOrigin.Place, descriptor: Int32? = nil
  ) async throws {
    var descriptor = descriptor
    if descriptor == nil, case .unix(let path) = address {
      let socket = try UnixSocket(path: path, mode: settings.socketMode)
      unixSockets.append(socket)
      descriptor = socket.descriptor
    }
    let channel = channel(at: place)
    let connections = try await Self.failing(
      address, option: place == .metrics ? "--metrics-listen" : "--listen"
    ) {
      try await bind(
        address, descriptor, channel, isEncrypted: certificate != nil && address.takesTLS(at: place))
    }
    let url = address.url(
      port: connections.channel.localAddress?.port,
      isEncrypted: certificate != nil && address.takesTLS(at: place))
    listeners.append(Listener(connections: connections, channel: channel, url: url + place.path))
  }

  private func bind(
    _ address: ListeningAddress, _ descriptor: Int32?, _ channel: HTTP1Channel, isEncrypted: Bool
  ) async throws -> Connections {
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: SOMAXCONN)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: address.isUnix ? 0 : 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
    let certificate = isEncrypted ? certificate : nil
    let setUp: @Sendable (any Channel) -> EventLoopFuture<HTTP1Channel.Value> = { [logger] child in
      guard let certificate else { return channel.setup(channel: child, logger: logger) }
      // The certificate may have been reloaded, so it is read for each connection. Until then nothing is read from the
      // connection.
      return child.eventLoop.makeFutureWithTask { await certificate.context }.flatMapThrowing { context in
        try child.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
      }.flatMap { channel.setup(channel: child, logger: logger) }
    }
    switch (descriptor, address) {
    case (let descriptor?, _):
      let connections = try await bootstrap.bind(descriptor, childChannelInitializer: setUp)
      // Creating the channel has shortened the queue of the shared socket.
      _ = Glibc.listen(descriptor, SOMAXCONN)
      return connections
    case (nil, .network(let host, let port)):
      return try await bootstrap.bind(host: host, port: port, childChannelInitializer: setUp)
    case (nil, .unix(let path)):
      return try await bootstrap.bind(unixDomainSocketPath: path, childChannelInitializer: setUp)
    }
  }

  private func channel(at place: RequestOrigin.Place) -> HTTP1Channel {
    let headTime = TimeAmount(settings.headTime)
    return HTTP1Channel(
      responder: { [responder, settings] request, writer, channel in
        var response = await responder.respond(to: request, from: RequestOrigin(channel, place))
        response.headers[.date] = HTTPDate.text(settings.clock())
        do {
          try await writer.write(response: response.head, body: response.body)
        } catch is HTTPParserError {
          // Without this error the request would be answered a second time.
          throw EndOfConnection()
        }
      },
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionGuard(open, headTime: headTime)],
        idleTimeout: TimeAmount(settings.idleTime),
        httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
          maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 64)))
  }

  private func serve(_ listener: Listener) async {
    await withDiscardingTaskGroup { group in
      do {
        try await listener.connections.executeThenClose { inbound in
          for try await connection in inbound {
            group.addTask { await listener.channel.handle(value: connection, logger: logger) }
          }
        }
      } catch is CancellationError {
        // The server was stopped while connections were open.
      } catch {
        logger.error("cannot accept connections", metadata: ["reason": "\(type(of: error))"])
      }
    }
  }

  /// Stops accepting. Connections in the kernel's queue of a socket of the service manager are for the next process.
  /// Open connections still get answers to requests that have been or are being sent.
  private func stopAccepting() {
    for listener in listeners {
      let channel = listener.connections.channel
      channel.setOption(.autoRead, value: false).whenComplete { _ in
        channel.eventLoop.scheduleTask(in: Self.handoverTime) { channel.close(promise: nil) }
      }
    }
    open.quiesce()
  }

  private func removeUnixSockets() { for socket in unixSockets { socket.remove() } }

  private static func failing<Value>(
    _ address: ListeningAddress, option: String, _ work: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await work()
    } catch let error as IOError {
      let reason = String(cString: strerror(error.errnoCode))
      let advice = error.errnoCode == EADDRINUSE ? "; choose another port with \(option)" : ""
      throw Failure(.unavailable, "cannot listen on \(address.text): \(reason)\(advice)")
    } catch is SocketAddressError.UnknownHost {
      throw Failure(.unavailable, "cannot listen on \(address.text): unknown host name; check \(option)")
    }
  }
}

extension ListeningAddress {
  fileprivate var isUnix: Bool {
    if case .unix = self { true } else { false }
  }

  /// A Unix socket is local to this machine and needs no encryption, and metrics have no personal data.
  fileprivate func takesTLS(at place: RequestOrigin.Place) -> Bool { !isUnix && place != .metrics }

  fileprivate func url(port: Int?, isEncrypted: Bool) -> String {
    guard case .network(let host, let asked) = self else { return text }
    return (isEncrypted ? "https://" : "http://") + ListeningAddress(host: host, port: port ?? asked).text
  }
}
