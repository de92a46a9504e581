// SPDX-License-Identifier: Apache-2.0

import CZlib
import Foundation

/// Packs bytes with the Huffman codes of deflate (RFC 1951). The packed form begins with the number of the
/// bytes.
///
/// References to earlier bytes are not used: they save little in lists of irregular times. Then each byte
/// takes at least one bit, so a packed form that would expand to more than eight times its size is refused.
/// Versions of zlib may pack the same bytes differently, so only unpacked bytes can be compared.
enum PackedBytes {
  /// The maximum number of bytes for each packed byte.
  static let maxExpansion = 8
  /// Negative window bits mean raw data without a zlib header.
  private static let windowBits: Int32 = -15

  /// The size that no packed form of this number of bytes exceeds.
  static func maxPackedCount(_ count: Int) -> Int { 10 + Int(compressBound(UInt(count))) }

  static func pack(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    packed.append(number: UInt64(bytes.count))
    var stream = z_stream()
    let status = deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_HUFFMAN_ONLY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
    defer { deflateEnd(&stream) }
    var input = bytes
    let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
    input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      packed += [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
        stream.next_out = out.baseAddress
        stream.avail_out = UInt32(capacity)
        // The buffer is large enough for every result, so one call packs everything.
        deflate(&stream, Z_FINISH)
        count = capacity - Int(stream.avail_out)
      }
    }
    return packed
  }

  /// The unpacked bytes. Nil if `packed` is damaged or truncated, continues after its end, or states no bytes
  /// or more than it can contain.
  static func unpack(_ packed: [UInt8]) -> [UInt8]? {
    var start = 0
    guard let number = packed.number(at: &start), let available = UInt32(exactly: packed.count - start),
      let count = UInt32(exactly: number), count > 0, Int(count) <= Int(available) * maxExpansion
    else { return nil }
    var stream = z_stream()
    let status = inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
    defer { inflateEnd(&stream) }
    var (input, isComplete) = (packed, false)
    let bytes = input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress.map { $0 + start }
      stream.avail_in = available
      return [UInt8](unsafeUninitializedCapacity: Int(count)) { out, written in
        stream.next_out = out.baseAddress
        stream.avail_out = count
        let status = inflate(&stream, Z_FINISH)
        isComplete = status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0
        written = Int(count - stream.avail_out)
      }
    }
    return isComplete ? bytes : nil
  }
}

// The packed form of points is a list of pieces. Each piece begins with a number. Two bits of it state
// whether the value buckets and the occurrences of the points differ from zero. All numbers have 7 bits per
// byte, the lowest first. Numbers that may be negative are in zigzag encoding.
//
// - A run: its number of points, and the distance of its first position from the last position of the
//   previous piece. Its step, its value bucket and its occurrence follow. All readings of a sensor without
//   gaps take a few bytes.
// - A stretch of points at changing distances, marked by a 0. The number of its points, the first point, and
//   the least distance between two points follow. Each further point has three numbers. They are the excess
//   of its distance over the least one, and the differences of its value bucket and its occurrence from the
//   previous point.
//
// In a record, the bytes are packed (see `PackedBytes`) and written in base64. Times with a jitter of 2
// seconds then take less than half a byte per reading. Finger sticks at any second of the day and with any
// value take less than 4.4 bytes.

extension PointRuns {
  /// The maximum number of points in one stretch (see the format above). The least distance of a long stretch
  /// would be that of its most frequent readings.
  static let maxStretch = 256
  /// The minimum number of points at equal distances that are written as a run after a stretch.
  static let minRun = 8

  /// The packed points in base64, as the record of a withdrawal contains them; empty without points.
  package var text: String { Self.text(packing: bytes) }

  /// The length of `text` in bytes.
  package var textBytes: Int { text.utf8.count }

  /// The text for bytes in the format above.
  package static func text(packing bytes: [UInt8]) -> String {
    bytes.isEmpty ? "" : Data(PackedBytes.pack(bytes)).base64EncodedString()
  }

  /// The bytes in base64 as they are in memory. They do not depend on the version of zlib.
  var unpackedText: String { Data(bytes).base64EncodedString() }

  /// The points in a text; nil for any other text, and for more than `maxPoints` points.
  package init?(text: some StringProtocol) {
    guard let data = Data(base64Encoded: String(text)),
      let bytes = data.isEmpty ? [] : PackedBytes.unpack(Array(data))
    else { return nil }
    self.init(bytes: bytes)
  }

  /// The same points, divided into parts. Each has at most `maxBytes` bytes of text and `maxPoints` points,
  /// and none is empty. Only a part that consists of one stretch may be longer.
  package func parts(ofBytes maxBytes: Int) -> [PointRuns] {
    var parts: [PointRuns] = []
    var (part, count) = ([UInt8](), Int64(0))
    func end() {
      if let runs = PointRuns(bytes: part), !runs.isEmpty { parts.append(runs) }
      (part, count) = ([], 0)
    }
    var reader = RunReader(bytes)
    while let piece = reader.nextPiece() {
      let most = PackedBytes.maxPackedCount(part.count + piece.head.count + 10 + piece.rest.count)
      if !part.isEmpty, (most + 2) / 3 * 4 > maxBytes || count + piece.count > Self.maxPoints { end() }
      part += bytes[piece.head]
      part.append(number: zigzag(piece.position &- (part.count == piece.head.count ? 0 : piece.lastPosition)))
      part += bytes[piece.rest]
      count += piece.count
    }
    end()
    return parts
  }
}

// MARK: - Writing

