// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LifeScan OneTouch Verio IQ, which appears as a serial line.
///
/// A recorded session of the manufacturer's program shows the requests, the layout of the answers, and that
/// records are sent newest first. A single source states the range outside which a value is LO or HI.
struct OneTouchVerioIQDriver: MeterDriver {
  static let id = "onetouch-verio-iq"
  static let name = "LifeScan OneTouch Verio IQ"
  static let models = [
    MeterModel(
      "OneTouch Verio IQ", vendorID: 0x10C4, productID: 0x85A7, link: .terminal(LineSettings(baud: 38400)))
  ]
  static let canSetClock = true

  private static let attempts = 3

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(meter, OneTouchSerialLine(meter))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let line = OneTouchSerialLine(meter)
    let identity = try identify(meter, line)
    try meter.onIdentity(identity)
    let count = identity.count ?? 0
    let records = try (0..<count).map { index in
      let data = try request(
        [0x03, 0x21] + UInt16(truncatingIfNeeded: index).littleEndianBytes, line,
        doing: "reading record \(index + 1) of \(count)")
      meter.reportProgress(index + 1, of: count)
      return OneTouchRecord(verioIQ: data)
    }
    return MeterContents(identity, newestFirst: records)
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let line = OneTouchSerialLine(meter)
    let seconds = try OneTouchClock.seconds(time, since: OneTouchRecord.epoch, doing: doing)
    _ = try request([0x03, 0x20, 0x01] + seconds.littleEndianBytes, line, doing: doing)
    let shown = try request([0x03, 0x20, 0x02], line, doing: doing)
    try OneTouchClock.check(shown, was: seconds, doing: doing)
  }
}

extension OneTouchVerioIQDriver {
  private func identify(_ meter: MeterConnection, _ line: OneTouchSerialLine) throws -> MeterIdentity {
    let version = try request([0x03, 0x0D, 0x01], line, doing: "asking for the firmware's version")
    let serial = try request([0x03, 0x0B, 0x01, 0x02], line, doing: "asking for the serial number")
    guard let firmware = version.dropFirst().prefix(Int(version.first ?? 0)).printableText,
      serial.last == 0, let serial = serial.dropLast().printableText
    else { throw Failure(.protocolViolation, "asking which meter it is: the meter's answer is not text") }
    var identity = MeterIdentity(
      device: Device(vendor: "LifeScan", model: "OneTouch Verio IQ", serial: serial, format: Self.id),
      firmware: firmware)
    let clock = try request([0x03, 0x20, 0x02], line, doing: "reading the clock")
    identity.clock = try OneTouchClock.shown(clock, since: OneTouchRecord.epoch).map(meter.compareClock)
    let doing = "asking for the number of records"
    guard let count = try request([0x03, 0x27, 0x00], line, doing: doing).littleEndian(UInt16.self, at: 0)
    else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer is too short")
    }
    identity.count = Int(count)
    return identity
  }

  /// Sends a request, again if the answer is damaged or missing, and returns the data after the status.
  private func request(_ payload: [UInt8], _ line: OneTouchSerialLine, doing: String) throws -> [UInt8] {
    var fault = Failure(.protocolViolation, "\(doing): the meter's answer is damaged; retry")
    for _ in 0..<Self.attempts {
      do {
        try line.discard()
        try line.send(OneTouchFrame(payload: payload))
        return try line.frame().answer(doing: doing)
      } catch is OneTouchSerialLine.Damage {
        continue
      } catch let error as TransportError {
        fault = Failure(error, doing: doing)
        if error != .timedOut { throw fault }
      }
    }
    throw fault
  }
}
