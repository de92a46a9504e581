// SPDX-License-Identifier: Apache-2.0

extension SeriesVisibility {
  /// Answers for points in order. A list that does not hold the point asked for waits at its next one behind that: each
  /// is looked at once for a point of its own, however many lists are open at a place.
  package struct Ordered: Sendable {
    /// How often a list went on so far: at most once for each of its points.
    package private(set) var steps = 0

    private let said: SeriesVisibility
    /// Lists that begin behind the last point, the first one last.
    private var unopened: [PointRuns]
    /// Those that go on at a point behind the last one, or were left behind by it.
    private var waiting = WaitingCursors()
    /// The one that listed the last point. Most likely it lists the next one, too.
    private var front: PointRuns.Cursor?

    fileprivate init(_ said: SeriesVisibility) {
      self.said = said
      unopened = said.listed.sorted { left, right in
        guard let left = left.ends?.lowerBound, let right = right.ends?.lowerBound else { return false }
        return right < left
      }
    }

    /// Whether a withdrawn import lists a point. No later question is for one in front of it.
    package mutating func lists(_ point: SeriesPoint) -> Bool {
      if front?.contains(point) == true { return true }
      if let passed = front { wait(passed, from: point) }
      front = nil
      while let next = unopened.last, let ends = next.ends, ends.lowerBound <= point {
        unopened.removeLast()
        if point <= ends.upperBound { wait(PointRuns.Cursor(next, from: point), from: point) }
      }
      while let next = waiting.first, next <= point {
        guard var cursor = waiting.popFirst() else { break }
        if cursor.contains(point) {
          front = cursor
          return true
        }
        wait(cursor, from: point)
      }
      return false
    }

    /// Whether a reading is withdrawn. No later question is for one in front of it.
    package mutating func hides(_ point: SeriesPoint, shownAt time: DeviceTime) -> Bool {
      let isListed = lists(point)
      return said.hides(point, shownAt: time, isListed: isListed)
    }

    private mutating func wait(_ cursor: PointRuns.Cursor, from point: SeriesPoint) {
      var cursor = cursor
      guard let next = cursor.first(from: point) else { return }
      steps += 1
      waiting.insert(cursor, at: next)
    }
  }

  /// For questions in the order of the points.
  package var ordered: Ordered { Ordered(self) }
}

/// A heap of cursors by the points at which they go on.
private struct WaitingCursors: Sendable {
  private var items: [(next: SeriesPoint, cursor: PointRuns.Cursor)] = []

  /// The first of the points.
  var first: SeriesPoint? { items.first?.next }

  mutating func insert(_ cursor: PointRuns.Cursor, at next: SeriesPoint) {
    items.append((next, cursor))
    var index = items.count - 1
    while index > 0, items[index].next < items[(index - 1) / 2].next {
      items.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func popFirst() -> PointRuns.Cursor? {
    guard let cursor = items.first?.cursor else { return nil }
    items.swapAt(0, items.count - 1)
    items.removeLast()
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < items.count {
        if items[child].next < items[least].next { least = child }
      }
      if least == index { return cursor }
      items.swapAt(index, least)
      index = least
    }
  }
}
