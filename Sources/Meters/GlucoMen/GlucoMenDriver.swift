// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Menarini GlucoMen areo and areo GK: requests of one byte, answers in blocks of text.
///
/// Two authors agree on the blocks; no capture is public. One of them read GK models and describes ketones,
/// so only GK models are asked for ketones. The USB ids of the areo GK, and that it is a CDC device, are
/// known from one user's report. It is unknown how to read the clock or the number of readings, and how
/// control tests are marked.
struct GlucoMenDriver: MeterDriver {
  static let id = "glucomen-areo"
  static let name = "Menarini GlucoMen areo, areo GK"
  static let canSetClock = true
  // The ids of the areo belong to the chip in its cable.
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
      meter.reportProgress(index + 1, of: lines.count)
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
  /// The lines of ketones. A single source states that a meter sends them, so a meter without them is read,
  /// too.
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

  /// Receives one block. At 9600 baud, a line of 30 characters takes 0.03 s, so a second of silence ends the
  /// block.
  private func block(_ meter: MeterConnection) throws(TransportError) -> GlucoMenBlock {
    var bytes = try meter.receive(maxBytes: 4096, within: 2000)
    while bytes.count <= GlucoMenBlock.maxBytes {
      if let block = GlucoMenBlock(parsing: bytes) { return block }
      bytes += try meter.receive(maxBytes: 4096, within: 1000)
    }
    return .broken
  }
}

/// A block of text of the GlucoMen areo: a bracket, lines, two check digits and a bracket, each followed by
/// CR LF.
enum GlucoMenBlock: Hashable {
  case lines([String])
  /// A block whose two bytes of content mean that there are no readings.
  case empty
  /// A block with wrong check digits or of another layout.
  case broken

  /// The maximum size of a block in bytes. The largest memory, with 700 readings, has a block of 21,000
  /// bytes.
  static let maxBytes = 1 << 20

  /// Parses a block; nil until the end of the block has arrived. Bytes before the block are skipped.
  init?(parsing bytes: [UInt8]) {
    guard let start = Self.index(of: Self.opening, in: bytes, from: 0) else { return nil }
    let content = start + Self.opening.count
    if Array(bytes[content...].prefix(Self.nothing.count)) == Self.nothing {
      self = .empty
      return
    }
    guard Self.hasEnded(bytes), let end = Self.index(of: Self.closing, in: bytes, from: content) else {
      return nil
    }
    self = Self.checked(Array(bytes[start..<end]))
  }

  /// A block with these lines, as sent to the meter.
  static func bytes(_ lines: [String]) -> [UInt8] {
    let text = opening + lines.flatMap { Array($0.utf8) + lineEnd }
    return text + digits(of: text) + closing
  }

  /// The checksum CRC-8/MAXIM of the bytes: bits reflected, polynomial 0x31, initial value 0.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    bytes.reduce(0) { start, byte in
      (0..<8).reduce(start ^ byte) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0x8C : crc >> 1 }
    }
  }
}

extension GlucoMenBlock {
  private static var lineEnd: [UInt8] { [0x0D, 0x0A] }
  private static var opening: [UInt8] { [0x5B, 0x0D, 0x0A] }
  /// The end of a block, together with the line end before it.
  private static var closing: [UInt8] { [0x0D, 0x0A, 0x5D, 0x0D, 0x0A] }
  private static var nothing: [UInt8] { [0x90, 0x3D, 0x0D, 0x0A, 0x5D, 0x0D, 0x0A] }

  /// Whether the last bytes end a block. This is checked first, so that a long block is searched only once.
  private static func hasEnded(_ bytes: [UInt8]) -> Bool { Array(bytes.suffix(closing.count)) == closing }

  /// Parses a block from its bracket to its check digits.
  private static func checked(_ bytes: [UInt8]) -> GlucoMenBlock {
    let text = bytes.dropLast(2)
    // The meter sends check digits in upper case, and refuses lower case.
    guard text.count >= opening.count, Array(text.suffix(2)) == lineEnd,
      Array(bytes.suffix(2)) == digits(of: text)
    else { return .broken }
    let lines = text.dropFirst(opening.count).split(separator: 0x0D).map { line in
      String(decoding: line.drop { $0 == 0x0A }, as: UTF8.self)
    }
    return .lines(lines.filter { !$0.isEmpty })
  }

