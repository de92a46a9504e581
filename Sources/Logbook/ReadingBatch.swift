// SPDX-License-Identifier: Apache-2.0

/// Readings with the devices they point to, on their way to or from a service. Every occurrence is stated.
package struct ReadingBatch: Sendable {
  /// The devices; readings point here by `DeviceIndex`.
  package var devices: [Device]
  /// The readings.
  package var readings: [Reading]

  /// A batch of readings and their devices.
  package init(devices: [Device] = [], readings: [Reading] = []) {
    self.devices = devices
    self.readings = readings
  }
}

/// What a service answers to a batch of readings: each of them is stored there, except those listed as refused.
package struct ReadingAnswer: Hashable, Sendable {
  /// Readings that the service did not have.
  package var stored: Int
  /// Readings that it had, whatever their value.
  package var known: Int
  /// Places in the batch of readings that it has with another value.
  package var differing: [Int]
  /// Places in the batch of readings that it refuses permanently, with its words.
  package var refused: [RefusedItem]
  /// Of the known readings those that the service holds in documents of other programs alone.
  package var sameAs: [SameReading]
  /// Places in the batch of readings for whose moment a document of another program has another value; both are kept.
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

/// One item of a batch that a service refuses permanently.
package struct RefusedItem: Hashable, Sendable {
  /// The place in the batch, from 0.
  package var item: Int
  /// The service's words.
  package var reason: String

  /// A refusal of the item at this place.
  package init(item: Int, reason: String) {
    self.item = item
    self.reason = reason
  }
}
