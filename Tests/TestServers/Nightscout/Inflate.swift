// SPDX-License-Identifier: Apache-2.0

/// Unpacks gzip (RFC 1951 and RFC 1952).
struct Inflate {
  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227,
    258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
    4097,
    6145, 8193, 12289, 16385, 24577,
  ]
  private static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  private struct Broken: Error {}

  /// A Huffman code: the number of code words of each length, and the symbols in the order of their code
  /// words.
  private struct Code {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    init(_ lengths: [Int]) {
      for length in lengths where length > 0 { counts[length] += 1 }
      for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
    }
  }

  private let bytes: [UInt8]
  private var bit: Int
  private var output: [UInt8] = []

  /// The content of a gzip file with one member; nil for any other bytes.
  static func gzip(_ packed: [UInt8]) -> [UInt8]? {
    guard packed.count > 18, packed[0] == 0x1F, packed[1] == 0x8B, packed[2] == 8 else { return nil }
    var start = 10
    if packed[3] & 8 != 0 { start = (packed[start...].firstIndex(of: 0) ?? start) + 1 }
    var inflate = Inflate(bytes: packed, bit: start * 8)
    do { try inflate.run() } catch { return nil }
    return inflate.output
  }

  private init(bytes: [UInt8], bit: Int) { (self.bytes, self.bit) = (bytes, bit) }

  private mutating func run() throws {
    var isLast = false
    while !isLast {
      isLast = try readBits(1) == 1
      switch try readBits(2) {
      case 0: try stored()
      case 1:
        let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
        try block(Code(lengths), Code([Int](repeating: 5, count: 30)))
      case 2: try readDynamicBlock()
      default: throw Broken()
      }
    }
  }

  private mutating func readBits(_ count: Int) throws -> Int {
    var value = 0
    for place in 0..<count {
      guard bit / 8 < bytes.count else { throw Broken() }
      value |= Int(bytes[bit / 8] >> UInt8(bit % 8) & 1) << place
      bit += 1
    }
    return value
  }

  private mutating func stored() throws {
    bit = (bit + 7) / 8 * 8
    let length = try readBits(16)
    guard try readBits(16) == ~length & 0xFFFF, bit / 8 + length <= bytes.count else { throw Broken() }
    output += bytes[bit / 8..<bit / 8 + length]
    bit += length * 8
  }

  private mutating func symbol(_ code: Code) throws -> Int {
    var (word, first, index) = (0, 0, 0)
    for length in 1...15 {
      word |= try readBits(1)
      let count = code.counts[length]
      if word - first < count { return code.symbols[index + word - first] }
      index += count
      first = (first + count) << 1
      word <<= 1
    }
    throw Broken()
  }

  private mutating func block(_ literals: Code, _ distances: Code) throws {
    while true {
      let next = try symbol(literals)
      if next < 256 { output.append(UInt8(next)) }
      if next == 256 { return }
      guard next > 256 else { continue }
      guard next - 257 < Self.lengthBases.count else { throw Broken() }
      let length = Self.lengthBases[next - 257] + (try readBits(Self.lengthBits[next - 257]))
      let code = try symbol(distances)
      guard code < Self.distanceBases.count else { throw Broken() }
      let distance = Self.distanceBases[code] + (try readBits(max(0, code / 2 - 1)))
      guard distance <= output.count else { throw Broken() }
      for _ in 0..<length { output.append(output[output.count - distance]) }
    }
  }

  private mutating func readDynamicBlock() throws {
    let (literals, distances, words) = (try readBits(5) + 257, try readBits(5) + 1, try readBits(4) + 4)
    var codeLengths = [Int](repeating: 0, count: 19)
    for place in Self.codeLengthOrder.prefix(words) { codeLengths[place] = try readBits(3) }
    let code = Code(codeLengths)
    var lengths: [Int] = []
    while lengths.count < literals + distances {
      switch try symbol(code) {
      case 16:
        guard let last = lengths.last else { throw Broken() }
        lengths += [Int](repeating: last, count: 3 + (try readBits(2)))
      case 17: lengths += [Int](repeating: 0, count: 3 + (try readBits(3)))
      case 18: lengths += [Int](repeating: 0, count: 11 + (try readBits(7)))
      case let length: lengths.append(length)
      }
    }
    try block(Code(Array(lengths[..<literals])), Code(Array(lengths[literals...].prefix(distances))))
  }
}
