// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LifeScan OneTouch Verio of 2015, Verio Flex, Verio Reflect, Select Plus, Select Plus Flex and Ultra Plus
/// Flex, which appear as disks.
///
/// Only one published source states the bit of control solution, and the range outside which a value is LO or
/// HI. The protocol of Verio Reflect and Ultra Plus Flex is known from one published source, too. The meters
/// number their tests with 16 bits. The shown time is a reading's identity all the same, because exports with
/// the same readings state only the time.
struct OneTouchVerioDriver: MeterDriver {
  static let id = "onetouch-verio"
  static let name = "LifeScan OneTouch Verio, Verio Flex, Select Plus"
  static let models = [
    MeterModel("OneTouch Verio (2015)", vendorID: 0x2766, productID: 0x0000, link: .disk),
    MeterModel("OneTouch Verio Flex", vendorID: 0x2766, productID: 0x0004, link: .disk),
    MeterModel("OneTouch Verio Reflect", vendorID: 0x2766, productID: 0x000C, link: .disk),
    MeterModel("OneTouch Ultra Plus Flex", vendorID: 0x2766, productID: 0x000E, link: .disk),
    MeterModel("OneTouch Select Plus", vendorID: 0x2766, productID: 0x1000, link: .disk),
    MeterModel("OneTouch Select Plus Flex", vendorID: 0x2766, productID: 0x1004, link: .disk),
  ]
  static let canSetClock = true

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(meter, OneTouchDisk(meter))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let disk = try OneTouchDisk(meter)
    let identity = try identify(meter, disk)
    try meter.onIdentity(identity)
    let count = identity.count ?? 0
    let records = try (0..<count).map { index in
      let data = try disk.request(
        [0x03, 0x31, 0x02] + UInt16(truncatingIfNeeded: index).littleEndianBytes + [0],
        doing: "reading record \(index + 1) of \(count)")
      meter.reportProgress(index + 1, of: count)
      return OneTouchRecord(disk: data)
    }
    return MeterContents(identity, newestFirst: records)
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let disk = try OneTouchDisk(meter)
    let seconds = try OneTouchClock.seconds(time, since: OneTouchRecord.epoch, doing: doing)
    _ = try disk.request([0x03, 0x20, 0x01] + seconds.littleEndianBytes, doing: doing)
    let shown = try disk.request([0x03, 0x20, 0x02], doing: doing)
    try OneTouchClock.check(shown, was: seconds, doing: doing)
  }
}

extension OneTouchVerioDriver {
  private func identify(_ meter: MeterConnection, _ disk: OneTouchDisk) throws -> MeterIdentity {
    let serial = try disk.text(0x00, doing: "asking for the serial number")
    let model = try disk.text(0x01, doing: "asking for the model")
    let firmware = try disk.text(0x02, doing: "asking for the firmware's version")
    var identity = MeterIdentity(
      device: Device(
        vendor: "LifeScan", model: model.hasPrefix("OneTouch") ? model : "OneTouch " + model, serial: serial,
        format: Self.id),
      firmware: firmware)
    let clock = try disk.request([0x03, 0x20, 0x02], doing: "reading the clock")
    identity.clock = try OneTouchClock.shown(clock, since: OneTouchRecord.epoch).map(meter.compareClock)
    let doing = "asking for the number of records"
    guard let count = try disk.request([0x03, 0x27, 0x00], doing: doing).littleEndian(UInt16.self, at: 0)
    else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer is too short")
    }
    identity.count = Int(count)
    return identity
  }
}

/// A OneTouch meter that appears as a disk and receives requests in sectors that serve as registers.
private struct OneTouchDisk {
  enum Sector: UInt8 {
    case general = 3
    case parameters = 4
  }

  private static let sectorSize = 512
  private static let milliseconds = 5000
  private static let attempts = 3
  /// The maximum number of times that a sector is read while it still holds the request instead of the
  /// answer.
  private static let reads = 5

  private let meter: MeterConnection

  /// Words in the product text of a OneTouch meter that has such a text.
  private static let products = ["onetouch", "one touch", "verio", "select", "ultra", "reflect"]

