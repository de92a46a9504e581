// SPDX-License-Identifier: Apache-2.0

/// A set of points of one series, in order. It is stored as runs of points at equal distances. The readings
/// of a sensor are only a few runs.
///
/// The points stay in the compact format of `PointRuns+Bytes.swift`. Thus a list takes at most eight times as
/// many bytes in memory as in its record, even if another program wrote it.
package struct PointRuns: Sendable {
  /// Points at equal distances that differ only in their position.
  package struct Run: Hashable, Sendable {
    package let first: SeriesPoint
    /// The distance from one position to the next; 0 for a single point.
    package let step: Int64
    /// The number of points, at least 1.
    package let count: Int64

    package init(first: SeriesPoint, step: Int64, count: Int64) {
      (self.first, self.step, self.count) = (first, step, count)
    }

    package var lastPosition: Int64 { first.position + step * (count - 1) }

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

  /// A position in the bytes at which a reader can begin, so that a search does not start at the first byte.
  struct Mark: Sendable {
    let first: SeriesPoint
    let index: Int
    /// The last position before the mark. The first distance after the mark is added to it.
    let lastPosition: Int64
  }

  /// The maximum number of points in one value. A short text could otherwise state any number of points.
  package static let maxPoints: Int64 = 1 << 20
  /// The minimum number of bytes from one `Mark` to the next. So a search reads few bytes.
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

  /// Packs points, which must be in order and without repetitions.
  package init(_ points: some Sequence<SeriesPoint>) {
    var builder = Builder()
    for point in points { builder.append(point) }
    self = builder.finish()
  }

  /// Packs runs, which must be in order. Each run must begin after the last point of the previous one.
  package init(runs: some Sequence<Run>) {
    var builder = Builder()
    for run in runs { builder.append(run) }
    self = builder.finish()
  }

  /// The points in bytes that a `Builder` wrote; nil for other bytes, and for more than `maxPoints` points.
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

  /// Whether this set contains a point. For many points in order, `Cursor` is faster.
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

  /// A reader that begins at the last mark that is not after `point`.
  private func reader(from point: SeriesPoint) -> RunReader {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].first <= point { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? RunReader(bytes) : RunReader(bytes, from: marks[low - 1])
  }

  /// Finds points one after the other in one pass. Callers must ask for points in order.
  package struct Cursor: Sendable {
    private var reader: RunReader
    private var current: Run?

    /// - Parameter point: the first point that will be asked for.
    package init(_ runs: PointRuns, from point: SeriesPoint) {
      reader = runs.reader(from: point)
      current = reader.next()
    }

    /// Whether the set contains this point. Later calls must not ask for an earlier point.
    package mutating func contains(_ point: SeriesPoint) -> Bool {
      while let run = current, run.last < point { current = reader.next() }
      return current?.contains(point) ?? false
    }

    /// The first point of the set that is not before `point`; nil if there is none. Later calls must not ask
    /// for an earlier point.
    package mutating func first(from point: SeriesPoint) -> SeriesPoint? {
      while let run = current, run.last < point { current = reader.next() }
      guard let run = current else { return nil }
      if point <= run.first { return run.first }
      // The last point of the run is not before `point`. So if the point at `index` is before `point`, the
      // run has a next point.
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

// Differences are computed on runs. So a run of a million points that does not overlap the other set costs as
// much time as one point. A union is computed on runs only if all points of the other set are later.

extension PointRuns {
  /// The points that are not in `other`.
  package func subtracting(_ other: PointRuns) -> PointRuns {
    guard let ends, let otherEnds = other.ends, ends.overlaps(otherEnds) else { return self }
    var builder = Builder()
    var removed = RunReader(other.bytes)
    var next = removed.next()
    for run in runs {
      var rest: Run? = run
      while let left = rest, let cut = next, cut.first <= left.last {
        if cut.last < left.first {
          next = removed.next()
          continue
        }
        rest = left.subtract(cut, keepingIn: &builder)
        // The rest of this run is after the removed run. The end of the rest may overlap the next removed
        // run.
        if rest != nil { next = removed.next() }
      }
      if let rest { builder.append(rest) }
    }
    return builder.finish()
  }

  /// The points in both sets.
  package func intersection(_ other: PointRuns) -> PointRuns { subtracting(subtracting(other)) }

  /// The points that are in at least one of both sets.
  package func union(_ other: PointRuns) -> PointRuns {
    guard let ends, let otherEnds = other.ends else { return isEmpty ? other : self }
    let further = other.subtracting(self)
    if ends.upperBound < otherEnds.lowerBound { return PointRuns(runs: Array(runs) + Array(further.runs)) }
    var builder = Builder()
    var (left, right) = (points.makeIterator(), further.points.makeIterator())
    var (mine, theirs) = (left.next(), right.next())
    while let first = [mine, theirs].compactMap(\.self).min() {
      builder.append(first)
      if mine == first { mine = left.next() } else { theirs = right.next() }
    }
    return builder.finish()
  }
}

extension PointRuns.Run {
  /// Adds to `builder` the points up to the end of `cut` that are not in `cut`. Returns the points after the
  /// end of `cut`, or nil if there are none.
  fileprivate func subtract(_ cut: Self, keepingIn builder: inout PointRuns.Builder) -> Self? {
    let before = count(before: cut.first.position)
    let atEnd = SeriesPoint(
      position: cut.lastPosition, valueBucket: first.valueBucket, occurrence: first.occurrence)
    let endsTogether = holds(position: cut.lastPosition) && atEnd <= cut.last
    let through = max(count(before: cut.lastPosition) + (endsTogether ? 1 : 0), before)
    if let front = part(0..<before) { builder.append(front) }
    if let middle = part(before..<through) { middle.appendPoints(notIn: cut, to: &builder) }
    return part(through..<count)
  }

  /// The number of points whose position is before `position`.
  func count(before position: Int64) -> Int64 {
    if position <= first.position { return 0 }
    if position > lastPosition { return count }
    // `step` is positive here: a run of one point has returned above.
    return (position - first.position - 1) / step + 1
  }

  private func holds(position: Int64) -> Bool {
    guard position >= first.position, position <= lastPosition else { return false }
    return step == 0 || (position - first.position) % step == 0
  }

  private func part(_ range: Range<Int64>) -> Self? {
    guard !range.isEmpty else { return nil }
    let count = range.upperBound - range.lowerBound
    return Self(first: point(range.lowerBound), step: count == 1 ? 0 : step, count: count)
  }

  /// Adds to `builder` the points that are not in `cut`. The range of `cut` must contain the range of this
  /// run.
  private func appendPoints(notIn cut: Self, to builder: inout PointRuns.Builder) {
    guard cut.first.valueBucket == first.valueBucket, cut.first.occurrence == first.occurrence else {
      return builder.append(self)
    }
    if count == 1 || cut.count == 1 || step == cut.step {
      // With equal steps, the runs share either all points in the range or none.
      if !cut.contains(first) { builder.append(self) }
      return
    }
    // The loop is over the points of the run with fewer points.
    if cut.count < count {
      var start: Int64 = 0
      for index in 0..<cut.count {
        let position = cut.point(index).position
        guard holds(position: position) else { continue }
        let place = (position - first.position) / step
        if let front = part(start..<place) { builder.append(front) }
        start = place + 1
      }
      if let rest = part(start..<count) { builder.append(rest) }
    } else {
      for index in 0..<count where !cut.contains(point(index)) { builder.append(point(index)) }
    }
  }
}
