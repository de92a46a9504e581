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

/// Listens on the addresses of a server and serves their connections.
struct Listeners: Service {
  private typealias Connections = NIOAsyncChannel<HTTP1Channel.Value, Never>

  private struct Listener: Sendable {
    let connections: Connections
    let channel: HTTP1Channel
    let url: String
  }

  /// The time for accepting connections that are still in the kernel's queue when the server stops.
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

  /// Listens on all addresses. If listening on one address fails, the sockets of all others are closed.
  ///
  /// - Throws: `Failure` of category `unavailable` if one address cannot be used.
  mutating func listen() async throws {
    do {
      for socket in settings.systemSockets {
        try await add(
          socket.address, serving: socket.isForMetrics ? .metrics : settings.mainRoutes,
          descriptor: socket.descriptor)
      }
      for address in settings.addresses { try await add(address, serving: settings.mainRoutes) }
      if let address = settings.metricsAddress { try await add(address, serving: .metrics) }
    } catch {
      for listener in listeners { try await listener.connections.channel.close() }
      removeUnixSockets()
      throw error
    }
  }

  /// Serves connections until the server is asked to stop, and then until all open connections have ended.
  func run() async throws {
    await withGracefulShutdownHandler {
      // The URLs are announced only when the server can be stopped, since the caller may stop it as soon as
      // it receives them.
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
    _ address: ListeningAddress, serving routes: RequestOrigin.RouteSet, descriptor: Int32? = nil
  ) async throws {
    var descriptor = descriptor
    if descriptor == nil, case .unix(let path) = address {
      let socket = try UnixSocket(path: path, mode: settings.socketMode)
      unixSockets.append(socket)
      descriptor = socket.descriptor
    }
    let channel = channel(serving: routes)
    let connections = try await Self.failing(
      address, option: routes == .metrics ? "--metrics-listen" : "--listen"
    ) {
      try await bind(
        address, descriptor, channel, isEncrypted: certificate != nil && address.usesTLS(serving: routes))
    }
    let url = address.url(
      port: connections.channel.localAddress?.port,
      isEncrypted: certificate != nil && address.usesTLS(serving: routes))
    listeners.append(Listener(connections: connections, channel: channel, url: url + routes.path))
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
      // The certificate is read for each connection, since it may have been reloaded. No data is read from
      // the connection before the certificate is set.
      return child.eventLoop.makeFutureWithTask { await certificate.context }.flatMapThrowing { context in
        try child.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
      }.flatMap { channel.setup(channel: child, logger: logger) }
    }
    switch (descriptor, address) {
    case (let descriptor?, _):
      let connections = try await bootstrap.bind(descriptor, childChannelInitializer: setUp)
      // Creating the channel has shortened the socket's queue, which this process shares with the service
      // manager. This call restores the length.
      _ = Glibc.listen(descriptor, SOMAXCONN)
      return connections
    case (nil, .network(let host, let port)):
      return try await bootstrap.bind(host: host, port: port, childChannelInitializer: setUp)
    case (nil, .unix(let path)):
      return try await bootstrap.bind(unixDomainSocketPath: path, childChannelInitializer: setUp)
    }
  }

  private func channel(serving routes: RequestOrigin.RouteSet) -> HTTP1Channel {
    let headTime = TimeAmount(settings.headTime)
    return HTTP1Channel(
      responder: { [responder, settings] request, writer, channel in
        var response = await responder.respond(to: request, from: RequestOrigin(channel, routes))
        response.headers[.date] = HTTPText.date(settings.clock())
        do {
          try await writer.write(response: response.head, body: response.body)
        } catch is HTTPParserError {
          // Without this error, the server library would answer the request a second time.
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
        // The server was stopped while connections were open. This is not an error.
      } catch {
        logger.error("cannot accept connections", metadata: ["reason": "\(type(of: error))"])
      }
    }
  }

  /// Stops accepting connections. If the socket belongs to the service manager, connections in its queue wait
  /// for the next server process. Open connections still get answers to requests that were sent or are being
  /// sent.
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

  /// Whether TLS is used at an address. A Unix socket is local to this machine, and metrics have no personal
  /// data.
  fileprivate func usesTLS(serving routes: RequestOrigin.RouteSet) -> Bool { !isUnix && routes != .metrics }

  fileprivate func url(port: Int?, isEncrypted: Bool) -> String {
    guard case .network(let host, let asked) = self else { return text }
    return (isEncrypted ? "https://" : "http://") + ListeningAddress(host: host, port: port ?? asked).text
  }
}

/// A listening Unix socket in the file system. This process created it, and removes it when it ends.
struct UnixSocket: Sendable {
  let descriptor: Int32
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Creates the socket and listens. If the path has a socket on which no process listens, it is replaced.
  ///
  /// - Throws: `Failure`: `unavailable` if another process listens there, or if the path has a file that is
  ///   not a socket.
  init(path: String, mode: mode_t) throws(Failure) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    do throws(Failure) {
      try Self.bind(descriptor, path)
      // The mode is set before listening, since the umask determined the mode until here, and might have
      // admitted other clients.
      var status = stat()
      guard chmod(path, mode) == 0, lstat(path, &status) == 0, listen(descriptor, SOMAXCONN) == 0 else {
        throw Self.failure(path, errno)
      }
      self.descriptor = descriptor
      self.path = path
      device = status.st_dev
      inode = status.st_ino
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Removes the socket from the file system. If another process has replaced the socket, nothing is removed.
  func remove() {
    var status = stat()
    if lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode { unlink(path) }
  }

  private static func bind(_ descriptor: Int32, _ path: String) throws(Failure) {
    if call(Glibc.bind, descriptor, path) == 0 { return }
    guard errno == EADDRINUSE else { throw failure(path, errno) }
    guard isStale(path) else { throw failure(path, EADDRINUSE) }
    guard unlink(path) == 0, call(Glibc.bind, descriptor, path) == 0 else { throw failure(path, errno) }
  }

  /// Whether the path is a socket on which no process listens. Only a connection that the kernel refuses
  /// proves this. If the kernel reports a full queue, a process listens.
  private static func isStale(_ path: String) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return call(connect, descriptor, path) != 0 && errno == ECONNREFUSED
  }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ path: String
  ) -> Int32 {
    guard var address = sockaddr_un(path: path) else {
      errno = ENAMETOOLONG
      return -1
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ path: String, _ code: Int32) -> Failure {
    let reason = String(cString: strerror(code))
    let advice =
      code == EADDRINUSE
      ? "; another program listens there, or the file is not a socket: choose another path" : ""
    return Failure(.unavailable, "cannot listen on unix:\(path): \(reason)\(advice)")
  }
}

extension sockaddr_un {
  /// The address of a path, or of an abstract name after `@`; nil if it is too long.
  init?(path: String, isAbstract: Bool = false) {
    var bytes = Array(path.utf8)
    if isAbstract { bytes[0] = 0 }
    guard bytes.count <= ListeningAddress.maxPathBytes else { return nil }
    self.init()
    sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: bytes) }
  }
}
