// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Accu-Chek Guide and related meters: IEEE 11073-20601 over the bulk endpoints of the Personal Healthcare
/// Device Class.
///
/// Three independent programs that read these meters agree on the session and on the glucose entries. The
/// other facts are known from a single program, which read a real Guide 925. They are the segments, the codes
/// of control solution and meal marks, and the answer after the clock was set. The product names of the model
/// numbers have a single source, too. Values are in mg/dL whatever unit the meter shows.
struct AccuChekGuideDriver: MeterDriver {
  static let id = "accu-chek-guide"
  static let name = "Roche Accu-Chek Guide, Guide Me, Instant, Aviva Connect"
  static let canSetClock = true
  static let models = [
    MeterModel(
      "Accu-Chek Aviva Connect, Performa Connect", vendorID: 0x173A, productID: 0x21CF, link: link),
    MeterModel("Accu-Chek Guide", vendorID: 0x173A, productID: 0x21D5, link: link),
    MeterModel("Accu-Chek Guide Me", vendorID: 0x173A, productID: 0x21D6, link: link),
    MeterModel("Accu-Chek Instant", vendorID: 0x173A, productID: 0x21D7, link: link),
    MeterModel("ReliOn Platinum", vendorID: 0x173A, productID: 0x21D8, link: link),
    MeterModel(
      "Accu-Chek Active", vendorID: 0x173A, productID: 0x21CC, link: link,
      obstacle: "its protocol is unknown: it does not answer that of the Accu-Chek Guide"),
  ]

  private static let link = MeterLink.bulk(interfaceClass: 0x0F)

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    var session = AccuChekSession(meter)
    defer { session.release() }
    try session.associate()
    return identity(of: try session.device(), meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    var session = AccuChekSession(meter)
    defer { session.release() }
    try session.associate()
    let device = try session.device()
    var identity = identity(of: device, meter)
    try meter.onIdentity(identity)
    let segments = try session.segments()
    let memory = try read(segments, of: device, meter, by: &session)
    identity.count = segments.filter { $0.content == .glucose }.reduce(0) { $0 + ($1.count ?? 0) }
    if identity.count == 0 { identity.count = memory.glucoseCount }
    var contents = memory.contents(identity)
    contents.warnings += session.warnings
    return contents
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    try setClock(meter) { _ in time }
  }

  /// Sets the clock in a single association, since the meter grants the next association only when it is
  /// plugged in again.
  func setClock(_ meter: MeterConnection, by time: (MeterIdentity) throws -> DeviceTime) throws {
    var session = AccuChekSession(meter)
    defer { session.release() }
    try session.associate()
    let device = try session.device()
    guard device.canSetClock else {
      throw Failure(.usage, "setting the meter's clock: this meter does not let it be set from outside")
    }
    try session.setClock(time(identity(of: device, meter)))
  }
}

extension AccuChekGuideDriver {
  private func identity(of device: MedicalDevice, _ meter: MeterConnection) -> MeterIdentity {
    MeterIdentity(
      device: Device(vendor: "Roche", model: device.product, serial: device.serial, format: Self.id),
      firmware: device.firmware, clock: device.clock.map(meter.compareClock))
  }

  private func read(
    _ segments: [MemorySegment], of device: MedicalDevice, _ meter: MeterConnection,
    by session: inout AccuChekSession
  ) throws -> AccuChekMemory {
    var memory = AccuChekMemory(lowLimit: device.lowLimit)
    // Segments that the meter reports as empty are skipped, since its answer for an empty segment is known
    // only for glucose.
    let wanted = segments.filter { $0.content != .other && $0.content != .unreadable && $0.count != 0 }
    let total = wanted.reduce(0) { $0 + ($1.count ?? 0) }
    var done = 0
    for segment in wanted {
      var part = memory
      do {
        let taken = try read(segment, into: &part, by: &session) { count in
          done += count
          meter.reportProgress(done, of: total > 0 ? total : nil)
        }
        memory = part
        if let count = segment.count, count != taken {
          memory.warn(
            "part \(segment.instance) of the memory should hold \(counted(count, "entry", "entries")), but the meter sent \(taken)"
          )
        }
      } catch let failure as Failure
        where failure.category == .protocolViolation && segment.content != .glucose
      {
        // A single source states the layout of segments without glucose, and other meters may differ. So the
        // segment is skipped, and the glucose, which was read before, is kept.
        memory.leaveOut(segment, because: failure)
      }
    }
    return memory
  }

  /// Reads one segment, and returns the number of its entries.
  private func read(
    _ segment: MemorySegment, into memory: inout AccuChekMemory, by session: inout AccuChekSession,
    onEntries: (Int) -> Void
  ) throws -> Int {
    var taken = 0
    try session.read(segment) { report in
      try memory.add(report, of: segment)
      taken += report.count
      onEntries(report.count)
    }
    return taken
  }
}

