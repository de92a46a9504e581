// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An item as glucoport's own exports state it, with every part of its identity.
package enum GlucoportItem: Sendable {
  case reading(GlucoportReading)
  case record(GlucoportRecord)
}

/// A reading of an export.
package struct GlucoportReading: Sendable {
  /// What took it.
  package let device: Device
  /// What it measures.
  package let kind: ReadingKind
  /// The time as the device showed it.
  package let deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  package let placement: Placement
  /// What was measured, as the source gave it.
  package let measurement: Measurement
  /// What else is said of it.
  package let marks: ReadingMarks
  /// Whether an annotation keeps it out of statistics.
  package let isWithdrawn: Bool
  /// What places it among those of its device and kind.
  package let positionKind: PositionKind
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value's part in the identity.
  package let valueBucket: Int64
  /// Which one of several that share every other part.
  package let occurrence: Int64

  /// A reading with all that an export states of it.
  package init(
    device: Device, kind: ReadingKind, deviceTime: DeviceTime, placement: Placement,
    measurement: Measurement, marks: ReadingMarks, isWithdrawn: Bool, positionKind: PositionKind,
    position: Int64, valueBucket: Int64, occurrence: Int64
  ) {
    self.device = device
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.measurement = measurement
    self.marks = marks
    self.isWithdrawn = isWithdrawn
    self.positionKind = positionKind
    self.position = position
    self.valueBucket = valueBucket
    self.occurrence = occurrence
  }
}

/// A record of an export.
package struct GlucoportRecord: Sendable {
  /// The identity.
  package let guid: String
  /// What it is about.
  package let kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  package let entryGuid: String?
  /// The shown time of the entry.
  package let deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  package let placement: Placement
  /// The fields as canonical JSON.
  package let fields: String
  /// Where it came from; nil if unknown.
  package let provenance: Provenance?
  /// Whether it is a tombstone.
  package let isDeleted: Bool

  /// A record with all that an export states of it.
  package init(
    guid: String, kind: RecordKind, entryGuid: String?, deviceTime: DeviceTime, placement: Placement,
    fields: String, provenance: Provenance?, isDeleted: Bool
  ) {
    self.guid = guid
    self.kind = kind
    self.entryGuid = entryGuid
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.provenance = provenance
    self.isDeleted = isDeleted
  }
}
