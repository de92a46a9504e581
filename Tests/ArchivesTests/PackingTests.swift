// SPDX-License-Identifier: Apache-2.0

import Archives
import CBZip2
import CLZMA
import CZstd
import Logbook
import SeededRandom
import TestArchives
import Testing

@Suite struct PackingTests {
  private static let text = Array(String(repeating: "2026-03-11 08:10,142\n", count: 3000).utf8)

  private static func packed(_ packing: Packing, _ bytes: [UInt8]) throws -> [UInt8] {
    var out = [UInt8](repeating: 0, count: bytes.count + 1 << 16)
    switch packing {
    case .xz:
      var count = 0
      let status = lzma_easy_buffer_encode(
        6, LZMA_CHECK_CRC64, nil, bytes, bytes.count, &out, &count, out.count)
      guard status == LZMA_OK else { throw Failure(.inputOutput, "xz") }
      return Array(out.prefix(count))
    case .bzip2:
      var count = UInt32(out.count)
      var bytes = bytes
      let length = UInt32(bytes.count)
      let status = bytes.withUnsafeMutableBytes { source in
        out.withUnsafeMutableBytes { target in
          BZ2_bzBuffToBuffCompress(
            target.baseAddress?.assumingMemoryBound(to: CChar.self), &count,
            source.baseAddress?.assumingMemoryBound(to: CChar.self), length, 9, 0, 0)
        }
      }
      guard status == BZ_OK else { throw Failure(.inputOutput, "bzip2") }
      return Array(out.prefix(Int(count)))
    case .zstd:
      // The frame gets a checksum, as zstd(1) writes it.
      guard let context = ZSTD_createCCtx() else { throw Failure(.inputOutput, "zstd") }
      defer { ZSTD_freeCCtx(context) }
      ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
      let count = ZSTD_compress2(context, &out, out.count, bytes, bytes.count)
      guard ZSTD_isError(count) == 0 else { throw Failure(.inputOutput, "zstd") }
      return Array(out.prefix(count))
    case .gzip:
      return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + (try Deflate.raw(bytes)) + trailer(bytes)
    }
  }

  private static func trailer(_ bytes: [UInt8]) -> [UInt8] {
    var checksum: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    checksum = ~checksum
    return (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
      + (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
  }

  private static func unpacked(_ packing: Packing, _ bytes: [UInt8], piece: Int = 100) throws -> (
    bytes: [UInt8], isTruncated: Bool
  ) {
    let source = try packing.unpacking(PieceSource(bytes, piece: piece), name: "a")
    return (try source.allBytes(chunk: 5000), source.isTruncated)
  }

  @Test(arguments: Packing.allCases) func compressedBytesAreUnpacked(_ packing: Packing) throws {
    let packed = try Self.packed(packing, Self.text)
    #expect(Packing(packed) == packing)
    let (bytes, isTruncated) = try Self.unpacked(packing, packed, piece: 1)
    #expect(bytes == Self.text && !isTruncated)
  }

  @Test(arguments: Packing.allCases) func concatenatedCompressedStreamsAreUnpackedTogether(_ packing: Packing)
    throws
  {
    let packed = try Self.packed(packing, Self.text)
    #expect(try Self.unpacked(packing, packed + packed).bytes == Self.text + Self.text)
  }

  @Test(arguments: Packing.allCases) func aTruncatedCompressedFileIsReportedAndReturnsNoWrongBytes(
    _ packing: Packing
  ) throws {
    let packed = try Self.packed(packing, Self.text)
    for length in stride(from: 8, to: packed.count, by: 5) {
      let (bytes, isTruncated) = try Self.unpacked(packing, Array(packed.prefix(length)))
      #expect(isTruncated && Self.text.starts(with: bytes), "cut to \(length) bytes")
    }
  }

  @Test(arguments: Packing.allCases) func damagedCompressedDataNeverCrashesTheReader(_ packing: Packing)
    throws
  {
    let packed = try Self.packed(packing, Self.text)
    for seed in 1...500 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var bytes = packed
      for _ in 0..<3 {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      do {
        _ = try Self.unpacked(packing, bytes)
      } catch let failure as Failure {
        #expect(failure.category == .badInput, "seed \(seed)")
      }
    }
  }

  @Test func compressedDataThatNeedsTooMuchMemoryIsRefused() throws {
    // A frame of RFC 8878 with a window of 2 GiB, and one final raw block of one byte.
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3, 0x09, 0x00, 0x00, 0x41]
    let failure = #expect(throws: Failure.self) { try Self.unpacked(.zstd, frame) }
    #expect(failure?.message.contains("needs more than 32 MiB") == true)
    // The same frame with a window of 1 MiB.
    let small: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 10 << 3, 0x09, 0x00, 0x00, 0x41]
    #expect(try Self.unpacked(.zstd, small).bytes == [0x41])
  }

