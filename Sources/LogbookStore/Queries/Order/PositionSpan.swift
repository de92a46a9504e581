// SPDX-License-Identifier: Apache-2.0

/// The positions that readings of a period can have, if a position is a shown time or an instant.
struct PositionSpan {
  /// The maximum distance of a shown time from its instant, in seconds: the schema refuses a larger offset.
  static let maxOffset: Int64 = 86_400

  /// Whether a position counts milliseconds.
  let isInstant: Bool

  /// The maximum distance of a position from the instant of its reading, in seconds. A tick is near the shown
  /// time, which is near the instant.
  var slack: Int64 { isInstant ? 2 * Self.maxOffset : Self.maxOffset }

  /// The positions of readings from an instant on, and before another one.
  func positions(since: Int64?, until: Int64?) -> ClosedRange<Int64> {
    let first = since.map { position($0.subtractingReportingOverflow(slack)) } ?? .min
    let last = until.map { position($0.addingReportingOverflow(slack)) } ?? .max
    return first...max(first, last)
  }

  /// The second at which a reading with this position was taken or shown.
  @inline(__always)
  func second(_ position: Int64) -> Int64 { isInstant ? Self.floored(position) : position }

  /// The seconds of an instant in milliseconds, rounded down.
  static func floored(_ milliseconds: Int64) -> Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : (milliseconds + 1) / 1000 - 1
  }

  /// Whether an instant in milliseconds can belong to a shown time, with any possible offset.
  static func isNear(_ milliseconds: Int64, _ shown: Int64) -> Bool {
    let (distance, overflows) = floored(milliseconds).subtractingReportingOverflow(shown)
    return !overflows && distance.magnitude < maxOffset
  }

  private func position(_ second: (partialValue: Int64, overflow: Bool)) -> Int64 {
    // A sum that overflows has the opposite sign.
    if second.overflow { return second.partialValue > 0 ? .min : .max }
    guard isInstant else { return second.partialValue }
    let (product, overflows) = second.partialValue.multipliedReportingOverflow(by: 1000)
    return overflows ? (second.partialValue < 0 ? .min : .max) : product
  }
}
