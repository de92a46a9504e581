// SPDX-License-Identifier: Apache-2.0

import Foundation

// Each run is its number of points with two bits for what differs from zero, its distance from the end of the run before,
// its step and what differs from zero, each as a number of 7 bits a byte. A sensor that skips no reading takes a few
// bytes, one whose seconds jitter two to three bytes a reading.

extension PointRuns {
  /// The runs in base64, as a withdrawal lists them.
  package var text: String { Data(bytes).base64EncodedString() }

  /// The runs in base64; nil for any other text, and for more points than one value may state.
  package init?(text: some StringProtocol) {
    guard let data = Data(base64Encoded: String(text)) else { return nil }
    self.init(bytes: Array(data))
  }

  /// The same points in parts of at most so many bytes of text, of which none is empty.
  package func parts(ofBytes maxBytes: Int) -> [PointRuns] {
    var parts: [PointRuns] = []
    var (runs, size, count) = ([Run](), 0, Int64(0))
    for run in self.runs.flatMap(\.bounded) {
      // Five numbers of ten bytes at most.
      let bytes = Self.bytes(of: run, after: runs.last?.lastPosition ?? 0).count * 4 / 3 + 4
      if !runs.isEmpty, size + bytes > maxBytes || count + run.count > Self.maxPoints {
        parts.append(PointRuns(runs: runs))
        (runs, size, count) = ([], 0, 0)
      }
      runs.append(run)
      size += bytes
      count += run.count
    }
    return runs.isEmpty ? parts : parts + [PointRuns(runs: runs)]
  }

  private var bytes: [UInt8] {
    var out: [UInt8] = []
    var last: Int64 = 0
    for run in runs {
      out += Self.bytes(of: run, after: last)
      last = run.lastPosition
    }
    return out
  }

  private static func bytes(of run: Run, after last: Int64) -> [UInt8] {
    var out: [UInt8] = []
    let hasBucket: UInt64 = run.first.valueBucket == 0 ? 0 : 1
    let hasOccurrence: UInt64 = run.first.occurrence == 0 ? 0 : 2
    append(UInt64(run.count) << 2 | hasBucket | hasOccurrence, to: &out)
    append(zigzag(run.first.position &- last), to: &out)
    if run.count > 1 { append(UInt64(run.step), to: &out) }
    if hasBucket != 0 { append(zigzag(run.first.valueBucket), to: &out) }
    if hasOccurrence != 0 { append(UInt64(run.first.occurrence), to: &out) }
    return out
  }

  private init?(bytes: [UInt8]) {
    var reader = NumberReader(bytes: bytes)
    var runs: [Run] = []
    var (last, total) = (Int64(0), Int64(0))
    while !reader.isAtEnd {
      guard let header = reader.next(), let distance = reader.next(), header >> 2 > 0,
        header >> 2 <= UInt64(Self.maxPoints)
      else { return nil }
      let count = Int64(header >> 2)
      guard let step = count > 1 ? reader.next() : 0, let bucket = header & 1 == 0 ? 0 : reader.next(),
        let occurrence = header & 2 == 0 ? 0 : reader.next(), let occurrence = Int64(exactly: occurrence),
        let run = Run(
          SeriesPoint(
            position: last &+ unzigzag(distance), valueBucket: unzigzag(bucket), occurrence: occurrence),
          step: step, count: count)
      else { return nil }
      total += count
      guard total <= Self.maxPoints, runs.last.map({ $0.last < run.first }) ?? true else { return nil }
      runs.append(run)
      last = run.lastPosition
    }
    self.init(runs: runs)
  }
}

extension PointRuns.Run {
  /// A run that another program states; nil where its last position is none, or its points are the same one.
  fileprivate init?(_ first: SeriesPoint, step: UInt64, count: Int64) {
    guard let step = Int64(exactly: step), count == 1 || step > 0 else { return nil }
    let (length, isTooLong) = step.multipliedReportingOverflow(by: count - 1)
    guard !isTooLong, !first.position.addingReportingOverflow(length).overflow else { return nil }
    self.init(first: first, step: step, count: count)
  }

  /// The run in pieces that one value may state.
  fileprivate var bounded: [Self] {
    stride(from: 0, to: count, by: Int(PointRuns.maxPoints)).map { start in
      let rest = min(count - start, PointRuns.maxPoints)
      return Self(
        first: SeriesPoint(
          position: first.position + step * start, valueBucket: first.valueBucket,
          occurrence: first.occurrence), step: rest == 1 ? 0 : step, count: rest)
    }
  }
}

/// Numbers of 7 bits a byte, the lowest first.
private struct NumberReader {
  let bytes: [UInt8]
  private var index = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { index == bytes.count }

  /// The next number; nil where it is cut off, or is larger than 64 bits.
  mutating func next() -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard index < bytes.count else { return nil }
      let byte = bytes[index]
      index += 1
      if shift == 63, byte > 1 { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return number }
    }
    return nil
  }
}

private func append(_ number: UInt64, to out: inout [UInt8]) {
  var rest = number
  while rest > 0x7F {
    out.append(UInt8(rest & 0x7F) | 0x80)
    rest >>= 7
  }
  out.append(UInt8(rest))
}

private func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }

private func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(number & 1) }