  @Test func anXZDictionaryThatNeedsTooMuchMemoryIsRefused() throws {
    let packed = try Self.packed(.xz, Self.text)
    // The block header is after the 12 bytes of the stream header. Its filter LZMA2 states the dictionary's
    // size.
    let end = 12 + Int(packed[12]) * 4
    let filter = try #require(packed[12..<end].firstRange(of: [0x21, 0x01])).upperBound
    func sized(_ dictionary: UInt8) -> [UInt8] {
      var bytes = packed
      bytes[filter] = dictionary
      let checksum = lzma_crc32(Array(bytes[12..<end]), end - 12, 0)
      for place in 0..<4 { bytes[end + place] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(place))) }
      return bytes
    }
    // Code 30 is a dictionary of 128 MiB, and code 28 one of 64 MiB, which `xz -9` uses.
    let failure = #expect(throws: Failure.self) { try Self.unpacked(.xz, sized(30)) }
    #expect(failure?.message == "a: unpacking needs more than 80 MiB; unpack the file with 'xz -d' first")
    #expect(try Self.unpacked(.xz, sized(28)).bytes == Self.text)
  }

  @Test(arguments: Packing.allCases) func anUnpackedSourceReturnsNothingAfterItsEnd(_ packing: Packing) throws
  {
    let source = try packing.unpacking(PieceSource(Self.packed(packing, Self.text)), name: "a")
    #expect(try source.allBytes(chunk: 1 << 20) == Self.text)
    for _ in 0..<2 { #expect(try source.allBytes(chunk: 10) == []) }
    #expect(!source.isTruncated)
  }

  /// All packed bytes are read at once, so that only the unpacking can notice the signal.
  @Test(arguments: Packing.allCases) func anInterruptionEndsUnpacking(_ packing: Packing) throws {
    let packed = try Self.packed(packing, Self.zeros)
    var isInterrupted = false
    let source = try packing.unpacking(PieceSource(packed, piece: packed.count), name: "a") { isInterrupted }
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let first = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
    #expect(first != .end)
    isInterrupted = true
    let failure = #expect(throws: Failure.self) {
      try piece.withUnsafeMutableBytes { try source.read(into: $0) }
    }
    #expect(failure?.category == .temporary && failure?.message == "a: interrupted")
  }

  private static let zeros = [UInt8](repeating: 0, count: 1 << 20)

  /// The data unpack to a gigabyte of zeros, or of one repeated row.
  @Test(arguments: Packing.allCases, ["\0", "2026-03-11 08:10:00,142\n"])
  func compressedDataThatUnpacksToAGigabyteOfRepeatedTextIsRefused(_ packing: Packing, _ text: String) throws
  {
    let block = Array(repeatElement(Array(text.utf8), count: Self.zeros.count / text.utf8.count).joined())
    let packed = try Self.packed(packing, block + Self.zeros.prefix(Self.zeros.count - block.count))
    #expect(packed.count < Self.zeros.count / 250)
    let bytes = Array(repeatElement(packed, count: 1000).joined())
    let (count, failure) = Self.readAll(try packing.unpacking(PieceSource(bytes, piece: 4096), name: "a"))
    // The limit is 64 MiB. The last piece before the failure may end below the limit.
    #expect(count > 63 << 20 && count <= 64 << 20 && failure?.category == .badInput)
    #expect(failure?.message.hasPrefix("a: it unpacks to more than 250 times its size") == true)
  }

  /// Zeros are read up to 64 MiB, and data that compress like exports are read in any size. In the test's
  /// data of the second kind, 1/16 of the bytes are random.
  @Test func compressedDataWithAUsualCompressionRatioIsUnpackedToItsEnd() throws {
    var (generator, block) = (SeededGenerator(seed: 1), Self.zeros)
    for place in 0..<block.count / 16 { block[place] = UInt8.random(in: 0...255, using: &generator) }
    for (megabyte, pieces) in [(Self.zeros, 64), (block, 66)] {
      let packed = try Self.packed(.zstd, megabyte)
      let bytes = Array(repeatElement(packed, count: pieces).joined())
      let (count, failure) = Self.readAll(
        try Packing.zstd.unpacking(PieceSource(bytes, piece: 1 << 16), name: "a"))
      #expect(count == pieces << 20 && failure == nil)
    }
  }

  /// Reads to the end or to the failure, in chunks whose size divides a megabyte.
  private static func readAll(_ source: any UnpackingSource) -> (count: Int, failure: Failure?) {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 16)
    defer { chunk.deallocate() }
    var total = 0
    do {
      while case .bytes(let count) = try source.read(into: chunk) { total += count }
    } catch {
      return (total, error as? Failure)
    }
    return (total, nil)
  }

  @Test func bytesWithoutACompressionSignatureAreNotRecognisedAsCompressed() {
    for text in ["", "BZ", "2026", "\u{1F}"] { #expect(Packing(Array(text.utf8)) == nil) }
  }
}
