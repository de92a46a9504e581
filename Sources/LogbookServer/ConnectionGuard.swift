// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The connections of a server, which closes those that `ConnectionTable` names.
///
/// The lock guards the table and nothing else: no call is made while it is held.
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

  /// Takes a connection, and closes one where there are too many.
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

  /// Whether every connection is to end behind the requests that are under way on it.
  var isQuiescing: Bool { open.withLock { $0.isQuiescing } }

  /// Ends every connection behind the requests that are under way on it, those that are still to come here, too.
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

  /// A request begins, or its answer is written.
  func note(_ channel: any Channel, isWorking: Bool) {
    open.withLock { $0.table.note(ObjectIdentifier(channel), isWorking: isWorking) }
  }
}

/// Enters one connection among the open ones, and ends it where no head of a request comes in time. What it passes on are
/// parts of requests: the first of them is a head.
///
/// When the server stops, a connection that is new gets an answer to the request that its client is just sending.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  /// How long the first request of a new connection may take to come when the server stops.
  private static let lastRequestTime = TimeAmount.seconds(2)

  private let connections: OpenConnections
  private let headTime: TimeAmount
  private var patience: Scheduled<Void>?
  private var endsBehindRequest = false

  init(_ connections: OpenConnections, headTime: TimeAmount) {
    self.connections = connections
    self.headTime = headTime
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connections.add(context.channel)
    wait(headTime, context)
    // In this order: whoever stops the server sees the connection, or the connection sees that.
    if connections.isQuiescing { endBehindRequest(context) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(context)
    context.fireChannelInactive()
  }

  /// A connection whose client is gone before it is set up was never active, so that it does not become inactive.
  func handlerRemoved(context: ChannelHandlerContext) { end(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let patience {
      patience.cancel()
      self.patience = nil
    }
    context.fireChannelRead(data)
    guard endsBehindRequest else { return }
    endsBehindRequest = false
    context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent, patience != nil else {
      return context.fireUserInboundEventTriggered(event)
    }
    endBehindRequest(context)
  }

  private func endBehindRequest(_ context: ChannelHandlerContext) {
    endsBehindRequest = true
    wait(min(headTime, Self.lastRequestTime), context)
  }

  private func end(_ context: ChannelHandlerContext) {
    patience?.cancel()
    patience = nil
    connections.remove(context.channel)
  }

  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let channel = context.channel
    patience?.cancel()
    patience = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}
