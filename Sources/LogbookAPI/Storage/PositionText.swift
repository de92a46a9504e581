// SPDX-License-Identifier: Apache-2.0

/// The texts by which clients identify positions in the sequence of a logbook's changes, for every storage.
///
/// A text is the number, a dot and the tag of the epoch in which the number was assigned. A number with another tag
/// belongs to a history that a restore has removed.
package enum PositionText {
  /// Above all numbers: a million changes a second would reach it in 146,000 years.
  package static let end: Int64 = 1 << 62

  /// The text of an assigned number.
  ///
  /// - Parameter tag: the tag of the number's epoch.
  package static func text(_ seq: Int64, tag: String) -> String { "\(seq).\(tag)" }

  /// The number in a text; nil for a text that no storage returns. The caller compares the whole text.
  package static func number(in text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let seq = Int64(parts[0]), seq >= 0 else { return nil }
    return seq
  }
}
