// SPDX-License-Identifier: Apache-2.0

/// What places a reading among the readings of its device and kind. The raw value is the code in the store.
@frozen public enum PositionKind: UInt8, CaseIterable, Sendable {
  /// The device time as shown.
  case time = 0
  /// The device's tick or record number, which never changes.
  case tick = 1

  /// The name in views, exports and addresses.
  public var name: String { self == .time ? "time" : "tick" }

  /// The position kind with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let positionKind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = positionKind
  }
}

/// One measurement as the device reported it. It is a plain value without references, since imports process millions.
@frozen public struct Reading: BitwiseCopyable, Sendable {
  /// The device.
  public var device: DeviceIndex
  /// The kind of measurement.
  public var kind: ReadingKind
  /// What places it among the readings of its device and kind.
  public var positionKind: PositionKind
  /// The marks.
  public var marks: ReadingMarks
  /// What places the shown time on the UTC line.
  public var placement: Placement
  /// The time as the device showed it.
  public var deviceTime: DeviceTime
  /// For `.time` the device time in civil seconds, otherwise the tick or record number.
  public var position: Int64
  /// The number among readings that share every other part of the identity.
  public var occurrence: Int32
  /// Whether the source stated `occurrence`, as exports of glucoport do. Then no import changes it.
  public var occurrenceIsStated: Bool
  /// The measurement.
  public var measurement: Measurement
  /// Its line of the input, from 1.
  public var line: Int64

  /// The positions that every format and protocol can carry. They have at most 18 digits, so that their differences do
  /// not overflow.
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

  /// The value in the identity: tenths of mmol/L, a code of LO or HI, or 0 if the value is not part of it.
  @inlinable package var valueBucket: Int64 {
    positionKind == .time && kind.valueIsPartOfIdentity ? measurement.valueBucket : 0
  }

  /// Whether it is of a control solution and not of the person.
  @inlinable package var isControlTest: Bool { marks.contains(.controlSolution) }

  /// Whether the shown time can occur twice. Then another value at the same time is another reading.
  @inlinable package var timeCanRepeat: Bool {
    positionKind == .time && (placement.source == .zoneOverlap || marks.contains(.clockSetBack))
  }
}
