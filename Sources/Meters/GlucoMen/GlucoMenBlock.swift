// SPDX-License-Identifier: Apache-2.0

/// A block of text of the GlucoMen areo: a bracket, lines, two check digits and a bracket, each followed by CR LF.
enum GlucoMenBlock: Hashable {
  case lines([String])
  /// The two bytes that mean no readings.
  case empty
  /// A block with wrong check digits or of another form.
  case broken

  /// Far above the largest block: 700 readings are 21,000 bytes.
  static let maxBytes = 1 << 20

  /// Parses a block; nil until its end has arrived. Bytes before it are skipped.
  init?(parsing bytes: [UInt8]) {
    guard let start = Self.place(of: Self.opening, in: bytes, from: 0) else { return nil }
    let content = start + Self.opening.count
    if Array(bytes[content...].prefix(Self.nothing.count)) == Self.nothing {
      self = .empty
      return
    }
    guard Self.hasEnded(bytes), let end = Self.place(of: Self.closing, in: bytes, from: content) else {
      return nil
    }
    self = Self.checked(Array(bytes[start..<end]))
  }

  /// A block with these lines, as sent to the meter.
  static func bytes(_ lines: [String]) -> [UInt8] {
    let text = opening + lines.flatMap { Array($0.utf8) + lineEnd }
    return text + digits(of: text) + closing
  }

  /// CRC-8/MAXIM: reflected, polynomial 31, start 0.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    bytes.reduce(0) { start, byte in
      (0..<8).reduce(start ^ byte) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0x8C : crc >> 1 }
    }
  }
}

extension GlucoMenBlock {
  private static var lineEnd: [UInt8] { [0x0D, 0x0A] }
  private static var opening: [UInt8] { [0x5B, 0x0D, 0x0A] }
  /// Includes the end of the line before it.
  private static var closing: [UInt8] { [0x0D, 0x0A, 0x5D, 0x0D, 0x0A] }
  private static var nothing: [UInt8] { [0x90, 0x3D, 0x0D, 0x0A, 0x5D, 0x0D, 0x0A] }

  /// Whether the last bytes end a block. Checked first, so that a long block is searched once.
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

  private static func place(of pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count - start >= pattern.count else { return nil }
    return (start...bytes.count - pattern.count).first { place in
      bytes[place] == pattern[0] && bytes[place..<place + pattern.count].elementsEqual(pattern)
    }
  }
}
