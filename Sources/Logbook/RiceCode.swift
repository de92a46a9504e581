// SPDX-License-Identifier: Apache-2.0

/// A Rice code writes a number in three parts: as many ones as its upper bits state, a zero, and its lowest
/// `width` bits. The code is short if the numbers are not much larger than 2 to the power of `width`.
struct RiceCode {
  /// The number of ones that begin the code of a number whose upper bits would need as many ones or more. All
  /// 64 bits of the number follow.
  static let escape = 24
  static let maxWidth = 40

  /// The number of lowest bits that are written unchanged.
  let width: Int

  init(width: Int) { self.width = width }

  /// The code with the width that takes the fewest bits, or nearly the fewest, for these numbers.
  init(fitting numbers: [UInt64]) {
    let mean = numbers.reduce(0.0) { $0 + Double($1) } / Double(max(numbers.count, 1))
    let guess = mean < 1 ? 0 : min(Self.maxWidth, Int(mean.exponent))
    let bits = { (width: Int) in numbers.reduce(0) { $0 + Self(width: width).bits($1) } }
    let widths = max(guess - 1, 0)...min(guess + 1, Self.maxWidth)
    width = widths.min { bits($0) < bits($1) } ?? guess
  }

  private func bits(_ number: UInt64) -> Int {
    let ones = number >> UInt64(width)
    return ones < UInt64(Self.escape) ? Int(ones) + 1 + width : Self.escape + 64
  }

  func write(_ number: UInt64, to bits: inout BitWriter) {
    let ones = number >> UInt64(width)
    guard ones < UInt64(Self.escape) else {
      bits.append((1 << UInt64(Self.escape)) - 1, width: Self.escape)
      bits.append(number & 0xFFFF_FFFF, width: 32)
      return bits.append(number >> 32, width: 32)
    }
    bits.append((1 << ones) - 1, width: Int(ones) + 1)
    bits.append(number & ((1 << UInt64(width)) - 1), width: width)
  }

  /// Reads the next number; nil if the bytes end before it does.
  func read(_ bits: inout BitReader, in bytes: [UInt8]) -> UInt64? {
    let ones = bits.ones(atMost: Self.escape, in: bytes)
    guard ones < Self.escape else {
      guard let low = bits.next(32, in: bytes), let high = bits.next(32, in: bytes) else { return nil }
      return high << 32 | low
    }
    guard let zero = bits.next(1, in: bytes), zero == 0, let low = bits.next(width, in: bytes) else {
      return nil
    }
    return UInt64(ones) << UInt64(width) | low
  }
}

/// Writes bits into bytes. The lowest bit of a byte is written first.
struct BitWriter {
  private var bytes: [UInt8] = []
  private var bits: UInt64 = 0
  private var filled = 0

  /// Appends the lowest `width` bits of a number, at most 40.
  mutating func append(_ number: UInt64, width: Int) {
    bits |= number << UInt64(filled)
    filled += width
    while filled >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: bits))
      bits >>= 8
      filled -= 8
    }
  }

  mutating func finish() -> [UInt8] {
    if filled > 0 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
    return bytes
  }
}

/// Reads the bits of bytes, beginning at the byte with this index.
struct BitReader: Sendable {
  private var index: Int
  private var bits: UInt64 = 0
  private var available = 0

  init(from index: Int) { self.index = index }

  /// The index of the first byte of which no bit has been read.
  var nextByte: Int { index - available / 8 }

  /// Reads at most `limit` ones and returns their number. It does not read the zero after them.
  mutating func ones(atMost limit: Int, in bytes: [UInt8]) -> Int {
    fill(bytes)
    let ones = min((~bits).trailingZeroBitCount, limit, available)
    drop(ones)
    return ones
  }

  /// Reads the next bits, at most 40; nil if fewer are left.
  mutating func next(_ width: Int, in bytes: [UInt8]) -> UInt64? {
    fill(bytes)
    guard available >= width else { return nil }
    let number = bits & ((1 << UInt64(width)) - 1)
    drop(width)
    return number
  }

  @inline(__always)
  private mutating func fill(_ bytes: [UInt8]) {
    while available <= 48, index < bytes.count {
      bits |= UInt64(bytes[index]) << UInt64(available)
      index += 1
      available += 8
    }
  }

  @inline(__always)
  private mutating func drop(_ width: Int) {
    bits >>= UInt64(width)
    available -= width
  }
}
