// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The connections of a server. Where there are too many, those that say nothing make room: who holds most of them
/// loses the oldest, so that nobody keeps others out by silence.
///
/// The lock guards the table and nothing else: no call is made while it is held.
final class OpenConnections: Sendable {
  private struct Entry {
    let channel: any Channel
    let address: String
    /// The order in which connections came, or became silent.
    var place: Int
    /// Whether a request is under way on it.
    var isWorking = false
  }

  private struct Table {
    var entries: [ObjectIdentifier: Entry] = [:]
    var last = 0
    var isQuiescing = false
  }

  private let max: Int
  private let table = Mutex(Table())

  init(max: Int) { self.max = max }

  var count: Int { table.withLock { $0.entries.count } }

  /// Takes a connection, and closes another one where there are too many; the new one where all of them work.
  func add(_ channel: any Channel) {
    let address = RequestOrigin.address(of: channel.remoteAddress)
    let surplus: (any Channel)? = table.withLock { table in
      table.last += 1
      var surplus: (any Channel)?
      if table.entries.count >= max {
        let victim = Self.victim(table.entries)
        surplus = victim.map { $0.value.channel } ?? channel
        if let victim { table.entries[victim.key] = nil }
      }
      table.entries[ObjectIdentifier(channel)] = Entry(channel: channel, address: address, place: table.last)
      return surplus
    }
    surplus?.close(promise: nil)
  }

  /// Whether every connection is to end behind the requests that are under way on it.
  var isQuiescing: Bool { table.withLock { $0.isQuiescing } }

  /// Ends every connection behind the requests that are under way on it, those that are still to come here, too.
  func quiesce() {
    let channels = table.withLock { table in
      table.isQuiescing = true
      return table.entries.values.map(\.channel)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  func remove(_ channel: any Channel) { table.withLock { $0.entries[ObjectIdentifier(channel)] = nil } }

  /// A request begins, or its answer is written.
  func note(_ channel: any Channel, isWorking: Bool) {
    table.withLock { table in
      table.last += 1
      table.entries[ObjectIdentifier(channel)]?.isWorking = isWorking
      table.entries[ObjectIdentifier(channel)]?.place = table.last
    }
  }

  /// The oldest silent connection of the address that holds most of them; nil where all work.
  private static func victim(
    _ entries: [ObjectIdentifier: Entry]
  ) -> (key: ObjectIdentifier, value: Entry)? {
    let silent = entries.filter { !$0.value.isWorking }
    var counts: [String: Int] = [:]
    for entry in silent.values { counts[entry.address, default: 0] += 1 }
    guard let most = counts.values.max() else { return nil }
    return silent.filter { counts[$0.value.address] == most }.min { $0.value.place < $1.value.place }
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
    patience?.cancel()
    connections.remove(context.channel)
    context.fireChannelInactive()
  }

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

  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let channel = context.channel
    patience?.cancel()
    patience = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}
