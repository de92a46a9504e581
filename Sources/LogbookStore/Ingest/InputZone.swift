// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook

/// The zone of an input's times that state no offset.
package struct InputZone: Sendable {
  /// The zone.
  package let zone: LogbookZone
  /// Whether a person gave it for this input, which is then stated as a fact about its readings and records.
  package let isGiven: Bool
  /// Whether it placed the readings. Those of another store come with what that one derived.
  package let placesReadings: Bool

  /// The zone of an input.
  package init(_ zone: LogbookZone, isGiven: Bool, placesReadings: Bool = true) {
    self.zone = zone
    self.isGiven = isGiven
    self.placesReadings = placesReadings
  }

  /// The zone that a person gave; nil without one.
  var given: LogbookZone? { isGiven ? zone : nil }
  /// The zone by which the readings are placed already; nil without one.
  var placing: LogbookZone? { placesReadings ? zone : nil }
}

/// The readings of an input to which a given zone applies.
struct GivenTimes {
  private var first: DeviceTime?
  private var last: DeviceTime?
  private var devices: Set<DeviceIndex> = []
  /// Mostly the device of the next reading, too: a set costs more than all else here.
  private var newest: DeviceIndex?

  mutating func note(_ reading: Reading) {
    guard reading.placement.source.isDerived else { return }
    first = min(first ?? reading.deviceTime, reading.deviceTime)
    last = max(last ?? reading.deviceTime, reading.deviceTime)
    guard reading.device != newest else { return }
    newest = reading.device
    devices.insert(reading.device)
  }

  /// The period that says so; nil where every reading states its offset.
  func period(in zone: LogbookZone, of all: [Device], at now: Int64) -> ZonePeriod? {
    guard let first, let last else { return nil }
    return ZonePeriod(
      guid: UUID().uuidString.lowercased(), from: first,
      until: last.seconds < LogbookZones.lastSecond ? DeviceTime(seconds: last.seconds + 1) : nil,
      zone: zone.base, devices: Set(devices.map { ReadingIdentity.text(of: all[Int($0.number)]) }),
      madeAt: now)
  }
}
