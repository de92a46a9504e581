// SPDX-License-Identifier: Apache-2.0

import LogbookAPI
import SeededRandom
import Testing

@Suite struct WireGzipTests {
  @Test func gzipCompressedBytesAreUnpackedUnchanged() throws {
    var random = SeededGenerator(seed: 1)
    for count in [0, 1, 100, 65_535, 65_536, 65_537, 400_000] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let packed = try #require(WireGzip.pack(bytes))
      #expect(try WireGzip.unpack(packed, limit: count) == bytes)
    }
  }

  @Test func theGzipLimitAppliesToTheUnpackedSize() throws {
    let bytes = [UInt8](repeating: 0, count: 20_000_000)
    let packed = try #require(WireGzip.pack(bytes))
    #expect(packed.count < 300_000)
    #expect(throws: WireGzip.Problem.tooLarge) { try WireGzip.unpack(packed, limit: 1_000_000) }
    #expect(throws: WireGzip.Problem.tooLarge) { try WireGzip.unpack(packed, limit: 0) }
  }

  @Test func truncatedOrDamagedGzipDataIsRefused() throws {
    let bytes = (0..<600).map { UInt8($0 % 251) }
    let packed = try #require(WireGzip.pack(bytes))
    for length in 0..<packed.count {
      #expect(throws: WireGzip.Problem.damaged) {
        try WireGzip.unpack(Array(packed[..<length]), limit: 100_000)
      }
    }
    for tail in [[0], packed, Array("{}".utf8)] as [[UInt8]] {
      #expect(throws: WireGzip.Problem.damaged) { try WireGzip.unpack(packed + tail, limit: 100_000) }
    }
    // Bytes 3 to 9 of the header are not changed, since they do not depend on the content.
    for place in [0, 1, 2] + Array(10..<packed.count) {
      var changed = packed
      changed[place] ^= 0x55
      do {
        #expect(try WireGzip.unpack(changed, limit: 100_000) == bytes, "byte \(place)")
      } catch {
        #expect(error == .damaged || error == .tooLarge)
      }
    }
  }
}
