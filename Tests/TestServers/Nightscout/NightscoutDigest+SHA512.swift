// SPDX-License-Identifier: Apache-2.0

extension NightscoutDigest {
  /// The SHA-512 of a text as 128 hexadecimal digits.
  package static func sha512(_ text: String) -> String {
    let message = Array(text.utf8)
    let primes = firstPrimes(80)
    let constants = primes.map { fraction(ofRoot: 3, of: $0) }
    var state = primes.prefix(8).map { fraction(ofRoot: 2, of: $0) }
    var padded = message + [0x80]
    padded += [UInt8](repeating: 0, count: (240 - padded.count % 128) % 128 + 8)
    padded += (0..<8).map { UInt8(truncatingIfNeeded: UInt64(message.count * 8) >> (56 - 8 * UInt64($0))) }
    for start in stride(from: 0, to: padded.count, by: 128) {
      mix(&state, padded[start..<start + 128], constants)
    }
    return hex(
      state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } })
  }

  private static func mix(_ state: inout [UInt64], _ block: ArraySlice<UInt8>, _ constants: [UInt64]) {
    var words = (0..<16).map { index in
      (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(block[block.startIndex + index * 8 + $1]) }
    }
    for index in 16..<80 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = turned(early, 1) ^ turned(early, 8) ^ early >> 7
      let second = turned(late, 19) ^ turned(late, 61) ^ late >> 6
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var work = state
    for index in 0..<80 {
      let (a, e) = (work[0], work[4])
      let choice = e & work[5] ^ ~e & work[6]
      let first = turned(e, 14) ^ turned(e, 18) ^ turned(e, 41)
      let next = work[7] &+ first &+ choice &+ constants[index] &+ words[index]
      let majority = a & work[1] ^ a & work[2] ^ work[1] & work[2]
      let second = (turned(a, 28) ^ turned(a, 34) ^ turned(a, 39)) &+ majority
      work = [next &+ second, a, work[1], work[2], work[3] &+ next, e, work[5], work[6]]
    }
    state = zip(state, work).map { $0 &+ $1 }
  }

  private static func turned(_ word: UInt64, _ count: UInt64) -> UInt64 {
    word >> count | word << (64 - count)
  }

  private static func firstPrimes(_ count: Int) -> [UInt64] {
    var primes: [UInt64] = []
    var number: UInt64 = 2
    while primes.count < count {
      if !primes.contains(where: { number % $0 == 0 }) { primes.append(number) }
      number += 1
    }
    return primes
  }

  /// The first 64 bits after the binary point of a number's square or cube root, computed bit by bit.
  private static func fraction(ofRoot degree: Int, of number: UInt64) -> UInt64 {
    var root: [UInt64] = [0, 0, 0]
    for bit in stride(from: 67, through: 0, by: -1) {
      var tried = root
      tried[bit / 32] |= 1 << UInt64(bit % 32)
      let power = (1..<degree).reduce(tried) { power, _ in product(power, tried) }
      let bound = [UInt64](repeating: 0, count: 2 * degree) + [number]
      if !isGreater(power, than: bound) { root = tried }
    }
    return root[1] << 32 | root[0]
  }

  /// Multiplies numbers that consist of digits of 32 bits, the lowest digit first.
  private static func product(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
    var product = [UInt64](repeating: 0, count: left.count + right.count)
    for (place, digit) in left.enumerated() {
      var carry: UInt64 = 0
      for (other, factor) in right.enumerated() {
        let sum = product[place + other] + digit * factor + carry
        product[place + other] = sum & 0xFFFF_FFFF
        carry = sum >> 32
      }
      product[place + right.count] = carry
    }
    return product
  }

  private static func isGreater(_ left: [UInt64], than right: [UInt64]) -> Bool {
    for place in stride(from: max(left.count, right.count) - 1, through: 0, by: -1) {
      let (one, other) = (place < left.count ? left[place] : 0, place < right.count ? right[place] : 0)
      if one != other { return one > other }
    }
    return false
  }
}
