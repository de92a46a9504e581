// SPDX-License-Identifier: Apache-2.0

/// What one run of an upload reports to a service about itself with every request.
package struct RunStamp: Hashable, Sendable {
  /// The id of this installation, a random UUID.
  package var node: String
  /// Raised by one with every run of the node.
  package var number: Int64
  /// A random UUID of this run, so that two copies of a store never pass for one.
  package var id: String
  /// The logbook that the store was synced with; nil before the first answer.
  package var logbook: String?
  /// The latest position of the service that this store has seen; nil before the first answer.
  ///
  /// Where the node wrote something after it, a copy of the store did, or an answer was lost: the node's own writes are
  /// kept from it, so it needs another id to see them.
  package var lastSeenPosition: String?
  /// Whether a request that reads may also repair what it finds on the service: not in a run that only fetches or compares.
  package var mayRepair: Bool

  /// A run of a node.
  package init(
    node: String, number: Int64, id: String, logbook: String? = nil, lastSeenPosition: String? = nil,
    mayRepair: Bool = true
  ) {
    self.node = node
    self.number = number
    self.id = id
    self.logbook = logbook
    self.lastSeenPosition = lastSeenPosition
    self.mayRepair = mayRepair
  }
}