  /// Verifies that the disk is a meter. On any other disk a request would destroy data.
  ///
  /// The proof is the vendor's USB id, and the vendor and product in the answer to INQUIRY. Recorded meters
  /// leave the product empty. A disk with an unknown product must have the label by which Tidepool's program
  /// recognises the meters.
  init(_ meter: MeterConnection) throws {
    let doing = "making sure that the disk is a OneTouch meter"
    guard meter.model.link == .disk, meter.model.vendorID == 0x2766 else {
      throw Self.notAMeter(doing, "its USB vendor id is another one")
    }
    self.meter = meter
    let inquiry = try command([0x12, 0, 0, 0, 36, 0], reads: 36, doing: doing)
    // The vendor begins at byte 8, the product at byte 16.
    guard inquiry.count >= 32, inquiry[8..<16].elementsEqual("LifeScan".utf8) else {
      throw Self.notAMeter(doing, "it names another vendor")
    }
    let product = String(decoding: inquiry[16..<32].filter { $0 >= 0x20 }, as: UTF8.self)
      .lowercased()
    if product.allSatisfy({ $0 == " " }) || Self.products.contains(where: product.contains) { return }
    let label = try command(Self.transfer(0x28, sector: 0), reads: Self.sectorSize, doing: doing)
    guard label.count == Self.sectorSize, label[0x2B..<0x3B].elementsEqual("LIFESCAN   FAT16".utf8) else {
      throw Self.notAMeter(doing, "its product and its label are other ones")
    }
  }

  /// Sends a request and returns the data after the status.
  func request(_ payload: [UInt8], at sector: Sector = .general, doing: String) throws -> [UInt8] {
    let request = OneTouchFrame(payload: payload).bytes
    var fault = Failure(.protocolViolation, "\(doing): the meter's answer is damaged; retry")
    for _ in 0..<Self.attempts {
      do {
        if let frame = try exchange(request, at: sector) { return try frame.answer(doing: doing) }
      } catch let error as TransportError {
        fault = Failure(error, doing: doing)
        if error != .stalled { throw fault }
      }
    }
    throw fault
  }

  /// Requests a zero-terminated text in UTF-16.
  func text(_ selector: UInt8, doing: String) throws -> String {
    let data = try request([0x03, 0xE6, 0x02, selector], doing: doing)
    let units = stride(from: 0, to: data.count, by: 2).map { data.littleEndian(UInt16.self, at: $0) ?? 0 }
    let characters = units.prefix { $0 != 0 }.map { UInt8(exactly: $0) ?? 0 }
    guard units.last == 0, characters.count + 1 == units.count, let text = characters.printableText else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer is not text")
    }
    return text
  }
}

extension OneTouchDisk {
  /// Sends one request; returns its answer, or nil if the answer is damaged or missing.
  private func exchange(_ request: [UInt8], at sector: Sector) throws(TransportError) -> OneTouchFrame? {
    let padding = [UInt8](repeating: 0, count: max(0, Self.sectorSize - request.count))
    _ = try meter.perform(
      .commandWriting(Self.transfer(0x2A, sector: sector.rawValue), request + padding),
      within: Self.milliseconds)
    for _ in 0..<Self.reads {
      let answer = try meter.perform(
        .command(Self.transfer(0x28, sector: sector.rawValue), reads: Self.sectorSize),
        within: Self.milliseconds)
      if answer.starts(with: request) { continue }
      guard answer.count == Self.sectorSize, case .frame(let frame, _) = OneTouchFrame.find(in: answer) else {
        return nil
      }
      return frame
    }
    return nil
  }

  private func command(_ bytes: [UInt8], reads: Int, doing: String) throws -> [UInt8] {
    do {
      return try meter.perform(.command(bytes, reads: reads), within: Self.milliseconds)
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// The SCSI command READ(10) or WRITE(10) for one sector. All its flags are 0, since the meters refuse any.
  private static func transfer(_ operation: UInt8, sector: UInt8) -> [UInt8] {
    [operation, 0, 0, 0, 0, sector, 0, 0, 1, 0]
  }

  private static func notAMeter(_ doing: String, _ reason: String) -> Failure {
    Failure(.protocolViolation, "\(doing): \(reason); nothing was written to it")
  }
}
