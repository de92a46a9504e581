// SPDX-License-Identifier: Apache-2.0

/// What a reading measures, and how. The raw value is the code in the store.
@frozen public enum ReadingKind: UInt8, CaseIterable, Sendable {
  /// Self-monitored blood glucose: a drop of blood on a strip.
  case smbg = 1
  /// Continuous blood glucose: a sensor's own history.
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

  /// Whether the value is part of a reading's identity when only a shown time places it.
  ///
  /// Sensor history has one value per instant. Of every other kind there can be two in one minute.
  @inlinable package var valueIsPartOfIdentity: Bool { self != .cbg }
}

/// Further statements of the source about a reading, or unusual properties. They are stored as one integer.
@frozen public struct ReadingMarks: OptionSet, Hashable, Sendable {
  /// The bits in the store.
  public let rawValue: UInt16
  /// The marks with these bits.
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Typed by hand.
  public static let manual = Self(rawValue: 1 << 0)
  /// Sent by a linked meter to the device that reports it.
  public static let linked = Self(rawValue: 1 << 1)
  /// Taken to calibrate a sensor.
  public static let calibration = Self(rawValue: 1 << 2)
  /// A test of control solution. It is kept, but is not the person's glucose.
  public static let controlSolution = Self(rawValue: 1 << 3)
  /// The number equals the limit of this source, so the true value may be beyond it.
  public static let atLimit = Self(rawValue: 1 << 4)
  /// The shown time is before 1990 or in the future: the device's clock was wrong.
  public static let doubtfulTime = Self(rawValue: 1 << 5)
  /// The device's clock was set back within this input, so that the shown time occurs twice.
  public static let clockSetBack = Self(rawValue: 1 << 6)
  /// Taken before a meal.
  public static let beforeMeal = Self(rawValue: 1 << 7)
  /// Taken after a meal.
  public static let afterMeal = Self(rawValue: 1 << 8)
  /// Taken while fasting.
  public static let fasting = Self(rawValue: 1 << 9)
  /// Taken at bedtime.
  public static let bedtime = Self(rawValue: 1 << 10)
  /// The meter gave a temperature warning for the measurement.
  public static let temperatureWarning = Self(rawValue: 1 << 11)
  /// Entered in a pump's bolus calculator, which may have copied it from the sensor.
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
