// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A frame of ASTM E1381: `STX number text CR ETB-or-ETX checksum CR LF`. The meters put one record into each
/// frame.
struct ContourFrame: Hashable {
  /// The number of the frame, from 1 on, modulo 8.
  let number: Int
  /// The record, without the CR at its end.
  let text: [UInt8]

  /// Parses these bytes, from STX to LF; nil if they are not a frame, or if the checksum is wrong.
  init?(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count >= 8, bytes[0] == ContourByte.startOfText, (0x30...0x37).contains(bytes[1]) else {
      return nil
    }
    let end = bytes.count - 5
    guard bytes[end] == ContourByte.endOfText || bytes[end] == ContourByte.endOfBlock, bytes[end - 1] == 0x0D,
      bytes[end + 3] == 0x0D, bytes[end + 4] == 0x0A,
      let high = Self.digit(bytes[end + 1]), let low = Self.digit(bytes[end + 2]),
      high << 4 | low == Self.checksum(bytes[1...end])
    else { return nil }
    number = Int(bytes[1] - 0x30)
    text = Array(bytes[2..<end - 1])
  }

  /// The sum of these bytes modulo 256; in a frame, of all bytes between STX and the checksum.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt8 { bytes.reduce(0, &+) }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}

/// The bytes that control a session.
enum ContourByte {
  static let startOfText: UInt8 = 0x02
  static let endOfText: UInt8 = 0x03
  static let endOfTransmission: UInt8 = 0x04
  static let enquiry: UInt8 = 0x05
  static let acknowledge: UInt8 = 0x06
  static let refuse: UInt8 = 0x15
  static let endOfBlock: UInt8 = 0x17
  /// The letter `X`. A meter whose last session was interrupted responds to it, where an idle one responds to
  /// EOT.
  static let wake: UInt8 = 0x58
}

/// A unit of the stream of bytes from a meter.
enum ContourToken: Hashable {
  case frame(ContourFrame)
  /// A damaged frame.
  case damaged
  case endOfTransmission, enquiry, acknowledge, refuse
}

/// Splits the stream of bytes that the HID reports carry. A frame of exactly 60 bytes fills one report, and
/// no further report follows. So the end of a frame is found in the stream, and not by the size of a report.
struct ContourStream {
  /// The maximum size of a frame in bytes. The longest known, a header of a Contour Next USB, has about 300.
  static let longestFrame = 1024

  private var bytes: [UInt8] = []

  /// Adds the bytes of one report.
  mutating func add(_ payload: ArraySlice<UInt8>) { bytes += payload }

  /// Discards the received bytes.
  mutating func clear() { bytes = [] }

  /// The next token; nil until more bytes arrive. Bytes outside of tokens and frames are dropped.
  mutating func next() -> ContourToken? {
    while let byte = bytes.first {
      if byte == ContourByte.startOfText { return nextFrame() }
      bytes.removeFirst()
      switch byte {
      case ContourByte.endOfTransmission: return .endOfTransmission
      case ContourByte.enquiry: return .enquiry
      case ContourByte.acknowledge: return .acknowledge
      case ContourByte.refuse: return .refuse
      default: continue
      }
    }
    return nil
  }

  private mutating func nextFrame() -> ContourToken? {
    let end = bytes.firstIndex { $0 == ContourByte.endOfText || $0 == ContourByte.endOfBlock }
    guard let end, end + 5 <= bytes.count else {
      guard bytes.count > Self.longestFrame else { return nil }
      clear()
      return .damaged
    }
    let frame = ContourFrame(bytes[..<(end + 5)])
    bytes.removeFirst(end + 5)
    return frame.map(ContourToken.frame) ?? .damaged
  }
}

/// HID reports of the Contour: a prefix of three bytes, a length, and at most 60 bytes of a stream. A frame
/// may begin and end anywhere in a report.
enum ContourReport {
  /// The number of bytes that one report carries.
  static let maxPayload = 60

  /// One report with these bytes, at most `maxPayload`. The prefix is zeros, as in the vendor's software.
  static func pack(_ payload: [UInt8]) -> [UInt8] {
    [0, 0, 0, UInt8(truncatingIfNeeded: min(payload.count, maxPayload))] + payload.prefix(maxPayload)
  }

  /// The payload of a report from the meter; nil if the report is shorter than it states.
  static func payload(_ report: [UInt8]) -> ArraySlice<UInt8>? {
    guard report.count >= 4, report.starts(with: Array("ABC".utf8)) else { return nil }
    let count = Int(report[3])
    guard count <= maxPayload, report.count >= 4 + count else { return nil }
    return report[4..<4 + count]
  }
}

/// A record of ASTM E1394: fields between `|`, components between `^`. Field 0 is the type.
struct ASTMRecord: Hashable {
  /// The record as received.
  let text: String
  private let fields: [Substring]

