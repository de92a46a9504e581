// SPDX-License-Identifier: Apache-2.0

/// What places a reading among those of its device and kind. The raw value is the code that the store keeps.
@frozen public enum PositionKind: UInt8, CaseIterable, Sendable {
  /// The device time as shown.
  case time = 0
  /// The device's own tick or record number, which never changes.
  case tick = 1

  /// The name in views, exports and addresses.
  public var name: String { self == .time ? "time" : "tick" }

  /// The position kind with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let positionKind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = positionKind
  }
}

/// One measurement as the device reported it. A plain value without references, since millions pass through.
@frozen public struct Reading: BitwiseCopyable, Sendable {
  /// What took it.
  public var device: DeviceIndex
  /// What it measures.
  public var kind: ReadingKind
  /// What places it among those of its device and kind.
  public var positionKind: PositionKind
  /// What else is said of it.
  public var marks: ReadingMarks
  /// What places the shown time on the UTC line.
  public var placement: Placement
  /// The time as the device showed it.
  public var deviceTime: DeviceTime
  /// With `.time` the device time in civil seconds; else the tick or record number.
  public var position: Int64
  /// Which one this is of several readings that share every other part of the identity.
  public var occurrence: Int32
  /// Whether `occurrence` was settled by the source (our own exports), so that no import renumbers it.
  public var occurrenceIsStated: Bool
  /// What was measured.
  public var measurement: Measurement
  /// The line of the input it is on, from 1.
  public var line: Int64

  /// The positions that every format and protocol carries: numbers of at most 18 digits, whose differences do not
  /// overflow.
  package static let positions: ClosedRange<Int64> = -999_999_999_999_999_999...999_999_999_999_999_999

  /// A reading placed by its shown time.
  @inlinable public init(
    device: DeviceIndex, kind: ReadingKind, at deviceTime: DeviceTime, placement: Placement,
    _ measurement: Measurement, marks: ReadingMarks = [], line: Int64
  ) {
    self.device = device
    self.kind = kind
    self.positionKind = .time
    self.marks = marks
    self.placement = placement
    self.deviceTime = deviceTime
    self.position = deviceTime.seconds
    self.occurrence = 0
    self.occurrenceIsStated = false
    self.measurement = measurement
    self.line = line
  }

  /// A reading placed by the device's own tick or record number.
  @inlinable public init(
    device: DeviceIndex, kind: ReadingKind, tick: Int64, at deviceTime: DeviceTime, placement: Placement,
    _ measurement: Measurement, marks: ReadingMarks = [], line: Int64
  ) {
    self.init(
      device: device, kind: kind, at: deviceTime, placement: placement, measurement, marks: marks, line: line)
    self.positionKind = .tick
    self.position = tick
  }

  /// The value's part in the identity: tenths of mmol/L, or a code of LO or HI; 0 where it has no part.
  @inlinable package var valueBucket: Int64 {
    positionKind == .time && kind.valueIsPartOfIdentity ? measurement.valueBucket : 0
  }

  /// Whether it is of a control solution, and none of a person's own.
  @inlinable package var isControlTest: Bool { marks.contains(.controlSolution) }

  /// Whether the shown time can occur twice, so that another value at the same time is another reading.
  @inlinable package var timeCanRepeat: Bool {
    positionKind == .time && (placement.source == .zoneOverlap || marks.contains(.clockSetBack))
  }
}
