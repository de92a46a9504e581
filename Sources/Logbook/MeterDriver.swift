// SPDX-License-Identifier: Apache-2.0

/// The connection to a meter: over its USB plug, or by Bluetooth.
public enum MeterLink: Hashable, Sendable {
  /// Reports of the first HID interface. A device without an interrupt OUT endpoint gets them as SET_REPORT.
  case hid
  /// The pair of bulk endpoints of the first interface of this class.
  case bulk(interfaceClass: UInt8)
  /// SCSI commands over bulk-only transport. The disk is never mounted.
  case disk
  /// A serial line of the USB communications class.
  case cdc(LineSettings)
  /// A serial line of a Silicon Labs CP2110, a HID device.
  case cp2110(LineSettings)
  /// A serial line for which the kernel's driver provides a terminal.
  case terminal(LineSettings)
  /// Bluetooth Low Energy. Such a meter has no USB ids.
  case bluetooth
}

extension MeterLink {
  /// The kind of a link, without its settings.
  public enum Kind: String, CaseIterable, Sendable {
    case hid, bulk, disk, cdc, cp2110, terminal, bluetooth
  }

  /// The kind of the link.
  public var kind: Kind {
    switch self {
    case .hid: .hid
    case .bulk: .bulk
    case .disk: .disk
    case .cdc: .cdc
    case .cp2110: .cp2110
    case .terminal: .terminal
    case .bluetooth: .bluetooth
    }
  }

  /// The settings of its serial line; nil for another link.
  public var line: LineSettings? {
    switch self {
    case .cdc(let line), .cp2110(let line), .terminal(let line): line
    case .hid, .bulk, .disk, .bluetooth: nil
    }
  }
}

/// A device that a driver identifies by its USB ids.
public struct MeterModel: Hashable, Sendable {
  /// The name on the device, for people.
  public let name: String
  /// The USB vendor id.
  public let vendorID: UInt16
  /// The USB product id.
  public let productID: UInt16
  /// The connection to it.
  public let link: MeterLink
  /// Whether other devices have the same ids, as with a cable or a chip. Such a device is only used if a person names
  /// the driver.
  public let isShared: Bool
  /// The reason why a known device cannot be read; nil if it can.
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

  /// A meter with Bluetooth, by the name that it advertises. Its USB ids are zero.
  public static func bluetooth(_ name: String) -> MeterModel {
    MeterModel(name, vendorID: 0, productID: 0, link: .bluetooth)
  }
}

/// The clocks of a meter and of the host at one moment.
public struct ClockComparison: Hashable, Sendable {
  /// The time on the meter.
  public let meter: DeviceTime
  /// The host's clock in UTC seconds when the meter's answer arrived.
  public let host: Int64

  /// Both clocks at one moment.
  public init(meter: DeviceTime, host: Int64) {
    self.meter = meter
    self.host = host
  }
}

/// The identity of a meter.
public struct MeterIdentity: Hashable, Sendable {
  /// Vendor, model and serial number. The format is the driver's id, and the vendor's spelling is that of the formats.
  public var device: Device
  /// The version of the firmware; empty if the meter reports none.
  public var firmware: String
  /// Both clocks; nil if the meter's clock cannot be read.
  public var clock: ClockComparison?
  /// The number of readings that the meter reports; nil if it reports none.
  public var count: Int?

  /// An identity without a clock and a count.
  public init(device: Device, firmware: String = "", clock: ClockComparison? = nil, count: Int? = nil) {
    self.device = device
    self.firmware = firmware
    self.clock = clock
    self.count = count
  }
}

/// A reading in a meter's memory, without a time zone.
public struct MeterReading: Hashable, Sendable {
  /// The kind of measurement.
  public var kind: ReadingKind
  /// The time as the meter showed it.
  public var deviceTime: DeviceTime
  /// Seconds east of Greenwich, if the meter reports them.
  public var utcOffset: Int32?
  /// The measured value, in the unit that the meter sends.
  public var measurement: Measurement
  /// The marks.
  public var marks: ReadingMarks
  /// The device's own tick or record number if it never changes. It is then the identity.
  public var tick: Int64?

  /// A reading placed by the meter's clock.
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

/// A diary record in a meter's memory: insulin, food, a note.
public struct MeterRecord: Hashable, Sendable {
  /// What it is about.
  public var kind: RecordKind
  /// The time as the meter showed it.
  public var deviceTime: DeviceTime
  /// The content, with the names of glucoport-json(5).
  public var fields: RecordFields
  /// The meter's own id of the record; empty without one.
  public var sourceID: String

  /// A record placed by the meter's clock.
  public init(_ kind: RecordKind, at deviceTime: DeviceTime, _ fields: RecordFields, sourceID: String = "") {
    self.kind = kind
    self.deviceTime = deviceTime
    self.fields = fields
    self.sourceID = sourceID
  }
}

/// How far the memory of a meter was read: its last record, if the meter numbers its records and lets a later session ask
/// for those from a number on.
public struct MeterPosition: Hashable, Sendable {
  /// The number that the meter gave the record, and never changes.
  public let number: Int64
  /// The content of the record as a text. A memory that began again has another one.
  public let mark: String
  /// The kind of the record's reading.
  public let kind: ReadingKind
  /// The time of the record's reading as the meter showed it.
  public let deviceTime: DeviceTime