  init(_ text: [UInt8]) {
    self.text = String(decoding: text, as: UTF8.self)
    fields = self.text.split(separator: "|", omittingEmptySubsequences: false)
  }

  /// The letter of the record's type.
  var type: Substring { self[0] }

  /// A field; empty past the end of the record.
  subscript(_ index: Int) -> Substring { fields.indices.contains(index) ? fields[index] : "" }

  func components(_ index: Int) -> [Substring] {
    self[index].split(separator: "^", omittingEmptySubsequences: false)
  }

  /// The time in a field: twelve digits, to the minute, or fourteen, to the second; nil for anything else.
  func time(_ index: Int) -> DeviceTime? {
    let digits = self[index].utf8.map { Int($0) - 0x30 }
    guard digits.count == 12 || digits.count == 14, digits.allSatisfy({ (0...9).contains($0) }) else {
      return nil
    }
    func number(_ start: Int, _ end: Int) -> Int { digits[start..<end].reduce(0) { $0 * 10 + $1 } }
    return DeviceTime(
      year: number(0, 4), month: number(4, 6), day: number(6, 8), hour: number(8, 10),
      minute: number(10, 12), second: digits.count == 14 ? number(12, 14) : 0)
  }

  /// The number in a field of plain decimal digits, such as `102` or `10.9`; nil for anything else.
  func number(_ index: Int) -> Double? {
    let text = self[index]
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      (1...9).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
    }
    return parts.count <= 2 && isPlain ? Double(text) : nil
  }
}

/// The content of a meter's header record.
struct ContourHeader {
  /// The model as the meter names it, such as `Bayer7390` or `Contour7800`.
  let product: String
  /// The versions of the meter's parts, separated by blanks.
  let firmware: String
  /// The complete serial number, with the model number before the dash.
  let serial: String
  /// The range in which the meter reports numbers; nil if it is not stated.
  let range: ContourRange?
  /// The number of results that the meter announces.
  let count: Int?
  /// The time on the meter's clock.
  let clock: DeviceTime?

  /// Parses a header record; nil for another record. Only the serial number is required: meters differ in the
  /// number of fields and settings.
  init?(_ record: ASTMRecord) {
    let parts = record.components(4)
    guard record.type == "H", parts.count >= 3 else { return nil }
    let serial = String(parts[2]).trimmed
    guard !serial.isEmpty else { return nil }
    product = String(parts[0]).trimmed
    firmware = String(parts[1]).replacing("\\", with: " ")
    self.serial = serial
    let setting = record.components(5).first { $0.hasPrefix("V=") }
    range = setting.flatMap { ContourRange($0.dropFirst(2)) }
    count = Int(record[6]).flatMap { (0...1_000_000).contains($0) ? $0 : nil }
    clock = record.time(13)
  }

  /// The name of the model whose number is in the header; for an unknown number, `product`.
  var model: String { Self.models[String(product.suffix(4))] ?? product }

  private static let models = [
    "7390": "Contour USB", "6200": "Contour Next Link", "6210": "Contour Next Link 2.4",
    "6300": "Contour Next Link", "7350": "Contour Next", "7410": "Contour Next USB",
    "7800": "Contour Next One or Plus One", "7900": "Contour Next", "7950": "Contour Plus Blue or Care",
  ]
}

/// The range in which a meter reports numbers: it shows LO below the range, and HI above it.
struct ContourRange: Hashable {
  let low: Double
  let high: Double
  let unit: GlucoseUnit

  /// Parses the setting V: the lower end of the range in two digits, followed by its upper end in three.
  ///
  /// Meters print mg/dL even if they show mmol/L. A single source saw a meter that printed tenths of mmol/L,
  /// `06333`. No meter's range ends below 400 mg/dL or above 40 mmol/L.
  init?(_ text: some StringProtocol) {
    guard text.utf8.count == 5, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let low = Double(text.prefix(2)), let high = Double(text.suffix(3)), low < high
    else { return nil }
    let isMass = high > 400
    self.low = isMass ? low : low / 10
    self.high = isMass ? high : high / 10
    unit = isMass ? .milligramsPerDecilitre : .millimolesPerLitre
  }
}

extension String {
  /// The text without blanks at both ends.
  fileprivate var trimmed: String {
    let tail = drop { $0 == " " }.reversed().drop { $0 == " " }
    return String(tail.reversed())
  }
}
