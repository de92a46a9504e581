// SPDX-License-Identifier: Apache-2.0

/// The connection to a meter: over its USB plug, or by Bluetooth.
public enum MeterLink: Hashable, Sendable {
  /// Reports of the first HID interface. If it has no interrupt OUT endpoint, reports are sent with the
  /// request SET_REPORT.
  case hid
  /// The pair of bulk endpoints of the first interface of this class.
  case bulk(interfaceClass: UInt8)
  /// SCSI commands over USB bulk-only transport. The meter looks like a disk, which is never mounted.
  case disk
  /// A serial line of the USB communications class.
  case cdc(LineSettings)
  /// A serial line of a Silicon Labs CP2110, a bridge that is a HID device.
  case cp2110(LineSettings)
  /// A serial line for which a kernel driver provides a terminal device.
  case terminal(LineSettings)
  /// Bluetooth Low Energy. Meters with this link have no USB ids.
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

  /// The settings of the link's serial line; nil for a link without one.
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
  /// How the driver connects to the meter.
  public let link: MeterLink
  /// Whether devices of other kinds have the same ids, because the ids only name a cable or a chip. Such a
  /// device is only used if a person names the driver.
  public let isShared: Bool
  /// Why this driver cannot read the device, although it knows the device; nil if it can read it.
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

  /// A Bluetooth meter, by the name that it advertises. Its USB ids are zero.
  public static func bluetooth(_ name: String) -> MeterModel {
    MeterModel(name, vendorID: 0, productID: 0, link: .bluetooth)
  }
}

/// The clocks of a meter and of the host, read at the same moment.
public struct ClockComparison: Hashable, Sendable {
  /// What the meter's clock showed, without a time zone.
  public let meter: DeviceTime
  /// The host's clock in UTC seconds when the meter's answer arrived.
  public let host: Int64

  /// What the meter's clock and the host's showed at one moment.
  public init(meter: DeviceTime, host: Int64) {
    self.meter = meter
    self.host = host
  }
}

/// What a meter reports about itself.
public struct MeterIdentity: Hashable, Sendable {
  /// Vendor, model and serial number. The format is the driver's id. The vendor is spelled as the formats
  /// spell it, so that a meter and an export of its data state the same device.
  public var device: Device
  /// The version of the firmware; empty if the meter reports none.
  public var firmware: String
  /// The meter's clock and the host's clock; nil if the meter's clock cannot be read.
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
  /// What the meter states further about the reading, such as `beforeMeal`.
  public var marks: ReadingMarks
  /// The device's own tick or record number; nil if it can change. A reading with a tick has the tick in its
  /// identity instead of the time.
  public var tick: Int64?

  /// A reading with the time that the meter showed.
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
  /// What the record is, such as a dose of insulin. `RecordKindDescription` lists the fields of each kind.
  public var kind: RecordKind
  /// The time as the meter showed it.
  public var deviceTime: DeviceTime
  /// The content, with the field names of glucoport-json(5).
  public var fields: RecordFields
  /// The meter's own id of the record; empty without one.
  public var sourceID: String

  /// A diary record with the time that the meter showed.
  public init(_ kind: RecordKind, at deviceTime: DeviceTime, _ fields: RecordFields, sourceID: String = "") {
    self.kind = kind
    self.deviceTime = deviceTime
    self.fields = fields
    self.sourceID = sourceID
  }
}

/// How far the memory of a meter was read. Only a meter that numbers its records, and can send the records
/// from a given number on, has such a position.
public struct MeterPosition: Hashable, Sendable {
  /// The number of the last record that was read. The meter never changes it.
  public let number: Int64
  /// A text made from the content of this record. If the meter's memory was cleared and filled again, the
  /// record with this number has another text.
  public let mark: String
  /// The kind of the reading in this record.
  public let kind: ReadingKind
  /// The time of the reading in this record, as the meter showed it.
  public let deviceTime: DeviceTime

  /// The position of the last record that was read.
  public init(number: Int64, mark: String, kind: ReadingKind, deviceTime: DeviceTime) {
    (self.number, self.mark, self.kind, self.deviceTime) = (number, mark, kind, deviceTime)
  }
}

