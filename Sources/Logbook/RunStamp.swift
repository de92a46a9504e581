// SPDX-License-Identifier: Apache-2.0

/// The identity of one run of an upload, which it sends to a service with every request.
package struct RunStamp: Hashable, Sendable {
  /// The id of this installation, a random UUID.
  package var node: String
  /// A number that each run of the node increases by one.
  package var number: Int64
  /// A random UUID of this run, by which a service distinguishes two copies of a store.
  package var id: String
  /// The logbook that the store was synced with; nil before the first answer.
  package var logbook: String?
  /// The latest position of the service that this store has seen; nil before the first answer.
  ///
  /// If the node wrote something after it, a copy of the store did, or an answer was lost. A service does not return a
  /// node's own changes to it, so the node needs another id to see them.
  package var lastSeenPosition: String?
  /// Whether a request that reads may also repair data on the service. It may not in a run that only fetches or compares.
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
