// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LifeScan OneTouch UltraEasy and UltraMini on a cable.
///
/// The session follows a recording of the manufacturer's program. A single source states the codes of LO and
/// HI, and that tests of control solution are not sent. The meter reports no meals.
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
      meter.reportProgress(index + 1, of: count)
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
    // The version and its date are one text. The byte before this text is its length.
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

/// The link of the UltraEasy: each frame has a number of one bit and is acknowledged before the next frame.
private final class OneTouchStopAndWait {
  /// The bits of a frame's link byte.
  private enum Bit {
    static let sent: UInt8 = 0x01
    static let expected: UInt8 = 0x02
    static let acknowledge: UInt8 = 0x04
    static let disconnect: UInt8 = 0x08
  }

  private static let attempts = 3
  /// The pause between packets. The manufacturer's program waits at least 100 ms. It was reported that
  /// answers do not match their requests if the host reads faster.
  private static let pauseMilliseconds = 100

  private let line: OneTouchSerialLine
  /// The number of the next frame to send: 0 or 1.
  private var sent: UInt8 = 0
  /// The number of the next frame to receive: 0 or 1.
  private var expected: UInt8 = 0
  private var isOpen = false

  init(_ meter: MeterConnection) { line = OneTouchSerialLine(meter) }

  /// Sends a request and returns the payload of the answer. If the answer is damaged or missing, retries on a
  /// new link.
  func request(_ payload: [UInt8], doing: String) throws -> OneTouchFrame {
    var fault = Failure(.protocolViolation, "\(doing): the meter's answer is damaged; retry")
    for _ in 0..<Self.attempts {
      do {
        if !isOpen { try open() }
        return try exchange(payload)
      } catch is OneTouchSerialLine.Damage {
        isOpen = false
      } catch let error as TransportError {
        isOpen = false
        fault = Failure(error, doing: doing)
        if error != .timedOut { throw fault }
      }
    }
    throw fault
  }

  /// Ends the session, so that the meter leaves its mode for transfers at once. The meter also leaves this
  /// mode by itself after a while, so a failure is ignored.
  func close() {
    isOpen = false
    do {
      try open()
    } catch {}
  }
}

extension OneTouchStopAndWait {
  /// Resets the frame numbers of this program and of the meter.
  private func open() throws {
    try line.discard()
    try line.send(OneTouchFrame(link: Bit.disconnect, payload: []))
    let answer = try line.frame()
    guard answer == OneTouchFrame(link: Bit.disconnect | Bit.acknowledge, payload: []) else {
      throw OneTouchSerialLine.Damage()
    }
    (sent, expected, isOpen) = (0, 0, true)
  }

  private func exchange(_ payload: [UInt8]) throws -> OneTouchFrame {
    try line.pause(milliseconds: Self.pauseMilliseconds)
    try line.send(OneTouchFrame(link: link(), payload: payload))
    sent ^= 1
    // In a frame of the meter, the bits are from the meter's point of view: `expected` is the number of our
    // next frame.
    let counted = (sent == 1 ? Bit.expected : 0) | (expected == 1 ? Bit.sent : 0)
    guard try line.frame() == OneTouchFrame(link: Bit.acknowledge | counted, payload: []) else {
      throw OneTouchSerialLine.Damage()
    }
    let answer = try line.frame()
    guard answer.link == counted else { throw OneTouchSerialLine.Damage() }
    expected ^= 1
    try line.send(OneTouchFrame(link: Bit.acknowledge | link(), payload: []))
    return answer
  }

  private func link() -> UInt8 {
    (sent == 1 ? Bit.sent : 0) | (expected == 1 ? Bit.expected : 0)
  }
}
