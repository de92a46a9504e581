// SPDX-License-Identifier: Apache-2.0

/// The points of one series in order, as runs with equal steps. The readings of a sensor are a few runs.
///
/// They stay in the packed form of `PointRuns+Bytes.swift`. Thus a list takes as many bytes in memory as in its record,
/// even if another program wrote it.
package struct PointRuns: Sendable {
  /// Points at equal distances that only differ in their position.
  package struct Run: Hashable, Sendable {
    /// The first of the points.
    package let first: SeriesPoint
    /// The distance from one position to the next; 0 for a single point.
    package let step: Int64
    /// The number of points, 1 or more.
    package let count: Int64

    package init(first: SeriesPoint, step: Int64, count: Int64) {
      (self.first, self.step, self.count) = (first, step, count)
    }

    /// The last position.
    package var lastPosition: Int64 { first.position + step * (count - 1) }

    /// The last of the points.
    package var last: SeriesPoint { point(count - 1) }

    /// The point at this index, from 0.
    func point(_ index: Int64) -> SeriesPoint {
      SeriesPoint(
        position: first.position + index * step, valueBucket: first.valueBucket, occurrence: first.occurrence)
    }

    func contains(_ point: SeriesPoint) -> Bool {
      guard point.valueBucket == first.valueBucket, point.occurrence == first.occurrence,
        point.position >= first.position, point.position <= lastPosition
      else { return false }
      return step == 0 || (point.position - first.position) % step == 0
    }
  }

  /// A position in the bytes at which reading can begin.
  struct Mark: Sendable {
    let first: SeriesPoint
    let index: Int
    /// The position to which the first distance there is added.
    let lastPosition: Int64
  }

  /// The maximum number of points in one value. A short text can state many points.
  package static let maxPoints: Int64 = 1 << 20
  /// The number of bytes that a search reads at most, apart from one stretch.
  private static let bytesPerMark = 256

  let bytes: [UInt8]
  private let marks: [Mark]
  /// The number of points.
  package let count: Int64
  /// The first and the last point; nil without points.
  package let ends: ClosedRange<SeriesPoint>?

  package var isEmpty: Bool { count == 0 }

  /// The first and the last position; nil without points.
  package var positions: ClosedRange<Int64>? { ends.map { $0.lowerBound.position...$0.upperBound.position } }

  /// Ordered points without repetitions.
  package init(_ points: some Sequence<SeriesPoint>) {
    var builder = Builder()
    for point in points { builder.append(point) }
    self = builder.finish()
  }

  /// Ordered runs. Each begins after the last point of the run before it.
  package init(runs: some Sequence<Run>) {
    var builder = Builder()
    for run in runs { builder.append(run) }
    self = builder.finish()
  }

  /// The points in bytes of `Builder`; nil for other bytes, and for more points than one value may have.
  init?(bytes: [UInt8], maxPoints: Int64 = maxPoints) {
    var reader = RunReader(bytes)
    var (marks, count) = ([Mark](), Int64(0))
    var (first, last): (SeriesPoint?, SeriesPoint?)
    while true {
      let (start, lastPosition) = (reader.pieceStart, reader.lastPosition)
      guard let run = reader.next() else { break }
      if let last, run.first <= last { return nil }
      if let start, start - (marks.last?.index ?? -Self.bytesPerMark) >= Self.bytesPerMark {
        marks.append(Mark(first: run.first, index: start, lastPosition: lastPosition))
      }
      (first, last) = (first ?? run.first, run.last)
      count += run.count
      if count > maxPoints { return nil }
    }
    guard !reader.isDamaged else { return nil }
    (self.bytes, self.marks, self.count) = (bytes, marks, count)
    ends = first.flatMap { first in last.map { first...$0 } }
  }

  /// Whether a point is in the set. For many ordered points, `Cursor` is faster.
  package func contains(_ point: SeriesPoint) -> Bool {
    guard let ends, ends.contains(point) else { return false }
    var cursor = Cursor(self, from: point)
    return cursor.contains(point)
  }

  /// The runs in order.
  package var runs: some Sequence<Run> { IteratorSequence(RunReader(bytes)) }

  /// The points in order.
  package var points: some Sequence<SeriesPoint> {
    runs.lazy.flatMap { run in (0..<run.count).lazy.map { run.point($0) } }
  }

  /// A reader at the last mark that is not after a point.
  private func reader(from point: SeriesPoint) -> RunReader {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].first <= point { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? RunReader(bytes) : RunReader(bytes, from: marks[low - 1])
  }

  /// Answers questions about points in order.
  package struct Cursor: Sendable {
    private var reader: RunReader
    private var current: Run?

    /// - Parameter point: the first point of a question.
    package init(_ runs: PointRuns, from point: SeriesPoint) {
      reader = runs.reader(from: point)
      current = reader.next()
    }

    /// Whether this point is in the set. No later question may be about an earlier point.
    package mutating func contains(_ point: SeriesPoint) -> Bool {
      while let run = current, run.last < point { current = reader.next() }
      return current?.contains(point) ?? false
    }

    /// The first point in the set that is not before this one; nil if there is none. No later question may be about an
    /// earlier point.
    package mutating func first(from point: SeriesPoint) -> SeriesPoint? {
      while let run = current, run.last < point { current = reader.next() }
      guard let run = current else { return nil }
      if point <= run.first { return run.first }
      // The last point of the run is not before this one. Thus the run has a next point even if only the position is
      // equal.
      let index = run.count(before: point.position)
      let found = run.point(index)
      return found < point ? run.point(index + 1) : found
    }
  }
}

extension PointRuns: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
