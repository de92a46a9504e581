// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The zone of an input's times that state no offset.
package struct InputZone: Sendable {
  /// The zone.
  package let zone: LogbookZone
  /// Whether a person gave it for this input. It is then stored as a fact about its readings and records.
  package let isGiven: Bool
  /// Whether the offsets of the readings come from this zone. Readings of another store come with the offsets
  /// that it derived.
  package let placesReadings: Bool

  /// The zone of an input.
  package init(_ zone: LogbookZone, isGiven: Bool, placesReadings: Bool = true) {
    self.zone = zone
    self.isGiven = isGiven
    self.placesReadings = placesReadings
  }

  /// The zone that a person gave; nil without one.
  var given: LogbookZone? { isGiven ? zone : nil }
  /// The zone from which the readings already have their offsets; nil without one.
  var placing: LogbookZone? { placesReadings ? zone : nil }
}