  /// The position of a record.
  public init(number: Int64, mark: String, kind: ReadingKind, deviceTime: DeviceTime) {
    (self.number, self.mark, self.kind, self.deviceTime) = (number, mark, kind, deviceTime)
  }
}

/// All data of a meter, or all since a position. They are complete, since a driver that cannot finish throws.
public struct MeterContents: Sendable {
  /// The identity of the meter.
  public var identity: MeterIdentity
  /// Readings, in any order.
  public var readings: [MeterReading] = []
  /// Diary records, in any order.
  public var records: [MeterRecord] = []
  /// Items without information or without a kind in glucoport, counted by name.
  public var skipped: [String: Int] = [:]
  /// Items that the driver does not understand. The line is the item's number in the memory, from 1.
  public var rejections: [Rejection] = []
  /// What a person should know that rejects no item.
  public var warnings: [String] = []
  /// Minutes from the base time of the meter's internal clock to the times that it showed, each once. They are in the order
  /// of the records. A meter without such an offset has none. A person who sets the clock changes it.
  public var clockOffsets: [Int] = []
  /// How far the memory was read; nil if the next session must read all of it.
  public var position: MeterPosition?

  /// The contents of an empty meter.
  public init(_ identity: MeterIdentity) { self.identity = identity }
}

/// A driver for one family of meters: its protocol as calls on a transport. A new driver is a file and a line in the
/// register.
public protocol MeterDriver: Sendable {
  /// The id for `--driver` and for the format of the ingest.
  static var id: String { get }
  /// The family's name, for people.
  static var name: String { get }
  /// The devices it knows.
  static var models: [MeterModel] { get }
  /// Whether the meter's clock can be set.
  static var canSetClock: Bool { get }

  /// A driver for one session.
  init()

  /// Reads the identity of the meter, and nothing else.
  ///
  /// - Throws: `Failure`. The meter can be used and connected again after it.
  func identify(_ meter: MeterConnection) throws -> MeterIdentity
  /// Reads all data of the meter, and gives its identity to the connection as soon as it is known. It may leave out what is
  /// before the position that the connection has, if the meter still has the same record there.
  ///
  /// - Throws: `Failure`. The meter can be used and connected again after it.
  func read(_ meter: MeterConnection) throws -> MeterContents
  /// Sets the meter's clock, and nothing else.
  ///
  /// - Throws: `Failure`, of category `.usage` if the meter's clock cannot be set.
  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws
  /// Reads the identity of the meter, and sets its clock in the same session.
  ///
  /// - Parameters:
  ///   - meter: the connected meter.
  ///   - time: receives the meter's identity, with both clocks before the change. If it throws, nothing is set.
  /// - Throws: `Failure`, of category `.usage` if the meter's clock cannot be set.
  func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws
}

extension MeterDriver {
  /// By default false, since the clock of most meters cannot be set.
  public static var canSetClock: Bool { false }

  /// Throws a failure of category `.usage`.
  public func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    throw Failure(.usage, "the driver '\(Self.id)' cannot set the clock of this meter")
  }

  /// For most meters, which answer repeatedly on one connection.
  public func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws {
    try setClock(meter, to: time(identify(meter)))
  }
}

extension MeterDriver {
  /// Whether the driver reads meters by Bluetooth. They have no USB ids, so it lists no models.
  public static var usesBluetooth: Bool { models.isEmpty }

  /// The model with these ids; nil if the driver does not know them.
  public static func knownModel(_ vendorID: UInt16, _ productID: UInt16) -> MeterModel? {
    models.first { $0.vendorID == vendorID && $0.productID == productID }
  }

  /// A model for ids that the driver does not know, over a link of this kind; nil if the driver has no such link.
  ///
  /// The bytes for one serial line are correct for another with the same settings. The chip in a cable is not part of
  /// the protocol.
  public static func model(_ vendorID: UInt16, _ productID: UInt16, over kind: MeterLink.Kind) -> MeterModel?
  {
    let alike = models.filter { $0.link.kind == kind }
    let template = alike.first { $0.obstacle == nil } ?? alike.first
    let line = models.lazy.compactMap(\.link.line).first
    let link =
      switch kind {
      case .cdc: template?.link ?? line.map { .cdc($0) }
      case .terminal: template?.link ?? line.map { .terminal($0) }
      default: template?.link
      }
    return link.map {
      MeterModel(name, vendorID: vendorID, productID: productID, link: $0, obstacle: template?.obstacle)
    }
  }
}

extension MeterModel {
  /// USB ids in the notation that is usual on Linux: `1a79:7410`.
  package static func ids(_ vendorID: UInt16, _ productID: UInt16) -> String {
    digits(vendorID) + ":" + digits(productID)
  }

  /// A USB id in the notation of udev.
  package static func digits(_ id: UInt16) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
