// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LifeScan OneTouch UltraEasy and UltraMini on a cable.
///
/// The session follows a recording of the manufacturer's program. A single source states the codes of LO and HI, and
/// that tests of control solution are not sent. The meter reports no meals.
struct OneTouchUltraEasyDriver: MeterDriver {
  static let id = "onetouch-ultraeasy"
  static let name = "LifeScan OneTouch UltraEasy, UltraMini"
  static let models = OneTouchCable.models("OneTouch UltraEasy or UltraMini")
  static let canSetClock = true

  /// A record number above any meter's memory. The meter refuses it and states the number of its records.
  private static let pastLast: UInt16 = 512

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let link = OneTouchStopAndWait(meter)
    defer { link.close() }
    return try identify(meter, link)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let link = OneTouchStopAndWait(meter)
    defer { link.close() }
    let identity = try identify(meter, link)
    try meter.onIdentity(identity)
    let count = identity.count ?? 0
    let records = try (0..<count).map { index in
      let doing = "reading record \(index + 1) of \(count)"
      let data = try link.request(Self.record(UInt16(truncatingIfNeeded: index)), doing: doing).answer(
        doing: doing)
      meter.noteProgress(index + 1, of: count)
      return OneTouchRecord(ultraEasy: data)
    }
    return MeterContents(identity, newestFirst: records)
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let seconds = try OneTouchClock.seconds(time, since: 0, doing: doing)
    let link = OneTouchStopAndWait(meter)
    defer { link.close() }
    let shown = try link.request([0x05, 0x20, 0x01] + seconds.littleEndianBytes, doing: doing).answer(
      doing: doing)
    try OneTouchClock.check(shown, was: seconds, doing: doing)
  }
}

extension OneTouchUltraEasyDriver {
  private func identify(_ meter: MeterConnection, _ link: OneTouchStopAndWait) throws -> MeterIdentity {
    let doing = "asking which meter it is"
    let version = try link.request([0x05, 0x0D, 0x02], doing: doing).answer(doing: doing)
    let serial = try link.request([0x05, 0x0B, 0x02] + [UInt8](repeating: 0, count: 9), doing: doing)
      .answer(doing: doing)
    // Version and date are in one text, whose length precedes it.
    guard version.count >= 10, let firmware = version[1..<10].printableText, let serial = serial.printableText
    else { throw Failure(.protocolViolation, "\(doing): the meter's answer is not text") }
    var identity = MeterIdentity(
      device: Device(vendor: "LifeScan", model: "OneTouch UltraEasy", serial: serial, format: Self.id),
      firmware: firmware)
    let clock = try link.request([0x05, 0x20, 0x02, 0, 0, 0, 0], doing: "reading the clock")
      .answer(doing: "reading the clock")
    identity.clock = try OneTouchClock.shown(clock, since: 0).map(meter.compareClock)
    identity.count = try count(link)
    return identity
  }

  private func count(_ link: OneTouchStopAndWait) throws -> Int {
    let doing = "asking for the number of records"
    let answer = try link.request(Self.record(Self.pastLast), doing: doing).payload
    guard answer.count == 4, answer[1] == 0x0F, let count = answer.littleEndian(UInt16.self, at: 2),
      count <= Self.pastLast
    else { throw Failure(.protocolViolation, "\(doing): the meter's answer is not a count") }
    return Int(count)
  }

  private static func record(_ index: UInt16) -> [UInt8] { [0x05, 0x1F] + index.littleEndianBytes }
}
