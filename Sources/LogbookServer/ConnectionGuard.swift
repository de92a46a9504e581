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
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  private let connections: OpenConnections
  private let headTime: TimeAmount
  private var patience: Scheduled<Void>?

  init(_ connections: OpenConnections, headTime: TimeAmount) {
    self.connections = connections
    self.headTime = headTime
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    connections.add(channel)
    patience = context.eventLoop.scheduleTask(in: headTime) { channel.close(promise: nil) }
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
  }
}
