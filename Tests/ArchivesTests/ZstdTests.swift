// SPDX-License-Identifier: Apache-2.0

import CZstd
import Logbook
import Testing

@testable import Archives

/// Tests reading the frames of Zstandard data (RFC 8878), including skippable, truncated and damaged ones.
@Suite struct ZstdTests {
  private static let text = Array(String(repeating: "2026-03-11 08:10,142\n", count: 200).utf8)
  /// A skippable frame of four bytes.
  private static let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]

  /// A frame with a checksum.
  private static func frame(_ bytes: [UInt8]) throws -> [UInt8] {
    guard let context = ZSTD_createCCtx() else { throw Failure(.inputOutput, "zstd") }
    defer { ZSTD_freeCCtx(context) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    var out = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let count = ZSTD_compress2(context, &out, out.count, bytes, bytes.count)
    guard ZSTD_isError(count) == 0 else { throw Failure(.inputOutput, "zstd") }
    return Array(out.prefix(count))
  }

  private static func unpacked(
    _ bytes: [UInt8], piece: Int = 13, chunk: Int = 1000
  ) throws -> (bytes: [UInt8], isTruncated: Bool) {
    let source = try ZstdSource(PieceSource(bytes, piece: piece), name: "a.zst")
    return (try source.allBytes(chunk: chunk), source.isTruncated)
  }

  private static func refusal(_ bytes: [UInt8]) throws -> String? {
    do {
      _ = try unpacked(bytes)
      return nil
    } catch let failure as Failure {
      #expect(failure.category == .badInput)
      return failure.message
    }
  }

  // MARK: Frames

  @Test func skippableFramesOfZstdAreSkipped() throws {
    let (frame, skippable) = (try Self.frame(Self.text), Self.skippable)
    for bytes in [
      skippable + frame, frame + skippable, skippable + skippable + frame, try Self.frame([]) + frame,
    ] {
      #expect(Packing(bytes) == .zstd)
      let (found, isTruncated) = try Self.unpacked(bytes)
      #expect(found == Self.text && !isTruncated)
    }
    let (twice, _) = try Self.unpacked(frame + skippable + frame)
    #expect(twice == Self.text + Self.text)
  }

  @Test func aZstdFileOfOnlySkippableOrEmptyFramesIsEmpty() throws {
    for bytes in [Self.skippable, try Self.frame([]), Self.skippable + Self.skippable] {
      let (found, isTruncated) = try Self.unpacked(bytes)
      #expect(found.isEmpty && !isTruncated)
    }
  }

  @Test func allSixteenSignaturesOfSkippableZstdFramesAreRecognised() throws {
    for first in UInt8.min...UInt8.max {
      let bytes = [first] + Self.skippable.dropFirst()
      #expect((Packing(bytes) == .zstd) == (0x50...0x5F).contains(first), "\(first)")
    }
    let last = [0x5F] + Self.skippable.dropFirst()
    #expect(try Self.unpacked(last + Self.frame(Self.text)).bytes == Self.text)
    for short in 0..<4 { #expect(Packing(Self.skippable.prefix(short)) == nil) }
    for place in 1..<4 {
      var other = Self.skippable
      other[place] ^= 1
      #expect(Packing(other) == nil)
    }
  }

  @Test func aZstdFileTruncatedInsideAnyFrameIsReportedAsTruncated() throws {
    let (frame, skippable) = (try Self.frame(Self.text), Self.skippable)
    let bytes = skippable + frame + skippable
    let whole = [skippable.count, skippable.count + frame.count, bytes.count]
    for length in 1...bytes.count {
      let (found, isTruncated) = try Self.unpacked(Array(bytes.prefix(length)))
      #expect(isTruncated == !whole.contains(length), "cut to \(length) bytes")
      #expect(Self.text.starts(with: found), "cut to \(length) bytes")
      if length >= whole[1] { #expect(found == Self.text, "cut to \(length) bytes") }
    }
  }

  @Test(arguments: [1, 2, 7, 64, 100_000], [1, 3, 4096]) func zstdDataReadInPiecesOfAnySizeUnpacksTheSame(
    _ piece: Int, _ chunk: Int
  ) throws {
    let bytes = try Self.frame(Self.text) + Self.skippable + Self.frame(Self.text)
    let (found, isTruncated) = try Self.unpacked(bytes, piece: piece, chunk: chunk)
    #expect(found == Self.text + Self.text && !isTruncated)
  }

  // MARK: Refused files

  @Test(arguments: ["junk", "\0\0\0\0", "2026-03-11"]) func bytesAfterAZstdFrameAreReportedAsDamage(
    _ junk: String
  ) throws {
    let frame = try Self.frame(Self.text)
    #expect(
      try Self.refusal(frame + Array(junk.utf8))
        == "a.zst: the zstd data are damaged; download the file again")
    #expect(try Self.refusal(frame) == nil)
  }

  @Test func aZstdFrameWithAWrongChecksumIsReportedAsDamaged() throws {
    var bytes = try Self.frame(Self.text)
    bytes[bytes.count - 1] ^= 1
    #expect(try Self.refusal(bytes)?.contains("are damaged") == true)
  }

  @Test func aZstdFrameThatNeedsADictionaryIsRefused() throws {
    // The first frame needs dictionary 1, and the second frame needs no dictionary. Both contain this raw
    // block of one byte.
    let block: [UInt8] = [0x09, 0x00, 0x00, 0x41]
    #expect(
      try Self.refusal([0x28, 0xB5, 0x2F, 0xFD, 0x01, 0x50, 0x01] + block)?.contains("are damaged") == true)
    #expect(try Self.unpacked([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50] + block).bytes == [0x41])
  }

  /// `window` is a window descriptor: five bits for a power of two from 1 KiB on, and three bits for eighths
  /// of this power.
  @Test(arguments: [
    (15 << 3, true), (15 << 3 | 1, false), (16 << 3, false), (14 << 3 | 7, true), (0, true), (31 << 3, false),
  ])
  func zstdWindowsAreAcceptedUpTo32MiB(_ window: Int, _ isRead: Bool) throws {
    let bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, UInt8(window), 0x09, 0x00, 0x00, 0x41]
    #expect(try (Self.refusal(bytes) == nil) == isRead)
    if !isRead { #expect(try Self.refusal(bytes)?.contains("zstd -d --long=31") == true) }
  }

  @Test(
    arguments: [
      // A block of the reserved type, a size above the block's limit, a reserved bit, and a wrong content
      // size.
      [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50, 0x0F, 0x00, 0x00, 0x41],
      [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50, 0xF9, 0xFF, 0xFF, 0x41],
      [0x28, 0xB5, 0x2F, 0xFD, 0x08, 0x50, 0x09, 0x00, 0x00, 0x41],
      [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x02, 0x09, 0x00, 0x00, 0x41],
    ] as [[UInt8]])
  func aZstdFrameWithReservedValuesIsReportedAsDamaged(_ bytes: [UInt8]) throws {
    #expect(try Self.refusal(bytes)?.contains("are damaged") == true)
  }

  // MARK: Size and time

  @Test func highlyCompressedZstdDataIsUnpackedInPieces() throws {
    let size = 2 << 20
    let packed = try Self.frame([UInt8](repeating: 0x41, count: size))
    #expect(packed.count < size / 1000)
    let source = try ZstdSource(PieceSource(packed, piece: 100), name: "a.zst")
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    var (total, isSame) = (0, true)
    while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try source.read(into: $0) }) {
      total += count
      isSame = isSame && buffer.prefix(count).allSatisfy { $0 == 0x41 }
    }
    #expect(total == size && isSame && !source.isTruncated)
  }

  /// A source that pauses before each piece.
  private final class PausingSource: ByteSource {
    private let source: PieceSource
    private var isPaused = false

    init(_ bytes: [UInt8]) { source = PieceSource(bytes, piece: 40) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
      isPaused.toggle()
      return isPaused ? .paused : try source.read(into: buffer)
    }
  }

  @Test func aZstdSourceThatPausesLosesNoBytes() throws {
    let source = try ZstdSource(PausingSource(Self.frame(Self.text)), name: "a.zst")
    var (found, pauses, hasEnded): ([UInt8], Int, Bool) = ([], 0, false)
    var buffer = [UInt8](repeating: 0, count: 500)
    while !hasEnded {
      switch try buffer.withUnsafeMutableBytes({ try source.read(into: $0) }) {
      case .bytes(let count): found += buffer.prefix(count)
      case .paused: pauses += 1
      case .end: hasEnded = true
      }
    }
    #expect(found == Self.text && pauses > 1 && !source.isTruncated)
  }
}
