// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A OneTouch meter that appears as a disk and receives requests in sectors that serve as registers.
struct OneTouchDisk {
  enum Sector: UInt8 {
    case general = 3
    case parameters = 4
  }

  private static let sectorSize = 512
  private static let milliseconds = 5000
  private static let attempts = 3
  /// The number of reads of a sector that still holds the request.
  private static let reads = 5

  private let meter: MeterConnection

  /// Words in the product text of a OneTouch meter that has such a text.
  private static let products = ["onetouch", "one touch", "verio", "select", "ultra", "reflect"]

  /// Verifies that the disk is a meter. On any other disk a request would destroy data.
  ///
  /// The proof is the vendor's USB id, and the vendor and product in the answer to INQUIRY. Recorded meters leave the
  /// product empty. A disk with an unknown product must have the label by which Tidepool's reader recognises the meters.
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

  /// READ(10) or WRITE(10) of one sector. The meters refuse any flags.
  private static func transfer(_ operation: UInt8, sector: UInt8) -> [UInt8] {
    [operation, 0, 0, 0, 0, sector, 0, 0, 1, 0]
  }

  private static func notAMeter(_ doing: String, _ reason: String) -> Failure {
    Failure(.protocolViolation, "\(doing): \(reason); nothing was written to it")
  }
}
