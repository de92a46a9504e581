// SPDX-License-Identifier: Apache-2.0

/// Assembles the long name of a file from its pieces of 13 characters. The pieces are in reverse order before the entry
/// with the short name.
struct FATLongName {
  /// The offsets of a piece's characters, two bytes each.
  private static let places = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30]
  /// A name has at most 255 characters.
  private static let maxPieces: UInt8 = 20

  private var units: [UInt16] = []
  /// The number of the latest piece: 1 ends the name, and 0 means that there is none.
  private var number: UInt8 = 0
  private var sum: UInt8 = 0

  /// Adds the next piece. A piece that does not follow the latest one starts a new name, or is dropped.
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

  /// The complete name; nil if it is truncated or belongs to another short name.
  func text(of shortName: some Sequence<UInt8>) -> String? {
    let expected = shortName.reduce(UInt8(0)) { sum, byte in (sum >> 1 | sum << 7) &+ byte }
    guard number == 1, sum == expected, !units.isEmpty else { return nil }
    return String(decoding: units, as: UTF16.self)
  }
}
