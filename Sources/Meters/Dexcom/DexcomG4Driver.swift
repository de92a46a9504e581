// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Dexcom receivers G4, G5 and G6.
///
/// The parts about the G4 are known from a recording of the manufacturer's program and its export. G5 and G6
/// add revisions 4 and 5 of sensor values, revision 3 of calibrations, and the partition of values that were
/// fetched later. Each of these additions is known from one published source, and no recording of them is
/// public.
///
/// A sensor value is identified by the second of its measurement on the system's clock. That clock cannot be
/// set, while the display's clock can. The manufacturer's export names the transmitter as the device and
/// counts the transmitter's ticks. The receiver of the G4 stores neither the transmitter nor its ticks. So
/// the same value from the receiver and from the export has two identities. Calibrations are identified by
/// their shown time in both sources.
struct DexcomG4Driver: MeterDriver {
  static let id = "dexcom-g4"
  static let name = "Dexcom G4, G5 and G6 receivers"
  static let models = [
    MeterModel(
      "Dexcom G4, G5 or G6 receiver", vendorID: 0x22A3, productID: 0x0047,
      link: .cdc(LineSettings(baud: 115_200))
    ),
    MeterModel(
      "Dexcom G7 receiver", vendorID: 0x22A3, productID: 0x0048, link: .cdc(LineSettings(baud: 115_200)),
      obstacle: "its protocol is not published"),
  ]
  static let canSetClock = true

  private static let products = [
    "G4Receiver": "G4 Receiver", "ScoutReceiver": "G5 Receiver", "OrionReceiver": "G6 Receiver",
  ]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(meter, DexcomSession(meter)).identity
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let session = DexcomSession(meter)
    let (identity, hasBackfill) = try identify(meter, session)
    try meter.onIdentity(identity)
    let partitions: [DexcomPartition] = [.sensor] + (hasBackfill ? [.backfill] : []) + [.calibration, .event]
    let ranges = try partitions.map { ($0, try session.range($0)) }
    let total = ranges.reduce(0) { $0 + ($1.1?.count ?? 0) }
    var memory = DexcomMemory()
    var done = 0
    for case (let partition, let range?) in ranges {
      let pages = try session.pages(range, partition) {
        done += 1
        meter.reportProgress(done, of: total)
      }
      for page in pages { memory.add(page, partition) }
    }
    return memory.contents(identity)
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the receiver's clock"
    let session = DexcomSession(meter)
    let system = try session.number(.systemTime, UInt32.self, doing: doing)
    guard let offset = Int32(exactly: time.seconds - DexcomRecord.epoch - Int64(system)) else {
      throw Failure(.usage, "\(doing): the receiver cannot show this time")
    }
    _ = try session.request(.setDisplayOffset, offset.littleEndianBytes, doing: doing)
    guard try session.number(.displayOffset, Int32.self, doing: doing) == offset else {
      throw Failure(.protocolViolation, "\(doing): the receiver shows another time than the one that was set")
    }
  }
}

extension DexcomG4Driver {
  private func identify(
    _ meter: MeterConnection, _ session: DexcomSession
  ) throws -> (identity: MeterIdentity, hasBackfill: Bool) {
    let doing = "asking which receiver it is"
    _ = try session.request(.ping, doing: doing)
    let firmware = DexcomText(try session.request(.firmwareHeader, doing: doing))
    let product = firmware["ProductId"] ?? ""
    let device = Device(
      vendor: "Dexcom", model: Self.products[product] ?? firmware["ProductName"] ?? "Receiver",
      serial: try serialNumber(session, doing: doing), format: Self.id)
    var identity = MeterIdentity(device: device, firmware: firmware["FirmwareVersion"] ?? "")
    let offset = try session.number(.displayOffset, Int32.self, doing: "reading the clock")
    let system = try session.number(.systemTime, UInt32.self, doing: "reading the clock")
    identity.clock = meter.compareClock(
      DeviceTime(seconds: Int64(system) + Int64(offset) + DexcomRecord.epoch))
    return (identity, product == "ScoutReceiver" || product == "OrionReceiver")
  }

  /// The serial number in the last page of the partition `manufacturing`. A repaired receiver has several
  /// such pages.
  private func serialNumber(_ session: DexcomSession, doing: String) throws -> String {
    guard let last = try session.range(.manufacturing)?.upperBound,
      let page = try session.pages(last...last, .manufacturing, onPage: {}).first,
      let record = page?.records(length: 500).first, let record,
      let serial = DexcomText(record.dropFirst(8))["SerialNumber"]
    else { throw Failure(.protocolViolation, "\(doing): the receiver reports no serial number") }
    return serial
  }
}

