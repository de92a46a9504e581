// SPDX-License-Identifier: Apache-2.0

/// A reading of a batch that a remote already holds in a document of another program.
package struct SameReading: Hashable, Sendable {
  /// The index in the batch.
  package var item: Int
  /// The key of the document's reading: the 16 bytes of its identity.
  package var document: [UInt8]

  /// States that the reading at this index is the one in a document.
  package init(item: Int, document: [UInt8]) {
    self.item = item
    self.document = document
  }
}

extension Measurement {
  /// Whether programs with different rounding may have written both for one measurement. They are less than 1 mg/dL
  /// apart, or equal in tenths of mmol/L if one of them is in mmol/L.
  ///
  /// LO is any value below 40 mg/dL, HI any above 400: programs of Nightscout write 39 and 401, others the limits of
  /// the device.
  package func isSame(as other: Measurement) -> Bool {
    switch (self, other) {
    case (.value(let mine), .value(let theirs)):
      let isWhole = mine.unit == .milligramsPerDecilitre && theirs.unit == mine.unit
      return abs(mine.milligrams - theirs.milligrams) < 1
        || (!isWhole && mine.tenthsOfMillimole == theirs.tenthsOfMillimole)
    case (.low, .value(let value)), (.value(let value), .low): return value.milligrams < 40
    case (.high, .value(let value)), (.value(let value), .high): return value.milligrams > 400
    case (.low, .low), (.high, .high): return true
    default: return false
    }
  }
}

extension Quantity {
  fileprivate var milligrams: Double { converted(to: .milligramsPerDecilitre).number }
}

extension ReadingKind {
  /// Whether a document of another program may hold a reading of this kind as one of the other kind. Such documents
  /// only distinguish finger sticks and sensor values.
  package func isSame(as other: ReadingKind) -> Bool {
    self == other || (self == .cbg && other == .scan) || (self == .scan && other == .cbg)
  }
}