  private static func digits(of text: some Sequence<UInt8>) -> [UInt8] {
    let sum = checksum(text)
    return Array(((sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true)).utf8)
  }

  private static func index(of pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count - start >= pattern.count else { return nil }
    return (start...bytes.count - pattern.count).first { place in
      bytes[place] == pattern[0] && bytes[place..<place + pattern.count].elementsEqual(pattern)
    }
  }
}

/// One line of a GlucoMen areo's memory: `type,value,unit,marks,YYMMDD,HHMM`. Any field may have blanks
/// around it.
enum GlucoMenLine: Hashable {
  case reading(MeterReading)
  /// A reading whose marks have an unknown format.
  case readingWithoutMarks(MeterReading)
  /// A record that is neither glucose nor ketone, with the name under which it is counted.
  case skipped(String)
  /// A line that could not be parsed, with the reason.
  case rejected(String)

  init(parsing text: String) {
    let fields = Self.fields(text)
    guard fields.count == 6 else {
      self = .rejected("a line with another number of fields")
      return
    }
    let kind: ReadingKind
    switch fields[0].lowercased() {
    case "glu": kind = .smbg
    case "ket": kind = .ketone
    default:
      let type = fields[0].filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(8)
      self = .skipped("measurement of the type '\(type)'")
      return
    }
    self = Self.reading(kind, fields)
  }

  /// The fields of a line, without the blanks around them.
  static func fields(_ line: String) -> [String] {
    line.split(separator: ",", omittingEmptySubsequences: false).map { field in
      String(field.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
  }

  /// A time in the meter's notation: `YYMMDDHHMM`.
  static func text(_ time: DeviceTime) -> String {
    let p = time.parts
    return [p.year % 100, p.month, p.day, p.hour, p.minute].map { ($0 < 10 ? "0" : "") + String($0) }.joined()
  }
}

extension GlucoMenLine {
  private static func reading(_ kind: ReadingKind, _ fields: [String]) -> GlucoMenLine {
    guard let unit = GlucoseUnit(name: fields[2]) else { return .rejected("unknown unit") }
    guard let measurement = measurement(fields[1], unit) else {
      return .rejected("the value is not a number")
    }
    if kind == .smbg, measurement.quantity?.number == 0 { return .rejected("the value is zero") }
    guard let time = time(fields[4], fields[5]) else { return .rejected("invalid time") }
    guard fields[3].utf8.count == 2, let bits = UInt8(fields[3], radix: 16) else {
      return .readingWithoutMarks(MeterReading(kind, at: time, measurement))
    }
    var marks: ReadingMarks = []
    // Bit 01 is a mark of the person's choice and 08 is exercise: neither describes the value.
    if bits & 0x02 != 0 { marks.insert(.beforeMeal) }
    if bits & 0x04 != 0 { marks.insert(.afterMeal) }
    return .reading(MeterReading(kind, at: time, measurement, marks: marks))
  }

  private static func measurement(_ text: String, _ unit: GlucoseUnit) -> Measurement? {
    switch text.uppercased() {
    case "HI": return .high(above: nil, unit)
    case "LO": return .low(below: nil, unit)
    default:
      guard text.utf8.count <= 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
        let number = Double(text), number >= 0
      else { return nil }
      return .value(Quantity(number, unit))
    }
  }

  private static func time(_ date: String, _ clock: String) -> DeviceTime? {
    let digits = (date + clock).utf8.map { Int($0) - 0x30 }
    guard date.utf8.count == 6, clock.utf8.count == 4, digits.allSatisfy({ (0...9).contains($0) }) else {
      return nil
    }
    let pairs = stride(from: 0, to: 10, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
    return DeviceTime(year: 2000 + pairs[0], month: pairs[1], day: pairs[2], hour: pairs[3], minute: pairs[4])
  }
}
