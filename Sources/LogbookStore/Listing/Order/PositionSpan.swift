// SPDX-License-Identifier: Apache-2.0

/// Computes which positions the readings of a period can have, if positions are shown times or instants.
struct PositionSpan {
  /// The maximum distance of a shown time from its instant, in seconds: the schema refuses a larger offset.
  static let maxOffset: Int64 = 86_400

  /// Whether positions are instants in milliseconds. Otherwise they are shown times in civil seconds.
  let isInstant: Bool

  /// The maximum distance of a position from the instant of its reading, in seconds. An instant as a position
  /// can differ from the shown time by one offset, and the shown time from the real instant by another. So
  /// both distances are added.
  var slack: Int64 { isInstant ? 2 * Self.maxOffset : Self.maxOffset }

  /// The positions that readings from the instant `since` until before the instant `until` can have.
  func positions(since: Int64?, until: Int64?) -> ClosedRange<Int64> {
    let first = since.map { position($0.subtractingReportingOverflow(slack)) } ?? .min
    let last = until.map { position($0.addingReportingOverflow(slack)) } ?? .max
    return first...max(first, last)
  }

  /// The second to which a position refers.
  @inline(__always)
  func second(_ position: Int64) -> Int64 { isInstant ? Self.floored(position) : position }

  /// The seconds of an instant in milliseconds, rounded down.
  static func floored(_ milliseconds: Int64) -> Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : (milliseconds + 1) / 1000 - 1
  }

  /// Whether an instant in milliseconds can belong to a shown time, for any allowed offset.
  static func isNear(_ milliseconds: Int64, _ shown: Int64) -> Bool {
    let (distance, overflows) = floored(milliseconds).subtractingReportingOverflow(shown)
    return !overflows && distance.magnitude < maxOffset
  }

  private func position(_ second: (partialValue: Int64, overflow: Bool)) -> Int64 {
    // The sum overflowed, so its sign is the opposite of the true sum's sign.
    if second.overflow { return second.partialValue > 0 ? .min : .max }
    guard isInstant else { return second.partialValue }
    let (product, overflows) = second.partialValue.multipliedReportingOverflow(by: 1000)
    return overflows ? (second.partialValue < 0 ? .min : .max) : product
  }
}