/// All data of a meter, or all data after a position. It is complete, since a driver that cannot read
/// everything throws.
public struct MeterContents: Sendable {
  /// What the meter reported about itself in the same session.
  public var identity: MeterIdentity
  /// Readings, in any order.
  public var readings: [MeterReading] = []
  /// Diary records, in any order.
  public var records: [MeterRecord] = []
  /// The items that glucoport does not store, since it has no kind for them or they contain no data. They are
  /// counted by name.
  public var skipped: [String: Int] = [:]
  /// Items that the driver does not understand. `line` is the number of the item in the meter's memory, from
  /// 1.
  public var rejections: [Rejection] = []
  /// Messages for a person that concern no single item.
  public var warnings: [String] = []
  /// The differences in minutes between the time that the meter showed and the base time of its internal
  /// clock. Each difference is listed once, in the order of the records. A difference changes when a person
  /// sets the clock. Empty for a meter without such a difference.
  public var clockOffsets: [Int] = []
  /// The position that was reached; nil if the next session must read the whole memory.
  public var position: MeterPosition?

  /// The contents of a meter without readings and records.
  public init(_ identity: MeterIdentity) { self.identity = identity }
}

/// A driver for one family of meters. It implements their protocol as calls on a transport. A new driver
/// needs only its file and a line in the register of drivers.
public protocol MeterDriver: Sendable {
  /// The id, which is used for `--driver` and as the format of the ingest.
  static var id: String { get }
  /// The family's name, for people.
  static var name: String { get }
  /// The USB devices that the driver can read; empty for a driver of Bluetooth meters.
  static var models: [MeterModel] { get }
  /// Whether the meter's clock can be set.
  static var canSetClock: Bool { get }

  /// A driver that is used for one session only.
  init()

  /// Reads only the identity of the meter.
  ///
  /// - Throws: `Failure`. After an error the meter still works, and it can be connected again.
  func identify(_ meter: MeterConnection) throws -> MeterIdentity
  /// Reads all data of the meter, and passes the meter's identity to `onIdentity` of the connection as soon
  /// as it is known. If the meter still has the record of `storedPosition`, the driver may leave out all data
  /// before this record.
  ///
  /// - Throws: `Failure`. After an error the meter still works, and it can be connected again.
  func read(_ meter: MeterConnection) throws -> MeterContents
  /// Sets the meter's clock and changes nothing else.
  ///
  /// - Throws: `Failure`, of category `.usage` if the meter's clock cannot be set.
  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws
  /// Reads the identity of the meter, and sets its clock in the same session.
  ///
  /// - Parameters:
  ///   - meter: the connected meter.
  ///   - time: receives the meter's identity with both clocks, and returns the time to set. If it throws, the
  ///     clock is not set.
  /// - Throws: `Failure`, of category `.usage` if the meter's clock cannot be set.
  func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws
}

extension MeterDriver {
  /// By default false, since the clock of most meters cannot be set.
  public static var canSetClock: Bool { false }

  /// Throws a failure of category `.usage`. Drivers that can set the clock replace this function.
  public func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    throw Failure(.usage, "the driver '\(Self.id)' cannot set the clock of this meter")
  }

  /// By default, the identity is read and the clock is set in two requests on one connection. A driver of
  /// meters that answer only one request on a connection must replace this function.
  public func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws {
    try setClock(meter, to: time(identify(meter)))
  }
}

extension MeterDriver {
  /// Whether the driver reads meters by Bluetooth. Such meters have no USB ids, so the driver lists no
  /// models.
  public static var usesBluetooth: Bool { models.isEmpty }

  /// The model with these USB ids; nil if the driver does not list them.
  public static func knownModel(_ vendorID: UInt16, _ productID: UInt16) -> MeterModel? {
    models.first { $0.vendorID == vendorID && $0.productID == productID }
  }

  /// A model for USB ids that the driver does not list, over a link of this kind. Nil if no listed model has
  /// such a link. For a serial line, the settings of any listed model are enough.
  ///
  /// The returned model has the settings of a listed model. The ids only name the chip in the cable, so any
  /// chip with the same line settings works.
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
  /// USB ids in the usual notation of Linux, `1a79:7410`.
  package static func ids(_ vendorID: UInt16, _ productID: UInt16) -> String {
    digits(vendorID) + ":" + digits(productID)
  }

  /// A USB id as udev writes it: four hexadecimal digits in lower case.
  package static func digits(_ id: UInt16) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
