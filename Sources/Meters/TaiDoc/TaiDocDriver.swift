// SPDX-License-Identifier: Apache-2.0

import Logbook

/// TaiDoc TD-42xx (GlucoRx Nexus, GlucoMen Nexus, Fora and others) connected by a CP2110.
///
/// Four programs agree on the packets; no capture of a real session is public. A single source states the
/// scale of ketones and the kinds of measurement besides glucose. The only command that ends a session
/// switches the meter off, so that it cannot be read again. So the session ends without a command, as in two
/// of the four programs.
struct TaiDocDriver: MeterDriver {
  static let id = "taidoc"
  static let name = "TaiDoc TD-42xx (GlucoRx Nexus, GlucoMen Nexus, Fora)"
  static let canSetClock = true
  // The ids belong to the chip in the cable.
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
      contents.add(TaiDocRecord(time: time, value: value), number: index + 1)
      meter.reportProgress(index + 1, of: count)
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
  fileprivate mutating func add(_ record: TaiDocRecord, number: Int) {
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

  /// The command that the meter sends without a request when its session begins. A request that was sent
  /// before this command is lost.
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

/// A packet of TaiDoc's protocol: the byte 51, the command, four bytes of data, the sender and the checksum.
/// Both directions use the same layout.
struct TaiDocPacket: Hashable {
  /// The number of bytes of every packet.
  static let length = 8

  /// The sender of a packet, in the byte before the checksum.
  enum Sender: UInt8 {
    case host = 0xA3
    case meter = 0xA5
  }

  /// The command. An answer has the command of its request.
  var command: UInt8
  /// The content, always four bytes.
  var data: [UInt8]

  init(_ command: UInt8, _ data: [UInt8] = [0, 0, 0, 0]) {
    self.command = command
    self.data = data
  }

  /// The packet as sent.
  func bytes(from sender: Sender) -> [UInt8] {
    let head = [0x51, command] + data + [sender.rawValue]
    return head + [Self.sum(head)]
  }

  /// The first complete packet of the meter, which is removed with the bytes before it; nil if there is none.
  ///
  /// After an invalid packet or a wrong checksum, the search continues at the next byte that may begin a
  /// packet.
  static func next(in bytes: inout [UInt8]) -> TaiDocPacket? {
    var start = 0
    while start + length <= bytes.count {
      let piece = bytes[start..<start + length]
      if piece.first == 0x51, piece[start + 6] == Sender.meter.rawValue,
        sum(piece.dropLast()) == piece[start + 7]
      {
        let packet = TaiDocPacket(piece[start + 1], Array(piece[start + 2..<start + 6]))
        bytes.removeFirst(start + length)
        return packet
      }
      start += 1
    }
    bytes.removeFirst(start)
    return nil
  }

  private static func sum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}

/// A record of a TaiDoc meter, which is sent in two packets.
enum TaiDocRecord: Hashable {
  case reading(MeterReading)
  /// A record that is neither glucose nor ketone, with the name under which it is counted.
  case skipped(String)
  /// A record that could not be parsed, with the reason.
  case rejected(String)

  /// Parses the data of the packets with the time and the value.
  init(time: [UInt8], value: [UInt8]) {
    guard time.count == 4, value.count == 4 else {
      self = .rejected("the record has no time or no value")
      return
    }
    // Meters with a cuff mark records of blood pressure in the byte of the minute.
    if time[2] & 0x80 != 0 {
      self = .skipped("blood pressure")
    } else if let name = Self.otherKinds[value[3] >> 2 & 0x0F] {
      self = .skipped(name)
    } else if let shown = Self.time(time) {
      self = Self.reading(at: shown, value)
    } else {
      self = .rejected("invalid time")
    }
  }

  /// The time in a packet: year, month and day in one word, minute, hour. There are no seconds.
  static func time(_ data: [UInt8]) -> DeviceTime? {
    guard data.count == 4 else { return nil }
    let date = Int(data[0]) | Int(data[1]) << 8
    return DeviceTime(
      year: 2000 + date >> 9, month: date >> 5 & 0x0F, day: date & 0x1F, hour: Int(data[3] & 0x1F),
      minute: Int(data[2] & 0x3F))
  }

  /// The data of a packet with this time; nil for a year that does not fit.
  static func data(_ time: DeviceTime) -> [UInt8]? {
    let parts = time.parts
    guard (2000...2127).contains(parts.year) else { return nil }
    let date = (parts.year - 2000) << 9 | parts.month << 5 | parts.day
    return [UInt8(date & 0xFF), UInt8(date >> 8), UInt8(parts.minute), UInt8(parts.hour)]
  }
}

extension TaiDocRecord {
  /// Other kinds of measurement than glucose (0) and ketone (7); a single source names them.
  private static let otherKinds: [UInt8: String] = [
    6: "haematocrit", 8: "uric acid", 9: "cholesterol", 0xB: "haemoglobin", 0xC: "lactate",
    0xD: "triglycerides",
  ]

  /// The number that means no value.
  private static let invalid = 0xFFFF

  private static func reading(at time: DeviceTime, _ value: [UInt8]) -> TaiDocRecord {
    let number = Int(value[0]) | Int(value[1]) << 8
    guard number != invalid else { return .skipped("entry that the meter marks as invalid") }
    guard number > 0 else { return .rejected("the value is zero") }
    let marks: ReadingMarks = [[], .beforeMeal, .afterMeal, .controlSolution][Int(value[3] >> 6)]
    switch value[3] >> 2 & 0x0F {
    case 0: return .reading(MeterReading(.smbg, at: time, glucose(number), marks: marks))
    case 7: return .reading(MeterReading(.ketone, at: time, ketone(number), marks: marks))
    default: return .rejected("unknown kind of measurement")
    }
  }

  /// Glucose from a number in mg/dL, whatever unit the meter shows. The meter's manual states LO below 20 and
  /// HI above 600.
  private static func glucose(_ number: Int) -> Measurement {
    switch number {
    case ..<20: .low(below: 20, .milligramsPerDecilitre)
    case ...600: .value(Quantity(Double(number), .milligramsPerDecilitre))
    default: .high(above: 600, .milligramsPerDecilitre)
    }
  }

  /// A ketone value from a number in 1/300 mmol/L. Only one published source states this unit. The meter
  /// shows tenths of mmol/L.
  private static func ketone(_ number: Int) -> Measurement {
    number > 2400
      ? .high(above: 8, .millimolesPerLitre)
      : .value(Quantity((Double(number) / 30).rounded() / 10, .millimolesPerLitre))
  }
}
