// SPDX-License-Identifier: Apache-2.0

extension SeriesVisibility {
  /// Answers questions about points in order. A list without the requested point waits at its next one after that. Thus
  /// each list is read once for each of its points, however many lists are open.
  package struct Ordered: Sendable {
    /// The number of steps in lists so far, which is at most one for each of their points.
    package private(set) var steps = 0

    private let said: SeriesVisibility
    /// Lists that begin after the last point, the first one last.
    private var unopened: [PointRuns]
    /// Lists that continue at a point after the last one, or that the last one has passed.
    private var waiting = WaitingCursors()
    /// The list with the last point, which is most likely to have the next one.
    private var front: PointRuns.Cursor?

    fileprivate init(_ said: SeriesVisibility) {
      self.said = said
      unopened = said.listed.sorted { left, right in
        guard let left = left.ends?.lowerBound, let right = right.ends?.lowerBound else { return false }
        return right < left
      }
    }

    /// Whether a withdrawn import lists a point. No later question may be about an earlier point.
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

    /// Whether a reading is withdrawn. No later question may be about an earlier point.
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

  /// Visibility for questions in the order of the points.
  package var ordered: Ordered { Ordered(self) }
}

/// A heap of cursors by their next points.
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
