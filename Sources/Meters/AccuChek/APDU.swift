// SPDX-License-Identifier: Apache-2.0

/// Bytes that do not say what IEEE 11073-20601 lets them say.
struct MalformedAPDU: Error, Hashable {
  /// What was looked for.
  let part: String
}

/// Takes big-endian numbers and runs of bytes from the front of a message; never reads behind its end.
struct APDUReader {
  private var rest: ArraySlice<UInt8>
  private let part: String

  /// A reader of these bytes, which are the named part of a message.
  init(_ bytes: some Collection<UInt8>, part: String) {
    rest = ArraySlice(Array(bytes))
    self.part = part
  }

  /// Whether nothing is left.
  var isAtEnd: Bool { rest.isEmpty }

  /// The next bytes.
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

  /// The next bytes, whose count is before them in two bytes.
  mutating func counted() throws(MalformedAPDU) -> [UInt8] { try bytes(Int(u16())) }

  /// A list of attributes: how many there are, their bytes in all, and for each its id, its length and its value.
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
  /// What a message is for.
  enum Kind: UInt16 {
    case associationRequest = 0xE200
    case associationResponse = 0xE300
    case releaseRequest = 0xE400
    case releaseResponse = 0xE500
    case abort = 0xE600
    case data = 0xE700
  }

  /// More than any meter was seen to send: the longest message of a real one has 470 bytes.
  static let maxBytes = 4096

  /// What the message is for.
  var kind: Kind
  /// What follows the length.
  var body: [UInt8]

  /// A message with this body.
  init(_ kind: Kind, _ body: [UInt8]) {
    self.kind = kind
    self.body = body
  }

  /// The message in these bytes, which may have nothing behind it.
  init(parsing bytes: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(bytes, part: "the message's head")
    guard let kind = Kind(rawValue: try reader.u16()) else { throw MalformedAPDU(part: "the message's type") }
    self.kind = kind
    body = try reader.counted()
    guard reader.isAtEnd else { throw MalformedAPDU(part: "the message's end") }
  }

  /// How long the message is that begins with these bytes; nil while its length has not come.
  static func length(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return 4 + (Int(bytes[2]) << 8 | Int(bytes[3]))
  }

  /// The message as it goes over the wire.
  var bytes: [UInt8] {
    kind.rawValue.bigEndianBytes + UInt16(truncatingIfNeeded: body.count).bigEndianBytes + body
  }
}

/// What a data message carries: a request, its answer, or an event.
struct DataAPDU: Hashable {
  /// What the content is.
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

  /// The number that ties an answer to its request.
  var invokeID: UInt16
  /// What the content is.
  var choice: Choice
  /// What follows the choice and its length.
  var content: [UInt8]

  /// A data message with this content.
  init(_ invokeID: UInt16, _ choice: Choice, _ content: [UInt8]) {
    self.invokeID = invokeID
    self.choice = choice
    self.content = content
  }

  /// The data message in the body of an APDU.
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

  /// The whole message, as it goes over the wire.
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
