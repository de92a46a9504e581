// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Bytes that violate IEEE 11073-20601.
struct MalformedAPDU: Error, Hashable {
  /// The name of the part of a message that was being parsed.
  let part: String
}

/// Reads big-endian numbers and sequences of bytes from the front of a message, and never past its end.
struct APDUReader {
  private var rest: ArraySlice<UInt8>
  private let part: String

  /// - Parameter part: the name of this part of a message, for errors.
  init(_ bytes: some Collection<UInt8>, part: String) {
    rest = ArraySlice(Array(bytes))
    self.part = part
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func bytes(_ count: Int) throws(MalformedAPDU) -> [UInt8] {
    guard count >= 0, count <= rest.count else { throw MalformedAPDU(part: part) }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// The next two bytes as a number.
  mutating func u16() throws(MalformedAPDU) -> UInt16 {
    let pair = try bytes(2)
    return UInt16(pair[0]) << 8 | UInt16(pair[1])
  }

  /// The next four bytes as a number.
  mutating func u32() throws(MalformedAPDU) -> UInt32 {
    UInt32(try u16()) << 16 | UInt32(try u16())
  }

  /// The next bytes, preceded by their count in two bytes.
  mutating func counted() throws(MalformedAPDU) -> [UInt8] { try bytes(Int(u16())) }

  /// Reads a list of attributes: their number, their size in bytes, and for each its id, its length and its
  /// value.
  mutating func attributes() throws(MalformedAPDU) -> [UInt16: [UInt8]] {
    let count = try u16()
    var list = APDUReader(try counted(), part: part)
    var attributes: [UInt16: [UInt8]] = [:]
    for _ in 0..<count {
      let id = try list.u16()
      attributes[id] = try list.counted()
    }
    return attributes
  }
}

/// One message of IEEE 11073-20601 as it goes over the bulk endpoints: type, length, body.
struct APDU: Hashable {
  enum APDUKind: UInt16 {
    case associationRequest = 0xE200
    case associationResponse = 0xE300
    case releaseRequest = 0xE400
    case releaseResponse = 0xE500
    case abort = 0xE600
    case data = 0xE700
  }

  /// The maximum size of a message in bytes. The longest message of a real meter has 470 bytes.
  static let maxBytes = 4096

  var kind: APDUKind
  /// The bytes after the type and the length.
  var body: [UInt8]

  init(_ kind: APDUKind, _ body: [UInt8]) {
    self.kind = kind
    self.body = body
  }

  /// Parses a message, which must end where the bytes end.
  init(parsing bytes: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(bytes, part: "the message's head")
    guard let kind = APDUKind(rawValue: try reader.u16()) else {
      throw MalformedAPDU(part: "the message's type")
    }
    self.kind = kind
    body = try reader.counted()
    guard reader.isAtEnd else { throw MalformedAPDU(part: "the message's end") }
  }

  /// The length of the message that begins with these bytes; nil until its length field is complete.
  static func length(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return 4 + (Int(bytes[2]) << 8 | Int(bytes[3]))
  }

  /// The message as it goes over the wire.
  var bytes: [UInt8] {
    kind.rawValue.bigEndianBytes + UInt16(truncatingIfNeeded: body.count).bigEndianBytes + body
  }
}

/// The content of an APDU for data: a request, its answer, or an event.
struct DataAPDU: Hashable {
  enum Choice: UInt16 {
    case event = 0x0100
    case confirmedEvent = 0x0101
    case get = 0x0103
    case action = 0x0106
    case confirmedAction = 0x0107
    case eventResponse = 0x0201
    case getResponse = 0x0203
    case actionResponse = 0x0207
    case error = 0x0300
    case reject = 0x0400
  }

  /// The number that links an answer to its request.
  var invokeID: UInt16
  var choice: Choice
  /// The bytes after the choice and after the length of the content.
  var content: [UInt8]

  init(_ invokeID: UInt16, _ choice: Choice, _ content: [UInt8]) {
    self.invokeID = invokeID
    self.choice = choice
    self.content = content
  }

  init(parsing body: [UInt8]) throws(MalformedAPDU) {
    var outer = APDUReader(body, part: "the data message")
    var reader = APDUReader(try outer.counted(), part: "the data message")
    invokeID = try reader.u16()
    guard let choice = Choice(rawValue: try reader.u16()) else {
      throw MalformedAPDU(part: "the data message's choice")
    }
    self.choice = choice
    content = try reader.counted()
  }

  var apdu: APDU {
    let inner =
      invokeID.bigEndianBytes + choice.rawValue.bigEndianBytes
      + UInt16(truncatingIfNeeded: content.count).bigEndianBytes + content
    return APDU(.data, UInt16(truncatingIfNeeded: inner.count).bigEndianBytes + inner)
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// The number's bytes, the highest first.
  var bigEndianBytes: [UInt8] {
    stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
  }
}

/// An absolute time of IEEE 11073: century, year, month, day, hour, minute, second and hundredths, each as
/// two decimal digits in one byte.
enum MedicalTime {
  /// The number of bytes of a time.
  static let length = 8

  /// The time in these bytes; nil if a byte is not two decimal digits, or if the date does not exist.
  ///
  /// The hundredths are ignored: in their byte, some meters send FF.
  static func parse(_ bytes: some Collection<UInt8>) -> DeviceTime? {
    let parts = bytes.prefix(7).compactMap(decimal)
    guard bytes.count == length, parts.count == 7 else { return nil }
    return DeviceTime(
      year: parts[0] * 100 + parts[1], month: parts[2], day: parts[3], hour: parts[4], minute: parts[5],
      second: parts[6])
  }

  static func bytes(_ time: DeviceTime) -> [UInt8] {
    let parts = time.parts
    return [
      parts.year / 100, parts.year % 100, parts.month, parts.day, parts.hour, parts.minute, parts.second, 0,
    ].map { UInt8(truncatingIfNeeded: (($0 / 10 % 10) << 4) | ($0 % 10)) }
  }

  private static func decimal(_ byte: UInt8) -> Int? {
    let (high, low) = (byte >> 4, byte & 0x0F)
    return high <= 9 && low <= 9 ? Int(high * 10 + low) : nil
  }
}
