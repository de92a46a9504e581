// SPDX-License-Identifier: Apache-2.0

/// The permanent identity of a reading, which is the same in every store, export and remote. It consists of
/// the device, the kind and the position. If readings share all three, a value bucket and an occurrence
/// separate them.
package struct ReadingIdentity: Hashable, Sendable {
  /// The device's vendor; empty if format and model identify the device.
  package let vendor: String
  /// The device's model; empty if vendor and serial number identify the device.
  package let model: String
  /// The device's serial number; empty if the source states none.
  package let serial: String
  /// The id of the format that reported the device; empty if vendor and serial number identify the device.
  package let format: String
  /// The kind of measurement.
  package let kind: ReadingKind
  /// Whether the shown time or the device's tick determines the position.
  package let positionKind: PositionKind
  /// The shown time in civil seconds, or the device's tick.
  package let position: Int64
  /// The value in tenths of mmol/L, a code for LO or HI, or 0; see `Reading.valueBucket`.
  package let valueBucket: Int64
  /// A number that separates readings with equal other parts of the identity: 0, 1, 2 and so on.
  package let occurrence: Int64

  /// The identity of a device's reading. Parts of the device that do not identify it become empty.
  package init(
    device: Device, kind: ReadingKind, positionKind: PositionKind, position: Int64, valueBucket: Int64,
    occurrence: Int64
  ) {
    let hasSerial = !device.serial.isEmpty
    vendor = hasSerial ? device.vendor : ""
    model = hasSerial ? "" : device.model
    serial = device.serial
    format = hasSerial ? "" : device.format
    self.kind = kind
    self.positionKind = positionKind
    self.position = position
    self.valueBucket = valueBucket
    self.occurrence = occurrence
  }

  /// The identity of a reading with its device.
  package init(_ reading: Reading, _ device: Device) {
    self.init(
      device: device, kind: reading.kind, positionKind: reading.positionKind, position: reading.position,
      valueBucket: reading.valueBucket, occurrence: Int64(reading.occurrence))
  }

  /// The identity that a canonical text states; nil for any other text.
  package init?(text: String) {
    let parts = Self.parts(of: text)
    guard parts.count == 8, let first = Self.unescaped(parts[1]), let second = Self.unescaped(parts[2]),
      let kind = ReadingKind(name: parts[3]), let positionKind = PositionKind(name: parts[4]),
      let position = Int64(parts[5]),
      let valueBucket = Int64(parts[6]), let occurrence = Int64(parts[7]), occurrence >= 0
    else { return nil }
    let device =
      parts[0] == Self.bySerial
      ? Device(vendor: first, model: "", serial: second, format: "")
      : Device(vendor: "", model: second, format: first)
    self.init(
      device: device, kind: kind, positionKind: positionKind, position: position, valueBucket: valueBucket,
      occurrence: occurrence)
    guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
  }

  /// The canonical text, as in glucoport-json(5): eight parts separated by `|`.
  package var text: String {
    let device = Device(vendor: vendor, model: model, serial: serial, format: format)
    let parts = [
      Self.text(of: device), kind.name, positionKind.name, String(position), String(valueBucket),
      String(occurrence),
    ]
    return parts.joined(separator: "|")
  }

  /// The first three parts of the canonical text, which identify the device.
  package static func text(of device: Device) -> String {
    let parts =
      device.serial.isEmpty
      ? [byModel, escaped(device.format), escaped(device.model)]
      : [bySerial, escaped(device.vendor), escaped(device.serial)]
    return parts.joined(separator: "|")
  }

  /// The identity as a UUID of version 8, for remotes that need one. It is computed by SHA-256 from the
  /// canonical text.
  package var uuid: String { Digest.uuid(of: [Self.keyDomain, text]) }

  /// The 16 bytes of `uuid`.
  package var key: [UInt8] { Digest.uuidBytes(of: [Self.keyDomain, text]) }
}

/// Computes `ReadingIdentity.key`, the 16 bytes of the identity's UUID, for many readings. The text up to the
/// position is the same for all readings of a series, so it is made only once.
package struct ReadingKeys: Sendable {
  /// The canonical texts up to the position, by the number that the caller gave the series.
  private var known: [Int64: [UInt8]] = [:]
  private var last: (series: Int64, text: [UInt8])?
  // These buffers are reused, so that no memory is allocated for each reading.
  private var place: [UInt8] = []
  private var counted: [UInt8] = []

  private static let domain = Array(
    "\(ReadingIdentity.keyDomain.utf8.count):\(ReadingIdentity.keyDomain)".utf8)

  /// An empty cache of series.
  package init() {}

  /// The 16 bytes of the UUID of a reading's identity.
  ///
  /// - Parameters:
  ///   - series: the number that the caller gave the series.
  ///   - parts: returns the device and the kinds of this series. It is called once for each series.
  package mutating func key(
    of series: Int64, position: Int64, valueBucket: Int64, occurrence: Int64,
    _ parts: () throws -> (device: Device, kind: ReadingKind, positionKind: PositionKind)
  ) rethrows -> [UInt8] {
    let start = try start(of: series, parts)
    place.removeAll(keepingCapacity: true)
    appendInteger(position, to: &place)
    place.append(UInt8(ascii: "|"))
    appendInteger(valueBucket, to: &place)
    place.append(UInt8(ascii: "|"))
    appendInteger(occurrence, to: &place)
    counted.removeAll(keepingCapacity: true)
    counted.append(contentsOf: Self.domain)
    appendInteger(Int64(start.count + place.count), to: &counted)
    counted.append(UInt8(ascii: ":"))
    counted.append(contentsOf: start)
    counted.append(contentsOf: place)
    return Digest.uuidBytes(ofCountedParts: counted)
  }

  private mutating func start(
    of series: Int64, _ parts: () throws -> (device: Device, kind: ReadingKind, positionKind: PositionKind)
  ) rethrows -> [UInt8] {
    if let last, last.series == series { return last.text }
    let text: [UInt8]
    if let found = known[series] {
      text = found
    } else {
      let (device, kind, positionKind) = try parts()
      text = Array("\(ReadingIdentity.text(of: device))|\(kind.name)|\(positionKind.name)|".utf8)
      known[series] = text
    }
    last = (series, text)
    return text
  }
}

extension ReadingIdentity {
  /// The first part of the hashed text. It ensures that a reading never has the same UUID as another item.
  fileprivate static let keyDomain = "reading"

  /// The parts of a canonical text, separated by bars. The text is split by Unicode scalars, since a bar and
  /// a combining accent are one `Character`.
  static func parts(of text: String) -> [Substring] {
    text.unicodeScalars.split(separator: "|", omittingEmptySubsequences: false).map(Substring.init)
  }

  private static let bySerial = "serial"
  private static let byModel = "model"

  /// The text as one part of an identity: `%`, `|` and control characters become `%` and two hexadecimal
  /// digits.
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in text.utf8 {
      if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "|") || byte < 0x20 || byte == 0x7F {
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Reverses `escaped(_:)`; nil if a `%` is not followed by two hexadecimal digits.
  private static func unescaped(_ text: Substring) -> String? {
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] != UInt8(ascii: "%") {
        out.append(bytes[index])
        index += 1
      } else if index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
      {
        out.append(byte)
        index += 3
      } else {
        return nil
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
