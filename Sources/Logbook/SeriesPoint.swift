// SPDX-License-Identifier: Apache-2.0

/// The part of an identity that distinguishes a reading in its series.
package struct SeriesPoint: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value in the identity.
  package let valueBucket: Int64
  /// The number among readings that share every other part.
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
