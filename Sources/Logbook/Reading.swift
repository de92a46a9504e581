// SPDX-License-Identifier: Apache-2.0

/// What determines the position of a reading in its series. A series consists of the readings of one device
/// and kind. The raw value is the code in the store.
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

/// One measurement as the device reported it. The type contains no references, since imports process millions
/// of values.
@frozen public struct Reading: BitwiseCopyable, Sendable {
  // The order of the properties leaves no gaps between them. This saves memory, since a batch has 20,000
  // readings.

  /// The time as the device showed it.
  public var deviceTime: DeviceTime
  /// For `.time` the device time in civil seconds, otherwise the tick or record number.
  public var position: Int64
  /// The line of the input that contains the reading, from 1.
  public var line: Int64
  /// The value in the unit of the source, or LO or HI if it was outside the device's range.
  public var measurement: Measurement
  /// The device, as an index in the `devices` of the batch.
  public var device: DeviceIndex
  /// Distinguishes readings that share every other part of the identity: 0, 1, 2 and so on.
  public var occurrence: Int32
  /// The UTC offset of the shown time, and how it was found.
  public var placement: Placement
  /// The kind of measurement.
  public var kind: ReadingKind
  /// Whether the shown time or the device's tick determines the position.
  public var positionKind: PositionKind
  /// Whether the source stated `occurrence`, as exports of glucoport do. If so, imports do not change it.
  public var occurrenceIsStated: Bool
  /// What the source states further about the reading, such as `beforeMeal`.
  public var marks: ReadingMarks

  /// The positions that every format and protocol can carry. They have at most 18 digits, so that the
  /// difference of two positions does not overflow.
  package static let positions: ClosedRange<Int64> = -999_999_999_999_999_999...999_999_999_999_999_999

  /// A reading whose position is its shown time.
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

  /// A reading whose position is the device's own tick or record number.
  @inlinable public init(
    device: DeviceIndex, kind: ReadingKind, tick: Int64, at deviceTime: DeviceTime, placement: Placement,
    _ measurement: Measurement, marks: ReadingMarks = [], line: Int64
  ) {
    self.init(
      device: device, kind: kind, at: deviceTime, placement: placement, measurement, marks: marks, line: line)
    self.positionKind = .tick
    self.position = tick
  }

  /// The value as the identity contains it: tenths of mmol/L, or a code for LO or HI. It is 0 if the identity
  /// does not contain the value.
  @inlinable package var valueBucket: Int64 {
    positionKind == .time && kind.valueIsPartOfIdentity ? measurement.valueBucket : 0
  }

  /// Whether only occurrence numbers distinguish several values at the reading's position. This is so for
  /// values of a sensor at a shown time, and for values of strips at a tick.
  @inlinable package var isNumberedAtPosition: Bool {
    (positionKind == .time) != kind.valueIsPartOfIdentity
  }

  /// The reading as every store sends it: an instant is in UTC, whatever zone this store shows it in.
  package var withoutZone: Reading {
    guard placement.source == .instant else { return self }
    var reading = self
    (reading.deviceTime, reading.placement) = placement.withoutZone(deviceTime)
    return reading
  }

  /// Whether the measurement is of a control solution and not of the person's blood.
  @inlinable package var isControlTest: Bool { marks.contains(.controlSolution) }

  /// Whether the shown time is the position and can occur twice. If so, two different values at one shown
  /// time are two readings.
  @inlinable package var timeCanRepeat: Bool {
    positionKind == .time && (placement.source == .zoneOverlap || marks.contains(.clockSetBack))
  }
}

/// What a reading measures, and how. The raw value is the code in the store.
@frozen public enum ReadingKind: UInt8, CaseIterable, Sendable {
  /// Self-monitored blood glucose: a drop of blood on a strip.
  case smbg = 1
  /// Continuous glucose monitoring: the history that a sensor stores.
  case cbg = 2
  /// A sensor value that a person read on demand.
  case scan = 3
  /// Blood ketone (β-hydroxybutyrate), always in mmol/L.
  case ketone = 4

  /// The kind's name in views, exports and messages.
  public var name: String {
    switch self {
    case .smbg: "smbg"
    case .cbg: "cbg"
    case .scan: "scan"
    case .ketone: "ketone"
    }
  }

  /// The kind with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }

  /// Whether the identity of a reading contains the value, if its position is a shown time.
  ///
  /// Sensor history has one value per instant, so its identities need no value. Two readings of another kind
  /// can have the same minute, so their values distinguish them.
  @inlinable package var valueIsPartOfIdentity: Bool { self != .cbg }
}

