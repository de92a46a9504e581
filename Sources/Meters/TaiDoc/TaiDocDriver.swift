// SPDX-License-Identifier: Apache-2.0

import Logbook

/// TaiDoc TD-42xx (GlucoRx Nexus, GlucoMen Nexus, Fora and others) connected by a CP2110.
///
/// Four programs agree on the packets; no capture of a real session is public. A single source states the scale of
/// ketones and the kinds of measurement besides glucose. The protocol's only ending switches the meter off, after which
/// it could not be asked again. So the session ends without one, as in two of the four programs.
struct TaiDocDriver: MeterDriver {
  static let id = "taidoc"
  static let name = "TaiDoc TD-42xx (GlucoRx Nexus, GlucoMen Nexus, Fora)"
  static let canSetClock = true
  // The ids belong to the manufacturer of the chip.
  static let models = [
    MeterModel(
      "TaiDoc TD-42xx", vendorID: 0x10C4, productID: 0xEA80, link: .cp2110(LineSettings(baud: 19200)),
      isShared: true)
  ]

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(TaiDocLine(meter), meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let line = TaiDocLine(meter)
    var identity = try identify(line, meter)
    try meter.onIdentity(identity)
    let answer = try line.request(.count, doing: "asking the meter for the number of its records")
    let count = Int(answer[0]) | Int(answer[1]) << 8
    identity.count = count
    var contents = MeterContents(identity)
    // Record 0 is the newest.
    for index in 0..<count {
      let doing = "reading record \(index + 1) of \(count)"
      let place = [UInt8(index & 0xFF), UInt8(index >> 8), 0, 0]
      let time = try line.request(.recordTime, place, doing: doing)
      let value = try line.request(.recordValue, place, doing: doing)
      contents.take(TaiDocRecord(time: time, value: value), number: index + 1)
      meter.noteProgress(index + 1, of: count)
    }
    if contents.readings.contains(where: { $0.kind == .ketone }) {
      contents.warnings.append(
        "only one source describes the scale of this meter's ketones; compare them with its screen")
    }
    contents.readings.markClockSetBackInEitherOrder()
    return contents
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    guard let data = TaiDocRecord.data(time) else {
      throw Failure(.usage, "\(doing): the meter accepts only the years 2000 to 2127")
    }
    let line = TaiDocLine(meter)
    try line.wake()
    guard try line.request(.setClock, data, doing: doing) == data else {
      throw Failure(.protocolViolation, "\(doing): the meter answered with another time")
    }
  }
}

extension TaiDocDriver {
  private func identify(_ line: TaiDocLine, _ meter: MeterConnection) throws -> MeterIdentity {
    let doing = "asking the meter for its identity"
    let model = try line.wake()
    let second = try line.request(.serialSecondHalf, doing: doing)
    let first = try line.request(.serialFirstHalf, doing: doing)
    let clock = TaiDocRecord.time(try line.request(.clock, doing: "asking the meter for its clock"))
    return MeterIdentity(
      device: Device(
        vendor: "TaiDoc", model: "TD-\(Self.digits([model[1], model[0]]))",
        serial: Self.digits(first.reversed() + second.reversed()), format: Self.id),
      clock: clock.map(meter.compareClock))
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }
}

extension MeterContents {
  fileprivate mutating func take(_ record: TaiDocRecord, number: Int) {
    switch record {
    case .reading(let reading): readings.append(reading)
    case .skipped(let name): skipped[name, default: 0] += 1
    case .rejected(let reason): rejections.append(Rejection(line: Int64(number), reason: reason))
    }
  }
}

/// The session in packets: each request has an answer with the same command.
private struct TaiDocLine {
  enum Command: UInt8 {
    case clock = 0x23
    case model = 0x24
    case recordTime = 0x25
    case recordValue = 0x26
    case serialSecondHalf = 0x27
    case serialFirstHalf = 0x28
    case count = 0x2B
    case setClock = 0x33
  }

  /// The meter sends this unasked when its session begins. An earlier request is lost.
  private static let entered: UInt8 = 0x54

  private let meter: MeterConnection

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Requests the model until the meter is awake.
  @discardableResult
  func wake() throws -> [UInt8] { try request(.model, tries: 4, doing: "waking the meter") }

  /// Sends a request, again if no valid answer arrives, and returns the answer's data.
  func request(
    _ command: Command, _ data: [UInt8] = [0, 0, 0, 0], tries: Int = 3, doing: String
  ) throws -> [UInt8] {
    let request = TaiDocPacket(command.rawValue, data)
    do throws(TransportError) {
      for attempt in 0..<tries {
        if attempt > 0 || command == .model { _ = try meter.perform(.discard, within: 1000) }
        try meter.send(request.bytes(from: .host))
        do throws(TransportError) {
          if let answer = try answer(to: command) { return answer }
        } catch .timedOut where attempt + 1 < tries {
          continue
        }
      }
    } catch {
      throw Failure(error, doing: doing)
    }
    throw Failure(
      .protocolViolation, "\(doing): the meter's answers are damaged; unplug it, plug it in again and retry")
  }

  /// The data of the answer; nil if the request must be repeated.
  private func answer(to command: Command) throws(TransportError) -> [UInt8]? {
    var bytes: [UInt8] = []
    // A packet may arrive byte by byte, after some bytes of noise.
    for _ in 0..<64 {
      bytes += try meter.receive(maxBytes: 64, within: 2000)
      while let packet = TaiDocPacket.next(in: &bytes) {
        if packet.command == command.rawValue { return packet.data }
        if packet.command == Self.entered { return nil }
      }
    }
    return nil
  }
}
