// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// An item as glucoport's own exports state it, with every part of its identity.
public enum GlucoportItem: Sendable {
  case reading(GlucoportReading)
  case record(GlucoportRecord)
}

/// A reading of an export.
public struct GlucoportReading: Sendable {
  /// What took it.
  public let device: Device
  /// What it measures.
  public let kind: ReadingKind
  /// The time as the device showed it.
  public let deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public let placement: Placement
  /// What was measured, as the source gave it.
  public let measurement: Measurement
  /// What else is said of it.
  public let marks: ReadingMarks
  /// Whether an annotation keeps it out of statistics.
  public let isWithdrawn: Bool
  /// What places it among those of its device and kind.
  public let positionKind: PositionKind
  /// The shown time in civil seconds, or the tick.
  public let position: Int64
  /// The value's part in the identity.
  public let valueBucket: Int64
  /// Which one of several that share every other part.
  public let occurrence: Int64

  /// A reading with all that an export states of it.
  public init(
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
public struct GlucoportRecord: Sendable {
  /// The identity.
  public let guid: String
  /// What it is about.
  public let kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  public let entryGuid: String?
  /// The shown time of the entry.
  public let deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public let placement: Placement
  /// The fields as canonical JSON.
  public let fields: String
  /// Whether it is a tombstone.
  public let isDeleted: Bool

  /// A record with all that an export states of it.
  public init(
    guid: String, kind: RecordKind, entryGuid: String?, deviceTime: DeviceTime, placement: Placement,
    fields: String, isDeleted: Bool
  ) {
    self.guid = guid
    self.kind = kind
    self.entryGuid = entryGuid
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.isDeleted = isDeleted
  }
}