/// The contents of a receiver's pages, collected in their order.
private struct DexcomMemory {
  private var history: [MeterReading] = []
  private var calibrations: [MeterReading] = []
  private var records: [MeterRecord] = []
  private var skipped: [String: Int] = [:]
  private var rejections: [Rejection] = []
  /// The number of items read so far.
  private var count: Int64 = 0

  /// Adds the records of a page; nil means a page with a damaged header.
  mutating func add(_ page: DexcomPage?, _ partition: DexcomPartition) {
    guard let page else { return reject("a page with a damaged header") }
    guard let length = DexcomRecord.length(partition, revision: page.revision) else {
      for _ in 0..<page.count { reject("the record has the undocumented revision \(page.revision)") }
      return
    }
    for bytes in page.records(length: length) {
      guard let bytes else {
        reject("a record with a wrong checksum")
        continue
      }
      add(DexcomRecord(bytes, partition, revision: page.revision))
    }
  }

  /// All contents, with marks where their order shows a change of the clock.
  func contents(_ identity: MeterIdentity) -> MeterContents {
    var contents = MeterContents(identity)
    var history = history.sorted { ($0.tick ?? 0) < ($1.tick ?? 0) }
    var calibrations = calibrations
    history.markClockSetBack()
    calibrations.markClockSetBack()
    contents.readings = history + calibrations
    contents.records = records
    contents.skipped = skipped
    contents.rejections = rejections
    let changes = Self.clockChanges(history)
    if changes > 0 { contents.skipped["change of the clock"] = changes }
    return contents
  }
}

extension DexcomMemory {
  private mutating func add(_ record: DexcomRecord) {
    count += 1
    switch record {
    case .reading(let reading) where reading.kind == .cbg: history.append(reading)
    case .reading(let reading): calibrations.append(reading)
    case .record(let record): records.append(record)
    case .skipped(let name): skipped[name, default: 0] += 1
    case .rejected(let reason): rejections.append(Rejection(line: count, reason: reason))
    }
  }

  private mutating func reject(_ reason: String) { add(.rejected(reason)) }

  /// The number of times that the display's clock was set: its offset from the system's clock changed between
  /// two values.
  private static func clockChanges(_ history: [MeterReading]) -> Int {
    let distances = history.map { $0.deviceTime.seconds - ($0.tick ?? 0) }
    // Differences of seconds come from the measurement, not from the clock, so they are ignored.
    return zip(distances, distances.dropFirst()).count { abs($0 - $1) >= 60 }
  }
}

/// The attributes in a receiver's text: one XML element with quotes of either kind.
struct DexcomText {
  private let text: [UInt8]

  /// The text in these bytes, without the zeros after it.
  init(_ bytes: some Sequence<UInt8>) { text = Array(bytes.prefix { $0 != 0 }) }

  /// The value of an attribute; nil if it is missing or not printable.
  subscript(name: String) -> String? {
    let start = Array(" \(name)=".utf8)
    guard text.count > start.count else { return nil }
    for place in 0..<(text.count - start.count) where text[place...].starts(with: start) {
      let quoted = text[(place + start.count)...]
      guard let quote = quoted.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\""),
        let end = quoted.dropFirst().firstIndex(of: quote)
      else { return nil }
      return quoted[(quoted.startIndex + 1)..<end].printableText
    }
    return nil
  }
}

/// Commands to a Dexcom receiver. Only the commands that read, and the one that sets the display's clock, are
/// defined. Others erase the receiver, switch it off, or make it unusable.
final class DexcomSession {
  enum Command: UInt8 {
    case ping = 0x0A
    case firmwareHeader = 0x0B
    case pageRange = 0x10
    case pages = 0x11
    case displayOffset = 0x1D
    case setDisplayOffset = 0x1E
    case systemTime = 0x22
  }

  /// The time to wait for an answer, twice as long as in Tidepool's driver.
  private static let milliseconds = 2000
  private static let attempts = 3
  /// The maximum number of transfers of an answer. The longest answer has 34 transfers of 64 bytes, and noise
  /// may precede it.
  private static let maxTransfers = 256
  private static let nextMilliseconds = 1000
  private static let maxPages: UInt32 = 10_000
  /// The largest number of pages in one recorded answer.
  private static let pagesAtOnce: UInt32 = 4

