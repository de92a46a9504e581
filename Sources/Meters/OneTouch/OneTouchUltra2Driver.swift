// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LifeScan OneTouch Ultra2, Ultra and UltraLink on a cable.
///
/// Several recordings show the lines and their checksums; one of them has a whole session with an old Ultra.
/// A single published source states the range outside which a value is LO or HI, and that older meters also
/// send results in mmol/L. Other meters send mg/dL even if their display shows mmol/L.
struct OneTouchUltra2Driver: MeterDriver {
  static let id = "onetouch-ultra2"
  static let name = "LifeScan OneTouch Ultra2, Ultra, UltraLink"
  static let models = OneTouchCable.models("OneTouch Ultra2, Ultra or UltraLink")
  static let canSetClock = true

  private static let dumpAttempts = 3

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(meter, Ultra2Session(meter))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let session = Ultra2Session(meter)
    let identity = try identify(meter, session)
    try meter.onIdentity(identity)
    let doing = "reading the records"
    var lines: [String]?
    for _ in 0..<Self.dumpAttempts where lines == nil {
      lines = try dump(meter, session, doing: doing)
    }
    guard let lines else {
      throw Failure(.protocolViolation, "\(doing): lines of the meter's answer are damaged; retry")
    }
    return contents(identity, lines.map(Ultra2Record.init))
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let parts = time.parts
    guard (2000...2099).contains(parts.year) else {
      throw Failure(.usage, "\(doing): the meter cannot show this time")
    }
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = [parts.month, parts.day, parts.year - 2000].map(two).joined(separator: "/")
    let clock = [parts.hour, parts.minute, parts.second].map(two).joined(separator: ":")
    let answer = try Ultra2Session(meter).request("T\(date) \(clock)", starting: "T ", doing: doing)
    guard let shown = Self.time(answer), abs(shown.seconds - time.seconds) <= 10 else {
      throw Failure(.protocolViolation, "\(doing): the meter shows another time than the one that was set")
    }
  }
}

extension OneTouchUltra2Driver {
  private func identify(_ meter: MeterConnection, _ session: Ultra2Session) throws -> MeterIdentity {
    let version = try session.request("?", starting: "?", doing: "asking for the firmware's version")
    let doing = "asking for the serial number"
    let serial = Ultra2Line.quoted(try session.request("@", starting: "@ ", doing: doing))
    guard let serial, serial.count == 1, !serial[0].isEmpty else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer is not a serial number")
    }
    var identity = MeterIdentity(
      device: Device(vendor: "LifeScan", model: Self.model(serial[0]), serial: serial[0], format: Self.id),
      firmware: String(version.dropFirst().prefix { $0 != " " }))
    let clock = try session.request("F", starting: "F ", doing: "reading the clock")
    identity.clock = Self.time(clock).map(meter.compareClock)
    return identity
  }

  /// The model, which the meter states only by the last letter of the serial number.
  ///
  /// Two sources assign Y to the Ultra2. V and T are from one recorded UltraLink and one recorded Ultra.
  private static func model(_ serial: String) -> String {
    switch serial.last {
    case "Y": "OneTouch Ultra2"
    case "V": "OneTouch UltraLink"
    case "T": "OneTouch Ultra"
    default: "OneTouch Ultra, Ultra2 or UltraLink"
    }
  }

  /// The lines of the memory, newest first; nil if one is damaged.
  private func dump(_ meter: MeterConnection, _ session: Ultra2Session, doing: String) throws -> [String]? {
    let header = try session.request("P", starting: "P ", doing: doing)
    guard let fields = Ultra2Line.quoted(header), let count = Int(header.dropFirst(2).prefix { $0 != "," }),
      (0...999).contains(count)
    else { throw Failure(.protocolViolation, "\(doing): the meter's answer has no count") }
    guard fields.count == 2 else {
      throw Failure(
        .protocolViolation,
        "\(doing): the meter is of the Profile family, whose memory this driver cannot read")
    }
    var lines: [String] = []
    for index in 0..<count {
      guard let line = try session.line(doing: "reading record \(index + 1) of \(count)") else {
        try session.drain(doing: doing)
        return nil
      }
      lines.append(line)
      meter.reportProgress(index + 1, of: count)
    }
    return lines
  }

  private func contents(_ identity: MeterIdentity, _ records: [Ultra2Record]) -> MeterContents {
    var contents = MeterContents(identity)
    for (index, record) in records.enumerated() {
      switch record {
      case .reading(let reading, let remark):
        contents.readings.append(reading)
        if !remark.isEmpty {
          contents.records.append(
            MeterRecord(.note, at: reading.deviceTime, RecordFields(["text": .text(remark)])))
        }
      case .skipped(let name): contents.skipped[name, default: 0] += 1
      case .rejected(let reason):
        contents.rejections.append(Rejection(line: Int64(index) + 1, reason: reason))
      }
    }
    if identity.clock == nil { contents.warnings.append("the meter's clock is not set") }
    contents.readings.reverse()
    contents.readings.markClockSetBack()
    return contents
  }

  private static func time(_ text: String) -> DeviceTime? {
    guard let fields = Ultra2Line.quoted(text), fields.count == 3 else { return nil }
    return Ultra2Line.time(fields[1], fields[2])
  }
}

