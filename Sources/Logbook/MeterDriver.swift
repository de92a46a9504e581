// SPDX-License-Identifier: Apache-2.0

/// How a meter is reached over its USB plug.
public enum MeterLink: Hashable, Sendable {
  /// Reports of the first HID interface. A device without an interrupt endpoint towards it takes them as SET_REPORT.
  case hid
  /// The pair of bulk endpoints of the first interface of this class.
  case bulk(interfaceClass: UInt8)
  /// SCSI commands, bulk-only: the disk is never mounted.
  case disk
  /// A serial line of the communications class.
  case cdc(LineSettings)
  /// A serial line behind a Silicon Labs CP2110, a HID device.
  case cp2110(LineSettings)
  /// A serial line that the kernel's driver shows as a terminal.
  case terminal(LineSettings)
}

extension MeterLink {
  /// What a link is, without its settings.
  public enum Kind: String, CaseIterable, Sendable {
    case hid, bulk, disk, cdc, cp2110, terminal
  }

  /// What it is.
  public var kind: Kind {
    switch self {
    case .hid: .hid
    case .bulk: .bulk
    case .disk: .disk
    case .cdc: .cdc
    case .cp2110: .cp2110
    case .terminal: .terminal
    }
  }

  /// How its serial line is set; nil where it is none.
  public var line: LineSettings? {
    switch self {
    case .cdc(let line), .cp2110(let line), .terminal(let line): line
    case .hid, .bulk, .disk: nil
    }
  }
}

/// A device that a driver knows by its USB ids.
public struct MeterModel: Hashable, Sendable {
  /// What is printed on it, for people.
  public let name: String
  /// The USB vendor id.
  public let vendorID: UInt16
  /// The USB product id.
  public let productID: UInt16
  /// How it is reached.
  public let link: MeterLink
  /// Whether others use the ids, too: a cable's or a chip's, which is asked only where a person names the driver.
  public let isShared: Bool
  /// Why it cannot be read although it is known; nil where it can.
  public let obstacle: String?

  /// A device with these ids.
  public init(
    _ name: String, vendorID: UInt16, productID: UInt16, link: MeterLink, isShared: Bool = false,
    obstacle: String? = nil
  ) {
    self.name = name
    self.vendorID = vendorID
    self.productID = productID
    self.link = link
    self.isShared = isShared
    self.obstacle = obstacle
  }
}

/// A meter's clock beside the host's, at one moment.
public struct ClockComparison: Hashable, Sendable {
  /// What the meter showed.
  public let meter: DeviceTime
  /// What the host's clock said in UTC seconds when the meter's answer came.
  public let host: Int64

  /// Both clocks at one moment.
  public init(meter: DeviceTime, host: Int64) {
    self.meter = meter
    self.host = host
  }
}

/// Which meter it is.
public struct MeterIdentity: Hashable, Sendable {
  /// Vendor, model and serial number; the format is the driver's id. The vendor is spelled as the formats spell it.
  public var device: Device
  /// The firmware's version; empty where the meter reports none.
  public var firmware: String
  /// Both clocks; nil where the meter has none that can be read.
  public var clock: ClockComparison?
  /// How many readings it says it holds; nil where it does not say.
  public var count: Int?

  /// An identity that reports no clock and no count yet.
  public init(device: Device, firmware: String = "", clock: ClockComparison? = nil, count: Int? = nil) {
    self.device = device
    self.firmware = firmware
    self.clock = clock
    self.count = count
  }
}

/// A reading as a meter holds it, before a time zone places it.
public struct MeterReading: Hashable, Sendable {
  /// What it measures.
  public var kind: ReadingKind
  /// The time as the meter showed it.
  public var deviceTime: DeviceTime
  /// Seconds east of Greenwich, where the meter itself reports.
  public var utcOffset: Int32?
  /// What was measured, in the unit in which the meter sends it.
  public var measurement: Measurement
  /// What else is said of it.
  public var marks: ReadingMarks
  /// The device's own tick or record number, where it never changes; it is then the identity.
  public var tick: Int64?

  /// A reading that the meter's clock places.
  public init(
    _ kind: ReadingKind, at deviceTime: DeviceTime, _ measurement: Measurement, marks: ReadingMarks = [],
    tick: Int64? = nil, utcOffset: Int32? = nil
  ) {
    self.kind = kind
    self.deviceTime = deviceTime
    self.measurement = measurement
    self.marks = marks
    self.tick = tick
    self.utcOffset = utcOffset
  }
}

/// A diary record as a meter holds it: insulin, food, a note.
public struct MeterRecord: Hashable, Sendable {
  /// What it is about.
  public var kind: RecordKind
  /// The time as the meter showed it.
  public var deviceTime: DeviceTime
  /// The content, by the names of glucoport-json(5).
  public var fields: RecordFields
  /// The meter's own id of it; empty without one.
  public var sourceID: String

  /// A record that the meter's clock places.
  public init(_ kind: RecordKind, at deviceTime: DeviceTime, _ fields: RecordFields, sourceID: String = "") {
    self.kind = kind
    self.deviceTime = deviceTime
    self.fields = fields
    self.sourceID = sourceID
  }
}

/// Everything that a meter holds. Whole or not at all: a driver that cannot finish throws.
public struct MeterContents: Sendable {
  /// Which meter it is.
  public var identity: MeterIdentity
  /// Readings, in any order.
  public var readings: [MeterReading] = []
  /// Diary records, in any order.
  public var records: [MeterRecord] = []
  /// Items that the meter holds and that say nothing or have no kind here, counted by name.
  public var skipped: [String: Int] = [:]
  /// Items that cannot be understood; the line is the item's number in the memory, from 1.
  public var rejections: [Rejection] = []
  /// Things a person should know that reject nothing.
  public var warnings: [String] = []

  /// The contents of an empty meter.
  public init(_ identity: MeterIdentity) { self.identity = identity }
}

/// What reads one family of meters: its protocol, as calls on a transport. Adding one is a file and a line in the
/// register.
public protocol MeterDriver: Sendable {
  /// The id that `--driver` and the ingest's format take.
  static var id: String { get }
  /// The family's name, for people.
  static var name: String { get }
  /// The devices it knows.
  static var models: [MeterModel] { get }
  /// Whether the meter's clock can be set.
  static var canSetClock: Bool { get }

  /// A driver for one session.
  init()

  /// Asks which meter it is, and nothing more.
  ///
  /// - Throws: `Failure`; the meter is left in a state in which it can be used and asked again.
  func identify(_ meter: MeterConnection) throws -> MeterIdentity
  /// Reads all that the meter holds, and informs the connection which meter it is as soon as that is known.
  ///
  /// - Throws: `Failure`; the meter is left in a state in which it can be used and asked again.
  func read(_ meter: MeterConnection) throws -> MeterContents
  /// Sets the meter's clock, and nothing else.
  ///
  /// - Throws: `Failure`, of `.usage` where the meter's clock cannot be set.
  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws
  /// Asks which meter it is, and sets its clock in the same session.
  ///
  /// - Parameters:
  ///   - meter: the meter, connected.
  ///   - time: receives the meter's identity, with both clocks before the change; where it throws, nothing is set.
  /// - Throws: `Failure`, of `.usage` where the meter's clock cannot be set.
  func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws
}

extension MeterDriver {
  /// Most meters keep their clock to themselves.
  public static var canSetClock: Bool { false }

  /// Refuses.
  public func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    throw Failure(.usage, "the driver '\(Self.id)' cannot set the clock of this meter")
  }

  /// Most meters answer again and again on one connection.
  public func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws {
    try setClock(meter, to: time(identify(meter)))
  }
}