/// The entries read from an Accu-Chek's memory: glucose, control solution, and meal marks. A meal mark
/// belongs to the glucose entry of the same instant.
private struct AccuChekMemory {
  /// Warnings for the person. They reject nothing.
  private var warnings: [String] = []
  private var readings: [(time: [UInt8], reading: MeterReading)] = []
  private var controls: [MeterReading] = []
  private var meals: [[UInt8]: UInt16] = [:]
  private var skipped: [String: Int] = [:]
  private var rejections: [Rejection] = []
  private var entryCount: Int64 = 0
  private let lowLimit: Double

  /// - Parameter lowLimit: the value below which the meter shows LO.
  init(lowLimit: Double) {
    self.lowLimit = lowLimit
  }

  /// The number of glucose readings.
  var glucoseCount: Int { readings.count }

  /// Adds the entries of a report.
  mutating func add(_ report: SegmentReport, of segment: MemorySegment) throws(Failure) {
    guard let entries = report.split(every: segment.entryLength) else {
      throw Failure(
        .protocolViolation,
        "reading part \(segment.instance) of the meter's memory: a report has another length than it states; "
          + "unplug the meter, plug it in again and retry")
    }
    for entry in entries {
      entryCount += 1
      let bytes = Array(entry)
      if segment.content == .meals {
        addMeal(bytes, segment)
      } else {
        addReading(bytes, segment)
      }
    }
  }

  mutating func warn(_ warning: String) { warnings.append(warning) }

  /// Skips a segment without glucose that cannot be read, with a warning.
  mutating func leaveOut(_ segment: MemorySegment, because failure: Failure) {
    let name = segment.content == .meals ? "meal marks" : "control tests"
    warn("the \(name) were left out: \(failure.message)")
    skipped["entry of a part that cannot be read", default: 0] += max(1, segment.count ?? 1)
  }

  /// All readings. A reading has the meal mark that was stored for its time.
  func contents(_ identity: MeterIdentity) -> MeterContents {
    var contents = MeterContents(identity)
    contents.skipped = skipped
    contents.rejections = rejections
    contents.warnings = warnings
    var left = meals
    contents.readings = readings.map { time, reading in
      var marked = reading
      if let code = left.removeValue(forKey: time) { marked.marks.formUnion(Self.mark(code)) }
      return marked
    }
    if !left.isEmpty { contents.skipped["meal mark without a reading", default: 0] += left.count }
    contents.readings.markClockSetBackInEitherOrder()
    var controls = controls
    controls.markClockSetBackInEitherOrder()
    contents.readings += controls
    return contents
  }
}

extension AccuChekMemory {
  private mutating func addMeal(_ entry: [UInt8], _ segment: MemorySegment) {
    let code = Self.number(entry, at: segment.valueOffset)
    guard [0x724C, 0x7250, 0x7254, 0x7258, 0x7274].contains(code) else {
      return skip("meal mark of an unknown kind")
    }
    meals[Array(entry.prefix(MedicalTime.length))] = code
  }

  private mutating func addReading(_ entry: [UInt8], _ segment: MemorySegment) {
    let timeBytes = Array(entry.prefix(MedicalTime.length))
    guard let time = MedicalTime.parse(timeBytes) else { return reject("invalid time") }
    let status = segment.statusOffset.map { Self.number(entry, at: $0) } ?? 0
    // These bits mean invalid, test data and demo data; the other bits describe valid measurements.
    guard status & 0x8C00 == 0 else { return skip("entry that the meter marks as invalid or as a test") }
    let measurement: Measurement
    let value = ShortFloat(Self.number(entry, at: segment.valueOffset))
    switch value {
    case .number:
      guard let number = value.number(timesTenTo: 0), number > 0 else {
        return reject("the value is zero or below")
      }
      measurement = .value(Quantity(number, .milligramsPerDecilitre))
    case .high: measurement = .high(above: 600, .milligramsPerDecilitre)
    case .low: measurement = .low(below: lowLimit, .milligramsPerDecilitre)
    case .none: return skip("entry without a value")
    }
    if segment.content == .controlSolution {
      controls.append(MeterReading(.smbg, at: time, measurement, marks: .controlSolution))
    } else {
      readings.append((timeBytes, MeterReading(.smbg, at: time, measurement)))
    }
  }

  private static func number(_ entry: [UInt8], at offset: Int) -> UInt16 {
    guard offset >= 0, offset + 1 < entry.count else { return 0 }
    return UInt16(entry[offset]) << 8 | UInt16(entry[offset + 1])
  }

  /// The mark of a meal code. A casual meal, 7258, has no mark.
  private static func mark(_ code: UInt16) -> ReadingMarks {
    switch code {
    case 0x724C: .beforeMeal
    case 0x7250: .afterMeal
    case 0x7254: .fasting
    case 0x7274: .bedtime
    default: []
    }
  }

  private mutating func skip(_ name: String) { skipped[name, default: 0] += 1 }

  private mutating func reject(_ reason: String) {
    rejections.append(Rejection(line: entryCount, reason: reason))
  }
}