  private let meter: MeterConnection

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Sends a command, again if the answer is damaged, and returns the payload of the answer.
  func request(_ command: Command, _ payload: [UInt8] = [], doing: String) throws -> [UInt8] {
    do {
      for _ in 0..<Self.attempts {
        // Data of an interrupted session may still arrive, so it is discarded first.
        _ = try meter.perform(.discard, within: Self.milliseconds)
        try meter.send(
          DexcomPacket(code: command.rawValue, payload: payload).bytes, within: Self.milliseconds)
        guard let answer = try answer() else { continue }
        return try Self.payload(of: answer, doing: doing)
      }
    } catch let error as TransportError {
      throw Failure(error, doing: doing)
    }
    throw Failure(.protocolViolation, "\(doing): the receiver's answer is damaged; retry")
  }

  /// Requests one number.
  func number<Number: FixedWidthInteger>(_ command: Command, _: Number.Type, doing: String) throws -> Number {
    guard let number = try request(command, doing: doing).littleEndian(Number.self, at: 0) else {
      throw Failure(.protocolViolation, "\(doing): the receiver's answer is too short")
    }
    return number
  }

  /// The first and last page of a partition; nil for an empty one.
  func range(_ partition: DexcomPartition) throws -> ClosedRange<UInt32>? {
    let doing = "asking for the size of the receiver's memory"
    let answer = try request(.pageRange, [partition.rawValue], doing: doing)
    guard let first = answer.littleEndian(UInt32.self, at: 0),
      let last = answer.littleEndian(UInt32.self, at: 4)
    else { throw Failure(.protocolViolation, "\(doing): the receiver's answer is too short") }
    if first == .max, last == .max { return nil }
    guard first <= last, last - first < Self.maxPages else {
      throw Failure(.protocolViolation, "\(doing): the receiver reports an impossible range of pages")
    }
    return first...last
  }

  /// The pages of a range in order; nil for a page with a damaged header.
  func pages(_ range: ClosedRange<UInt32>, _ partition: DexcomPartition, onPage: () -> Void) throws
    -> [DexcomPage?]
  {
    var pages: [DexcomPage?] = []
    var next: UInt32? = range.lowerBound
    while let first = next {
      let count = min(Self.pagesAtOnce, range.upperBound - first + 1)
      let doing = "reading page \(first) of part \(partition.rawValue) of the memory"
      let payload = [partition.rawValue] + first.littleEndianBytes + [UInt8(truncatingIfNeeded: count)]
      let answer = try request(.pages, payload, doing: doing)
      guard answer.count == Int(count) * DexcomPage.size else {
        throw Failure(.protocolViolation, "\(doing): the receiver sent another number of bytes")
      }
      for index in 0..<count {
        let page = DexcomPage(answer.dropFirst(Int(index) * DexcomPage.size).prefix(DexcomPage.size))
        guard page.map({ $0.number == first + index && $0.partition == partition.rawValue }) ?? true else {
          throw Failure(.protocolViolation, "\(doing): the receiver sent another page")
        }
        pages.append(page)
        onPage()
      }
      next = range.upperBound - first < Self.pagesAtOnce ? nil : first + Self.pagesAtOnce
    }
    return pages
  }
}

extension DexcomSession {
  /// The next packet, assembled from transfers of any size; nil if it is damaged.
  private func answer() throws(TransportError) -> DexcomPacket? {
    var received: [UInt8] = []
    for _ in 0..<Self.maxTransfers {
      let bytes = try meter.receive(
        maxBytes: 4096, within: received.isEmpty ? Self.milliseconds : Self.nextMilliseconds)
      guard !bytes.isEmpty else { throw .timedOut }
      received += bytes
      switch DexcomPacket.find(in: received) {
      case .packet(let packet): return packet
      case .broken: return nil
      case .incomplete: continue
      }
    }
    return nil
  }

  private static let refusals: [UInt8: String] = [
    2: "it was not understood", 3: "it knows no such command", 4: "it knows no such parameter",
    5: "the packet was incomplete", 6: "it has an internal error", 7: "it is in another mode",
  ]

  private static func payload(of answer: DexcomPacket, doing: String) throws -> [UInt8] {
    if answer.code == 1 { return answer.payload }
    let reason = refusals[answer.code] ?? "result \(answer.code)"
    throw Failure(.protocolViolation, "\(doing): the receiver refused: \(reason)")
  }
}
