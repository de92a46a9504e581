// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The open connections of a server. It closes the connections that `ConnectionTable` selects.
///
/// The lock protects only the table. While it is held, no function of a channel is called, since that
/// function could need the lock.
final class OpenConnections: Sendable {
  private struct Open {
    var table: ConnectionTable<ObjectIdentifier>
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isQuiescing = false
  }

  private let open: Mutex<Open>

  init(max: Int, perAddress: Int) {
    open = Mutex(Open(table: ConnectionTable(max: max, perAddress: perAddress)))
  }

  /// Adds a connection. If there are too many, it closes one of them.
  func add(_ channel: any Channel) {
    let address = RequestOrigin.address(of: channel.remoteAddress)
    let id = ObjectIdentifier(channel)
    let surplus: (any Channel)? = open.withLock { open in
      guard let surplus = open.table.add(id, from: address) else {
        open.channels[id] = channel
        return nil
      }
      if surplus == id { return channel }
      open.channels[id] = channel
      return open.channels.removeValue(forKey: surplus)
    }
    surplus?.close(promise: nil)
  }

  /// Whether the server is stopping, so that each connection is closed after its current request.
  var isQuiescing: Bool { open.withLock { $0.isQuiescing } }

  /// Begins to stop: closes each connection after its current request, including connections that are added
  /// later.
  func quiesce() {
    let channels = open.withLock { open in
      open.isQuiescing = true
      return Array(open.channels.values)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  func remove(_ channel: any Channel) {
    open.withLock { open in
      open.table.remove(ObjectIdentifier(channel))
      open.channels[ObjectIdentifier(channel)] = nil
    }
  }

  /// Notes that a request begins on a connection, or that its answer has ended.
  func update(_ channel: any Channel, isWorking: Bool) {
    open.withLock { $0.table.update(ObjectIdentifier(channel), isWorking: isWorking) }
  }
}

/// Registers one connection, and closes it if no request head arrives in time. All parts of requests are
/// passed on unchanged.
///
/// A connection that is accepted while the server stops still gets an answer to its first request, which the
/// client may already be sending.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  /// The time limit for the first request of a new connection while the server is stopping.
  private static let lastRequestTime = TimeAmount.seconds(2)

  private let connections: OpenConnections
  private let headTime: TimeAmount
  private var headTimeout: Scheduled<Void>?
  private var closesAfterRequest = false

  init(_ connections: OpenConnections, headTime: TimeAmount) {
    self.connections = connections
    self.headTime = headTime
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connections.add(context.channel)
    wait(headTime, context)
    // The connection was registered above, before this check. So either `quiesce` finds the connection, or
    // this check finds that the server is stopping.
    if connections.isQuiescing { closeAfterRequest(context) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(context)
    context.fireChannelInactive()
  }

  /// Ends a connection whose client disconnects before the connection is set up, since its channel never
  /// becomes inactive.
  func handlerRemoved(context: ChannelHandlerContext) { end(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let headTimeout {
      headTimeout.cancel()
      self.headTimeout = nil
    }
    context.fireChannelRead(data)
    guard closesAfterRequest else { return }
    closesAfterRequest = false
    context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent, headTimeout != nil else {
      return context.fireUserInboundEventTriggered(event)
    }
    closeAfterRequest(context)
  }

  private func closeAfterRequest(_ context: ChannelHandlerContext) {
    closesAfterRequest = true
    wait(min(headTime, Self.lastRequestTime), context)
  }

  private func end(_ context: ChannelHandlerContext) {
    headTimeout?.cancel()
    headTimeout = nil
    connections.remove(context.channel)
  }

  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let channel = context.channel
    headTimeout?.cancel()
    headTimeout = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}

/// Selects a connection to close if there are too many. A connection is silent if no request is in progress.
/// If one address has too many connections, its oldest silent connection is selected. If there are too many
/// in total, the address with the most silent connections loses its oldest silent one. So no client can block
/// others.
struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
  private struct OpenConnection {
    let address: String
    /// A number that increases whenever a connection is opened, or begins or ends a request. The smallest
    /// number marks the oldest connection.
    var place: Int
    /// Whether a request is in progress, so that the connection is not silent.
    var isWorking = false
  }

  private let max: Int
  private let maxPerAddress: Int
  private var entries: [ID: OpenConnection] = [:]
  private var last = 0

  init(max: Int, perAddress: Int) {
    self.max = max
    maxPerAddress = perAddress
  }

  var count: Int { entries.count }

  /// Adds a connection.
  ///
  /// - Returns: the connection to close, which is removed from the table; nil if none must be closed. If none
  ///   of the others is silent, the added connection itself is returned.
  mutating func add(_ id: ID, from address: String) -> ID? {
    last += 1
    let own = entries.filter { $0.value.address == address }
    var surplus: ID?
    if own.count >= maxPerAddress {
      surplus = Self.oldestSilent(own) ?? id
    } else if entries.count >= max {
      surplus = Self.oldestSilent(ofMost: entries) ?? id
    }
    if let surplus { entries[surplus] = nil }
    if surplus != id { entries[id] = OpenConnection(address: address, place: last) }
    return surplus
  }

  mutating func remove(_ id: ID) { entries[id] = nil }

  /// Notes that a request begins on a connection, or that its answer has ended.
  mutating func update(_ id: ID, isWorking: Bool) {
    last += 1
    entries[id]?.isWorking = isWorking
    entries[id]?.place = last
  }

  private static func oldestSilent(_ entries: [ID: OpenConnection]) -> ID? {
    entries.filter { !$0.value.isWorking }.min { $0.value.place < $1.value.place }?.key
  }

  /// The oldest silent connection of the address with the most silent connections; nil if none is silent.
  private static func oldestSilent(ofMost entries: [ID: OpenConnection]) -> ID? {
    let silent = entries.filter { !$0.value.isWorking }
    var counts: [String: Int] = [:]
    for entry in silent.values { counts[entry.address, default: 0] += 1 }
    guard let most = counts.values.max() else { return nil }
    return oldestSilent(silent.filter { counts[$0.value.address] == most })
  }
}
