// SPDX-License-Identifier: Apache-2.0

/// What distinguishes a reading from the others of its series.
package struct SeriesPoint: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value's part in the identity.
  package let valueBucket: Int64
  /// Which one of several that share every other part.
  package let occurrence: Int64

  @inlinable package init(position: Int64, valueBucket: Int64, occurrence: Int64) {
    (self.position, self.valueBucket, self.occurrence) = (position, valueBucket, occurrence)
  }

  package init(_ identity: ReadingIdentity) {
    self.init(
      position: identity.position, valueBucket: identity.valueBucket, occurrence: identity.occurrence)
  }

  @inlinable package static func < (left: Self, right: Self) -> Bool {
    if left.position != right.position { return left.position < right.position }
    if left.valueBucket != right.valueBucket { return left.valueBucket < right.valueBucket }
    return left.occurrence < right.occurrence
  }
}

/// Points of one series in order, as runs of equal steps: the readings of a sensor are a few runs.
package struct PointRuns: Hashable, Sendable {
  /// Points at equal distances that agree in all but the position.
  package struct Run: Hashable, Sendable {
    /// The first of the points.
    package let first: SeriesPoint
    /// From one position to the next; 0 for a single point.
    package let step: Int64
    /// How many points there are, 1 or more.
    package let count: Int64

    package init(first: SeriesPoint, step: Int64, count: Int64) {
      (self.first, self.step, self.count) = (first, step, count)
    }

    /// The last position.
    package var lastPosition: Int64 { first.position + step * (count - 1) }

    /// The last of the points.
    var last: SeriesPoint {
      SeriesPoint(position: lastPosition, valueBucket: first.valueBucket, occurrence: first.occurrence)
    }

    fileprivate func contains(_ point: SeriesPoint) -> Bool {
      guard point.valueBucket == first.valueBucket, point.occurrence == first.occurrence,
        point.position >= first.position, point.position <= lastPosition
      else { return false }
      return step == 0 || (point.position - first.position) % step == 0
    }
  }

  /// The most points of one value. A text of few bytes may state many.
  package static let maxPoints: Int64 = 1 << 20

  /// In order: each begins behind the last point of the one in front of it.
  package let runs: [Run]

  /// How many points there are.
  package var count: Int64 { runs.reduce(0) { $0 + $1.count } }
  package var isEmpty: Bool { runs.isEmpty }

  /// The first and the last position; nil without points.
  package var positions: ClosedRange<Int64>? {
    guard let first = runs.first, let last = runs.last else { return nil }
    return first.first.position...last.lastPosition
  }

  /// Points in order, each once.
  package init(_ points: some Sequence<SeriesPoint>) {
    var runs: [Run] = []
    var first: SeriesPoint?
    var (last, step, count) = (Int64(0), Int64(0), Int64(0))
    for point in points {
      if let start = first {
        let (distance, isTooFar) = point.position.subtractingReportingOverflow(last)
        let continues =
          !isTooFar && distance > 0 && (count == 1 || distance == step)
          && point.valueBucket == start.valueBucket && point.occurrence == start.occurrence
        if continues {
          (last, step, count) = (point.position, distance, count + 1)
          continue
        }
        runs.append(Run(first: start, step: step, count: count))
      }
      (first, last, step, count) = (point, point.position, 0, 1)
    }
    if let first { runs.append(Run(first: first, step: step, count: count)) }
    self.runs = runs
  }

  package init(runs: [Run]) { self.runs = runs }

  /// Whether it holds a point.
  package func contains(_ point: SeriesPoint) -> Bool {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].first <= point { low = middle + 1 } else { high = middle }
    }
    return low > 0 && runs[low - 1].contains(point)
  }

  /// The points in order.
  package var points: some Sequence<SeriesPoint> {
    runs.lazy.flatMap { run in
      (0..<run.count).lazy.map {
        SeriesPoint(
          position: run.first.position + $0 * run.step, valueBucket: run.first.valueBucket,
          occurrence: run.first.occurrence)
      }
    }
  }
}
