// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Menarini GlucoMen areo and areo GK: requests of one byte, answers in blocks of text.
///
/// Two authors agree on the blocks; no capture is public. One of them, who read GK models, states the ketones: only GK
/// models are asked for them. The USB ids of the areo GK and its kind of line come from one user's report. Unknown are: a
/// way to read the clock, a count of readings, and a mark of control tests.
struct GlucoMenDriver: MeterDriver {
  static let id = "glucomen-areo"
  static let name = "Menarini GlucoMen areo, areo GK"
  static let canSetClock = true
  // The first ids belong to the chip in the cable.
  static let models = [
    MeterModel(
      "GlucoMen areo", vendorID: 0x10C4, productID: 0xEA60, link: .terminal(line), isShared: true),
    MeterModel("GlucoMen areo GK", vendorID: 0x2C81, productID: 0x0500, link: .cdc(line)),
  ]

  private static let line = LineSettings(baud: 9600, parity: .odd)
  private static let tries = 3

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let doing = "asking the meter for its identity"
    let fields = try request(0xA2, meter, doing: doing).first.map(GlucoMenLine.fields) ?? []
    guard fields.count == 5 else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer has an unknown form")
    }
    return MeterIdentity(
      device: Device(vendor: "Menarini", model: meter.model.name, serial: fields[3], format: Self.id),
      firmware: fields[4])
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    var contents = MeterContents(try identify(meter))
    try meter.onIdentity(contents.identity)
    var lines = try request(0x80, meter, doing: "reading the meter's glucose")
    if case .cdc = meter.model.link { lines += try ketones(meter, &contents) }
    var unmarked = 0
    for (index, line) in lines.enumerated() {
      switch GlucoMenLine(parsing: line) {
      case .reading(let reading): contents.readings.append(reading)
      case .readingWithoutMarks(let reading):
        contents.readings.append(reading)
        unmarked += 1
      case .skipped(let name): contents.skipped[name, default: 0] += 1
      case .rejected(let reason):
        contents.rejections.append(Rejection(line: Int64(index + 1), reason: reason, source: line))
      }
      meter.noteProgress(index + 1, of: lines.count)
    }
    if unmarked > 0 {
      contents.warnings.append(
        counted(unmarked, "reading has", "readings have") + " marks of an unknown form: "
          + "the values are stored without them")
    }
    contents.identity.count = lines.count
    return contents
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let answer: [UInt8]
    do throws(TransportError) {
      _ = try meter.perform(.discard, within: 1000)
      try meter.send([0xC2, 0xA1] + GlucoMenBlock.bytes([GlucoMenLine.text(time)]))
      answer = try meter.receive(maxBytes: 1, within: 2000)
    } catch {
      throw Failure(error, doing: doing)
    }
    guard answer == [0x50] else { throw Failure(.protocolViolation, "\(doing): the meter refused the time") }
  }
}

extension GlucoMenDriver {
  /// The lines of ketones. A single source states that a meter sends them, so a meter without them is read, too.
  private func ketones(_ meter: MeterConnection, _ contents: inout MeterContents) throws -> [String] {
    do {
      return try request(0xA8, meter, doing: "reading the meter's ketones")
    } catch let failure as Failure where failure.category == .protocolViolation {
      contents.warnings.append("the ketones were left out: \(failure.message)")
      contents.skipped["ketones that cannot be read", default: 0] += 1
      return []
    }
  }

  /// Sends a request, again if the answer is damaged, and returns the lines of the answer.
  private func request(_ request: UInt8, _ meter: MeterConnection, doing: String) throws -> [String] {
    do throws(TransportError) {
      for attempt in 0..<Self.tries {
        _ = try meter.perform(.discard, within: 1000)
        try meter.send([request])
        do throws(TransportError) {
          switch try block(meter) {
          case .lines(let lines): return lines
          case .empty: return []
          case .broken: continue
          }
        } catch .timedOut where attempt + 1 < Self.tries {
          continue
        }
      }
    } catch {
      throw Failure(error, doing: doing)
    }
    throw Failure(.protocolViolation, "\(doing): the meter's answers are damaged; check the cable and retry")
  }

  /// Receives one block. At 9600 baud, 30 characters take 0.03 s, so a second of silence ends the block.
  private func block(_ meter: MeterConnection) throws(TransportError) -> GlucoMenBlock {
    var bytes = try meter.receive(maxBytes: 4096, within: 2000)
    while bytes.count <= GlucoMenBlock.maxBytes {
      if let block = GlucoMenBlock(parsing: bytes) { return block }
      bytes += try meter.receive(maxBytes: 4096, within: 1000)
    }
    return .broken
  }
}
