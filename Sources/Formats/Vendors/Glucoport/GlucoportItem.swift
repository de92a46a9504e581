// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An item of glucoport's own exports, with every part of its identity.
package enum GlucoportItem: Sendable {
  case reading(GlucoportReading)
  case record(GlucoportRecord)
}

/// A reading of an export.
package struct GlucoportReading: Sendable {
  /// The meter or sensor that took the reading.
  package let device: Device
  package let kind: ReadingKind
  /// The time that the device showed.
  package let deviceTime: DeviceTime
  /// The placement of the device time in UTC.
  package let placement: Placement
  /// The measurement as the source stated it.
  package let measurement: Measurement
  package let marks: ReadingMarks
  /// Whether a withdrawal hides the reading, so that it is excluded from statistics.
  package let isWithdrawn: Bool
  /// Whether `position` is a device time or a tick. The position distinguishes readings of the same device
  /// and kind.
  package let positionKind: PositionKind
  /// The device time in civil seconds, or the tick.
  package let position: Int64
  /// The value bucket: the part of the identity that depends on the value.
  package let valueBucket: Int64
  /// The number that separates readings whose identities are equal in every other part.
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
  /// The identity of the record.
  package let guid: String
  package let kind: RecordKind
  /// The guid of the entry to which the record belongs; nil for an entry.
  package let entryGuid: String?
  /// The shown time of the record.
  package let deviceTime: DeviceTime
  /// The placement of the shown time in UTC.
  package let placement: Placement
  /// The fields as canonical JSON.
  package let fields: String
  /// The provenance; nil if unknown.
  package let provenance: Provenance?
  /// Whether the record is a tombstone.
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

/// Receives the columns of an item in order, without those that its kind does not have.
protocol GlucoportSink {
  /// Receives a column without a value.
  mutating func null(_ column: GlucoportColumn)
  mutating func text(_ column: GlucoportColumn, _ text: String)
  /// Receives a flag or an object as JSON.
  mutating func literal(_ column: GlucoportColumn, _ text: String)
  mutating func integer(_ column: GlucoportColumn, _ number: Int64)
  /// Receives a number of the source, to be written in the shortest form that reads back as the same number.
  mutating func number(_ column: GlucoportColumn, _ number: Double)
  /// Receives a time, to be followed by `Z` if it is an instant.
  mutating func time(_ column: GlucoportColumn, _ time: DeviceTime, isInstant: Bool)
  /// Receives an offset in seconds east of Greenwich.
  mutating func offset(_ column: GlucoportColumn, _ seconds: Int32)
  /// Receives the columns of a device.
  mutating func device(_ device: Device)
}

extension GlucoportSink {
  mutating func device(_ device: Device) { write(device) }

  /// Passes on a device column by column.
  mutating func write(_ device: Device) {
    text(.vendor, device.vendor)
    text(.model, device.model)
    text(.serial, device.serial)
    text(.format, device.format)
  }
}

extension GlucoportItem {
  /// Passes on the item column by column.
  ///
  /// - Parameter inBothUnits: whether to include the columns of the value in a fixed unit, whatever the
  ///   source's unit.
  @inline(__always)
  func write(inBothUnits: Bool, to sink: inout some GlucoportSink) {
    switch self {
    case .reading(let reading): reading.write(inBothUnits: inBothUnits, to: &sink)
    case .record(let record): record.write(to: &sink)
    }
  }
}

extension GlucoportReading {
  fileprivate func write(inBothUnits: Bool, to sink: inout some GlucoportSink) {
    sink.text(.item, "reading")
    sink.text(.kind, kind.name)
    sink.write(deviceTime, placement)
    if let quantity = measurement.quantity { sink.number(.value, quantity.number) } else { sink.null(.value) }
    sink.text(.unit, measurement.unit.name)
    if inBothUnits {
      sink.literal(.valueMgdl, number(in: .milligramsPerDecilitre))
      sink.literal(.valueMmoll, number(in: .millimolesPerLitre))
    }
    sink.write(rangeOf: measurement)
    sink.text(.marks, marks.isEmpty ? "" : marks.names.joined(separator: " "))
    sink.literal(.withdrawn, isWithdrawn ? "true" : "false")
    sink.device(device)
    sink.text(.positionKind, positionKind.name)
    sink.integer(.position, position)
    sink.integer(.valueBucket, valueBucket)
    sink.integer(.occurrence, occurrence)
  }

  /// The value in a unit. Nil for LO and HI, and for a ketone value in another unit, since the conversion
  /// factor is that of glucose.
  private func number(in unit: GlucoseUnit) -> String? {
    let hasUnit = kind != .ketone || unit == .millimolesPerLitre && measurement.unit == unit
    guard hasUnit, let quantity = measurement.quantity else { return nil }
    return quantity.displayed(in: unit)
  }
}

extension GlucoportRecord {
  fileprivate func write(to sink: inout some GlucoportSink) {
    sink.text(.item, "record")
    sink.text(.kind, kind.rawValue)
    sink.write(deviceTime, placement)
    sink.text(.guid, guid)
    if let entryGuid { sink.text(.entryGuid, entryGuid) } else { sink.null(.entryGuid) }
    sink.literal(.fields, fields)
    sink.literal(.provenance, provenance?.json)
    sink.literal(.deleted, isDeleted ? "true" : "false")
  }
}

extension GlucoportSink {
  fileprivate mutating func literal(_ column: GlucoportColumn, _ text: String?) {
    if let text { literal(column, text) } else { null(column) }
  }

  fileprivate mutating func write(_ deviceTime: DeviceTime, _ placement: Placement) {
    time(.time, placement.instant(of: deviceTime), isInstant: true)
    time(.deviceTime, deviceTime, isInstant: false)
    offset(.utcOffset, placement.utcOffset)
    text(.offsetSource, placement.source.name)
  }

  fileprivate mutating func write(rangeOf measurement: Measurement) {
    switch measurement {
    case .value:
      null(.range)
      null(.threshold)
    case .low(let limit, _): write(range: "low", limit)
    case .high(let limit, _): write(range: "high", limit)
    }
  }

  private mutating func write(range: String, _ limit: Double?) {
    text(.range, range)
    if let limit { number(.threshold, limit) } else { null(.threshold) }
  }
}