/// Commands to a OneTouch Ultra2, and the lines of its answers.
private final class Ultra2Session {
  /// The number of times that a command is tried. The first command after the meter wakes is often lost, and
  /// a meter that is not ready answers with a zero.
  private static let attempts = 5
  /// The time to wait for the first answer, which a recorded Ultra sent after about 3.5 seconds.
  private static let beginMilliseconds = 4000
  private static let silenceMilliseconds = 2000
  /// The time to wait for the next line of a dump, since the meter pauses between lines.
  private static let lineMilliseconds = 5000
  /// The time to wait for the rest of a line. The characters of a line follow each other immediately.
  private static let nextMilliseconds = 1000
  /// The maximum number of bytes to discard, above the size of the largest memory with 999 records.
  private static let maxDrained = 100_000

  private let meter: MeterConnection
  private var received: [UInt8] = []

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Sends a command, again if no valid answer arrives, and returns the text of the first line.
  ///
  /// - Parameter start: the first characters of the answer.
  func request(_ command: String, starting start: String, doing: String) throws -> String {
    var fault = Failure(.protocolViolation, "\(doing): the meter's answer is damaged; retry")
    for _ in 0..<Self.attempts {
      do {
        received = []
        _ = try meter.perform(.discard, within: Self.beginMilliseconds)
        try meter.send([0x11, 0x0D] + Array("DM\(command)".utf8) + [0x0D])
        let text = try nextLine(within: Self.beginMilliseconds).flatMap(Ultra2Line.text)
        if let text, text.hasPrefix(start) { return text }
      } catch {
        fault = Failure(error, doing: doing)
        if error != .timedOut { throw fault }
      }
    }
    throw fault
  }

  /// The text of the next line; nil if it is damaged.
  func line(doing: String) throws -> String? {
    do {
      return try nextLine(within: Self.lineMilliseconds).flatMap(Ultra2Line.text)
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// Discards pending data until the meter is silent.
  func drain(doing: String) throws {
    var drained = 0
    do {
      while drained < Self.maxDrained {
        drained += max(1, try meter.receive(maxBytes: 1024, within: Self.silenceMilliseconds).count)
      }
    } catch .timedOut {
    } catch {
      throw Failure(error, doing: doing)
    }
    received = []
  }
}

extension Ultra2Session {
  /// The next line without its end; nil if it is too long, or if it is the single zero that means "not
  /// ready".
  private func nextLine(within milliseconds: Int) throws(TransportError) -> ArraySlice<UInt8>? {
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        let line = received[..<end]
        received = Array(received[(end + 1)...])
        return line.last == 0x0D ? line.dropLast() : line
      }
      guard received.count <= Ultra2Line.maxBytes, received != [0] else {
        received = []
        return nil
      }
      let bytes = try meter.receive(
        maxBytes: 256, within: received.isEmpty ? milliseconds : Self.nextMilliseconds)
      guard !bytes.isEmpty else { throw .timedOut }
      received += bytes
    }
  }
}

/// The USB cables for the socket of older OneTouch meters. They have the USB ids of other manufacturers.
enum OneTouchCable {
  /// A model for each cable, with the meter's name.
  static func models(_ name: String) -> [MeterModel] {
    let chips: [(cable: String, vendorID: UInt16, productID: UInt16)] = [
      ("LifeScan cable", 0x067B, 0x2303), ("FTDI cable", 0x0403, 0x6001), ("CH340 cable", 0x1A86, 0x7523),
    ]
    return chips.map { chip in
      MeterModel(
        "\(name), \(chip.cable)", vendorID: chip.vendorID, productID: chip.productID,
        link: .terminal(LineSettings(baud: 9600)), isShared: true)
    }
  }
}
