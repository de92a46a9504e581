// SPDX-License-Identifier: Apache-2.0

/// The long name of a file, which is in pieces of 13 characters, the last one first, before the entry with its short
/// name.
struct FATLongName {
  /// Where the characters of a piece are, two bytes each.
  private static let places = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30]
  /// A name has at most 255 characters.
  private static let maxPieces: UInt8 = 20

  private var units: [UInt16] = []
  /// The number of the piece that came last; 1 ends the name, and 0 says that nothing came.
  private var number: UInt8 = 0
  private var sum: UInt8 = 0

  /// Takes the next piece; one that does not follow the last begins again, or is dropped.
  mutating func take(_ piece: [UInt8]) {
    guard piece.count == 32 else { return }
    let isFirst = piece[0] & 0x40 != 0
    let next = piece[0] & 0x3F
    guard (1...Self.maxPieces).contains(next), isFirst || next + 1 == number && piece[13] == sum else {
      self = FATLongName()
      return
    }
    let characters = Self.places.map { UInt16(piece[$0]) | UInt16(piece[$0 + 1]) << 8 }
    units = characters.prefix { $0 != 0 } + (isFirst ? [] : units)
    (number, sum) = (next, piece[13])
  }

  /// The whole name; nil where it is cut, or belongs to another entry than the one with this short name.
  func text(of shortName: some Sequence<UInt8>) -> String? {
    let expected = shortName.reduce(UInt8(0)) { sum, byte in (sum >> 1 | sum << 7) &+ byte }
    guard number == 1, sum == expected, !units.isEmpty else { return nil }
    return String(decoding: units, as: UTF16.self)
  }
}
