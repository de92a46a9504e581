// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An item of glucoport's own exports, with every part of its identity.
package enum GlucoportItem: Sendable {
  case reading(GlucoportReading)
  case record(GlucoportRecord)
}

/// A reading of an export.
package struct GlucoportReading: Sendable {
  /// The meter or sensor that took it.
  package let device: Device
  package let kind: ReadingKind
  /// The time that the device showed.
  package let deviceTime: DeviceTime
  /// The placement of the shown time in UTC.
  package let placement: Placement
  /// The measurement in the source's form.
  package let measurement: Measurement
  package let marks: ReadingMarks
  /// Whether an annotation excludes it from statistics.
  package let isWithdrawn: Bool
  /// The kind of its position among readings of its device and kind.
  package let positionKind: PositionKind
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value's part of the identity.
  package let valueBucket: Int64
  /// The number among readings that are equal in every other part.
  package let occurrence: Int64

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
  package let kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  package let entryGuid: String?
  /// The shown time of the entry.
  package let deviceTime: DeviceTime
  /// The placement of the shown time in UTC.
  package let placement: Placement
  /// The fields as canonical JSON.
  package let fields: String
  /// The provenance; nil if unknown.
  package let provenance: Provenance?
  /// Whether it is a tombstone.
  package let isDeleted: Bool

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