extension PointRuns {
  /// Packs points that are added in order.
  package struct Builder {
    private var bytes: [UInt8] = []
    private var lastPosition: Int64 = 0
    /// The run at the end of the points. Further points can still extend it.
    private var open: Run?
    /// The points before `open` that did not form a long enough run.
    private var stretch: [SeriesPoint] = []

    package init() {}

    /// Adds a point, which must be after the last one.
    @inline(__always)
    package mutating func append(_ point: SeriesPoint) { append(Run(first: point, step: 0, count: 1)) }

    /// Adds a run, which must be after the last point. The bytes are the same as if its points were added one
    /// by one. So two stores write the same text for the same points.
    package mutating func append(_ run: Run) {
      guard let last = open else {
        open = run
        return
      }
      if let joined = last.joined(run) {
        open = joined
      } else if run.count > 1, let joined = last.joined(Run(first: run.first, step: 0, count: 1)) {
        close(joined)
        open = Run(first: run.point(1), step: run.count == 2 ? 0 : run.step, count: run.count - 1)
      } else {
        close(last)
        open = run
      }
    }

    /// All added points in the packed format.
    package mutating func finish() -> PointRuns {
      if let open { close(open) }
      open = nil
      writeStretch()
      guard let runs = PointRuns(bytes: bytes, maxPoints: .max) else {
        preconditionFailure("points are not in order")
      }
      return runs
    }

    private mutating func close(_ run: Run) {
      if run.count >= PointRuns.minRun {
        writeStretch()
        for start in stride(from: 0, to: run.count, by: Int(PointRuns.maxPoints)) {
          let count = min(run.count - start, PointRuns.maxPoints)
          write(Run(first: run.point(start), step: count == 1 ? 0 : run.step, count: count))
        }
        return
      }
      for index in 0..<run.count {
        stretch.append(run.point(index))
        if stretch.count == PointRuns.maxStretch { writeStretch() }
      }
    }

    private mutating func write(_ run: Run) {
      let flags = PieceFlags(CollectionOfOne(run.first))
      bytes.append(number: UInt64(run.count) << 2 | flags.rawValue)
      bytes.append(number: zigzag(run.first.position &- lastPosition))
      if run.count > 1 { bytes.append(number: UInt64(run.step)) }
      writeRest(of: run.first, flags)
      lastPosition = run.lastPosition
    }

    private mutating func writeRest(of point: SeriesPoint, _ flags: PieceFlags) {
      if flags.contains(.valueBuckets) { bytes.append(number: zigzag(point.valueBucket)) }
      if flags.contains(.occurrences) { bytes.append(number: UInt64(point.occurrence)) }
    }

    private mutating func writeStretch() {
      guard let first = stretch.first, let last = stretch.last else { return }
      defer { stretch.removeAll(keepingCapacity: true) }
      guard stretch.count > 1 else { return write(Run(first: first, step: 0, count: 1)) }
      let flags = PieceFlags(stretch)
      let pairs = zip(stretch, stretch.dropFirst())
      let distance = { (from: SeriesPoint, to: SeriesPoint) in
        UInt64(bitPattern: to.position &- from.position)
      }
      let least = pairs.lazy.map(distance).min() ?? 0
      bytes.append(number: flags.rawValue)
      bytes.append(number: UInt64(stretch.count))
      bytes.append(number: zigzag(first.position &- lastPosition))
      writeRest(of: first, flags)
      bytes.append(number: least)
      for (point, next) in pairs {
        bytes.append(number: distance(point, next) - least)
        if flags.contains(.valueBuckets) {
          bytes.append(number: zigzag(next.valueBucket &- point.valueBucket))
        }
        if flags.contains(.occurrences) { bytes.append(number: zigzag(next.occurrence &- point.occurrence)) }
      }
      lastPosition = last.position
    }
  }
}

extension PointRuns.Run {
  /// This run and the next one as a single run; nil if the next one does not continue this one.
  @inline(__always)
  fileprivate func joined(_ next: Self) -> Self? {
    guard next.first.valueBucket == first.valueBucket, next.first.occurrence == first.occurrence else {
      return nil
    }
    let (distance, isTooFar) = next.first.position.subtractingReportingOverflow(lastPosition)
    // The distance from the first to the last point must also fit into the integer type.
    guard !isTooFar, distance > 0, count == 1 || distance == step, next.count == 1 || distance == next.step,
      !next.lastPosition.subtractingReportingOverflow(first.position).overflow
    else { return nil }
    return Self(first: first, step: distance, count: count + next.count)
  }
}

/// The flags that state whether the value buckets and the occurrences of a piece's points differ from zero.
/// The format is at the top of this file.
struct PieceFlags: OptionSet {
  let rawValue: UInt64

  static let valueBuckets = PieceFlags(rawValue: 1)
  static let occurrences = PieceFlags(rawValue: 2)

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(_ points: some Collection<SeriesPoint>) {
    self = []
    if points.contains(where: { $0.valueBucket != 0 }) { insert(.valueBuckets) }
    if points.contains(where: { $0.occurrence != 0 }) { insert(.occurrences) }
  }
}

extension [UInt8] {
  /// Appends a number with 7 bits per byte, the lowest first. All bytes except the last have the highest bit
  /// set.
  mutating func append(number: UInt64) {
    var rest = number
    while rest > 0x7F {
      append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// Reads the number that begins at `index`, and moves the index after it. Returns nil if the number is
  /// truncated, larger than 64 bits, or longer than `append(number:)` writes it.
  @inline(__always)
  func number(at index: inout Int) -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard index < count else { return nil }
      let byte = self[index]
      index += 1
      if byte == 0 && shift > 0 || byte > 1 && shift == 63 { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return number }
    }
    return nil
  }
}

func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }

func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(number & 1) }