/// What the source states about a reading besides its value, and unusual properties that glucoport found.
/// They are stored as one integer.
@frozen public struct ReadingMarks: OptionSet, Hashable, Sendable {
  /// The bits in the store.
  public let rawValue: UInt16
  /// The marks with these bits.
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A person typed the value.
  public static let manual = Self(rawValue: 1 << 0)
  /// A linked meter sent the value to the device that reports it.
  public static let linked = Self(rawValue: 1 << 1)
  /// The measurement was taken to calibrate a sensor.
  public static let calibration = Self(rawValue: 1 << 2)
  /// The measurement is a test of control solution. It is kept, but it is not the person's glucose.
  public static let controlSolution = Self(rawValue: 1 << 3)
  /// The number is the lowest or highest that this source can state, so the true value may be beyond it.
  public static let atLimit = Self(rawValue: 1 << 4)
  /// The shown time is before 1990 or in the future, so the device's clock was probably wrong.
  public static let doubtfulTime = Self(rawValue: 1 << 5)
  /// The device's clock was set back within this input, so that the shown time occurs twice.
  public static let clockSetBack = Self(rawValue: 1 << 6)
  /// The measurement was taken before a meal.
  public static let beforeMeal = Self(rawValue: 1 << 7)
  /// The measurement was taken after a meal.
  public static let afterMeal = Self(rawValue: 1 << 8)
  /// The measurement was taken while fasting.
  public static let fasting = Self(rawValue: 1 << 9)
  /// The measurement was taken at bedtime.
  public static let bedtime = Self(rawValue: 1 << 10)
  /// The meter gave a temperature warning for the measurement.
  public static let temperatureWarning = Self(rawValue: 1 << 11)
  /// The value was entered in a pump's bolus calculator, which may have copied it from the sensor.
  public static let calculator = Self(rawValue: 1 << 12)

  /// Every mark with its name, in the order of lists.
  public static let named: [(mark: ReadingMarks, name: String)] = [
    (.manual, "manual"), (.linked, "linked"), (.calibration, "calibration"),
    (.controlSolution, "control-solution"), (.atLimit, "at-limit"),
    (.doubtfulTime, "doubtful-time"), (.clockSetBack, "clock-set-back"),
    (.beforeMeal, "before-meal"), (.afterMeal, "after-meal"), (.fasting, "fasting"),
    (.bedtime, "bedtime"), (.temperatureWarning, "temperature-warning"), (.calculator, "calculator"),
  ]

  /// The names of the marks that are set.
  public var names: [String] { Self.named.filter { contains($0.mark) }.map(\.name) }

  /// The marks with these names; nil if one of them is unknown.
  public init?(names: [some StringProtocol]) {
    var marks: ReadingMarks = []
    for name in names {
      guard let known = Self.named.first(where: { $0.name == name }) else { return nil }
      marks.insert(known.mark)
    }
    self = marks
  }
}

/// A reading that was sent, and that the remote already has in a document of another program.
package struct SameReading: Hashable, Sendable {
  /// The index in the batch of the reading that was sent.
  package var item: Int
  /// The 16 bytes of the identity's UUID for the reading that the document contains; see
  /// `ReadingIdentity.key`.
  package var document: [UInt8]

  /// The reading at this index is the same as the one in the document.
  package init(item: Int, document: [UInt8]) {
    self.item = item
    self.document = document
  }
}

extension Measurement {
  /// Whether both values can be of one measurement that programs rounded differently. This is so if they are
  /// less than 1 mg/dL apart. If one of them is in mmol/L, it is also so if they are equal in tenths of
  /// mmol/L.
  ///
  /// LO matches every value below 40 mg/dL, HI every value above 400. Programs that write to Nightscout sites
  /// use 39 and 401 for LO and HI, and other programs use the limits of the device.
  package func isSame(as other: Measurement) -> Bool {
    switch (self, other) {
    case (.value(let mine), .value(let theirs)):
      let isWhole = mine.unit == .milligramsPerDecilitre && theirs.unit == mine.unit
      return abs(mine.milligrams - theirs.milligrams) < 1
        || (!isWhole && mine.tenthsOfMillimole == theirs.tenthsOfMillimole)
    case (.low, .value(let value)), (.value(let value), .low): return value.milligrams < 40
    case (.high, .value(let value)), (.value(let value), .high): return value.milligrams > 400
    case (.low, .low), (.high, .high): return true
    default: return false
    }
  }
}

extension Quantity {
  fileprivate var milligrams: Double { converted(to: .milligramsPerDecilitre).number }
}

extension ReadingKind {
  /// Whether a document of another program may contain a reading of this kind as the other kind. Such
  /// documents only distinguish finger sticks and sensor values, so `cbg` matches `scan`.
  package func isSame(as other: ReadingKind) -> Bool {
    self == other || (self == .cbg && other == .scan) || (self == .scan && other == .cbg)
  }
}
