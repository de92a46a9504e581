// SPDX-License-Identifier: Apache-2.0

// Differences and unions are computed by runs: a run of a million points without any in the other set costs as much as
// one point.

extension PointRuns {
  /// The points that are not in the other set.
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
        // The rest of this run is after the removed run; its end may meet the next one.
        if rest != nil { next = removed.next() }
      }
      if let rest { builder.append(rest) }
    }
    return builder.finish()
  }

  /// The points in both sets.
  package func intersection(_ other: PointRuns) -> PointRuns { subtracting(subtracting(other)) }

  /// The points in either set.
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
  /// Keeps the points up to the end of `cut` that are not in it. Returns the points after that, or nil if there are none.
  fileprivate func subtract(_ cut: Self, keepingIn builder: inout PointRuns.Builder) -> Self? {
    let before = count(before: cut.first.position)
    let atEnd = SeriesPoint(
      position: cut.lastPosition, valueBucket: first.valueBucket, occurrence: first.occurrence)
    let endsTogether = holds(position: cut.lastPosition) && atEnd <= cut.last
    let through = max(count(before: cut.lastPosition) + (endsTogether ? 1 : 0), before)
    if let front = part(0..<before) { builder.append(front) }
    if let middle = part(before..<through) { middle.keep(lacking: cut, in: &builder) }
    return part(through..<count)
  }

  /// The number of points before a position.
  func count(before position: Int64) -> Int64 {
    if position <= first.position { return 0 }
    if position > lastPosition { return count }
    // A run with several points has a step. A single point returned above.
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

  /// Adds the points that are not in `cut`, which begins and ends where these do, or farther out.
  private func keep(lacking cut: Self, in builder: inout PointRuns.Builder) {
    guard cut.first.valueBucket == first.valueBucket, cut.first.occurrence == first.occurrence else {
      return builder.append(self)
    }
    if count == 1 || cut.count == 1 || step == cut.step {
      // Equal steps meet everywhere or nowhere.
      if !cut.contains(first) { builder.append(self) }
      return
    }
    // The work is at most the number of points of the shorter run.
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
