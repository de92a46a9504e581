// SPDX-License-Identifier: Apache-2.0

/// Readings with the devices they point to, on their way to or from a service. Every occurrence is stated.
public struct ReadingBatch: Sendable {
  /// The devices; readings point here by `DeviceIndex`.
  public var devices: [Device]
  /// The readings.
  public var readings: [Reading]

  /// A batch of readings and their devices.
  public init(devices: [Device] = [], readings: [Reading] = []) {
    self.devices = devices
    self.readings = readings
  }
}

/// What a service answers to a batch of readings: each of them is stored there, except those listed as refused.
public struct ReadingAnswer: Hashable, Sendable {
  /// Readings that the service did not have.
  public var stored: Int
  /// Readings that it had, whatever their value.
  public var known: Int
  /// Places in the batch of readings that it has with another value.
  public var differing: [Int]
  /// Places in the batch of readings that it refuses permanently, with its words.
  public var refused: [RefusedItem]
  /// Of the known readings those that the service holds in documents of other programs alone.
  public var sameAs: [SameReading]
  /// Places in the batch of readings for whose moment a document of another program has another value; both are kept.
  public var disputed: [Int]
  /// The service's position after this request.
  public var position: String?

  /// An answer with these counts.
  public init(
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
public struct RefusedItem: Hashable, Sendable {
  /// The place in the batch, from 0.
  public var item: Int
  /// The service's words.
  public var reason: String

  /// A refusal of the item at this place.
  public init(item: Int, reason: String) {
    self.item = item
    self.reason = reason
  }
}
