// SPDX-License-Identifier: Apache-2.0

/// Writes readings as the documents of another format, one after the other.
package protocol ReadingDocumentWriter: Sendable {
  /// Why the format cannot hold a reading.
  associatedtype Omission: ReadingOmission

  /// The text before the first reading.
  var header: String { get }
  /// The text after the last one.
  var footer: String { get }

  /// Why a reading is left out; nil if it is not.
  static func omission(of reading: GlucoportReading) -> Omission?

  /// Appends a reading that is not left out.
  mutating func append(_ item: GlucoportReading, to out: inout [UInt8])
}

/// The reasons for which an export leaves out readings, for counting them.
package protocol ReadingOmission: CaseIterable, Hashable, Sendable {
  /// The name of a left-out reading, in the singular.
  var noun: String { get }
}
