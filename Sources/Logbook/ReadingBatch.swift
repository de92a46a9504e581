// SPDX-License-Identifier: Apache-2.0

/// Readings with their devices, to or from a service. Every occurrence is stated.
package struct ReadingBatch: Sendable {
  /// The devices. Readings refer to them by `DeviceIndex`.
  package var devices: [Device]
  /// The readings.
  package var readings: [Reading]

  /// A batch of readings and their devices.
  package init(devices: [Device] = [], readings: [Reading] = []) {
    self.devices = devices
    self.readings = readings
  }
}

/// A service's answer to a batch of readings. All readings are stored there, except those listed as refused.
package struct ReadingAnswer: Hashable, Sendable {
  /// The number of readings that the service did not have.
  package var stored: Int
  /// The number of readings that it had, with any value.
  package var known: Int
  /// Indices of the readings that it has with another value.
  package var differing: [Int]
  /// Readings that it refuses permanently, with its reasons.
  package var refused: [RefusedItem]
  /// Known readings that the service only holds in documents of other programs.
  package var sameAs: [SameReading]
  /// Indices of the readings for whose time a document of another program has another value. Both are kept.
  package var disputed: [Int]
  /// The service's position after this request.
  package var position: String?

  /// An answer with these counts.
  package init(
    stored: Int, known: Int, differing: [Int] = [], refused: [RefusedItem] = [], sameAs: [SameReading] = [],
    disputed: [Int] = [], position: String? = nil
  ) {
    self.stored = stored
    self.known = known
    self.differing = differing
    self.refused = refused
    self.sameAs = sameAs
    self.disputed = disputed
    self.position = position
  }
}

/// An item of a batch that a service refuses permanently.
package struct RefusedItem: Hashable, Sendable {
  /// The index in the batch.
  package var item: Int
  /// The reason in the service's words.
  package var reason: String

  /// A refusal of the item at this index.
  package init(item: Int, reason: String) {
    self.item = item
    self.reason = reason
  }
}
