// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Accu-Chek Guide and its kin: IEEE 11073-20601 over the bulk endpoints of the Personal Healthcare Device Class.
///
/// Three independent readers agree on the session and on the glucose entries. The rest has a single source, which read
/// a real Guide 925: the segments and codes of control solution and meal marks, and the answer to a set clock. The
/// product names of the model numbers have a single source, too. Values are mg/dL whatever the meter shows.
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

  /// Uses a single association: the meter grants the next one only when it is plugged in again.
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
    // Segments that the meter reports as empty are skipped: the answer for an empty one is known for glucose only.
    let wanted = segments.filter { $0.content != .other && $0.content != .unreadable && $0.count != 0 }
    let total = wanted.reduce(0) { $0 + ($1.count ?? 0) }
    var done = 0
    for segment in wanted {
      var part = memory
      do {
        let taken = try read(segment, into: &part, by: &session) { count in
          done += count
          meter.noteProgress(done, of: total > 0 ? total : nil)
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
        // A single source states the layout of these segments, and other meters may differ. The complete glucose is kept.
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
      try memory.take(report, of: segment)
      taken += report.count
      onEntries(report.count)
    }
    return taken
  }
}
