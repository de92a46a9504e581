// SPDX-License-Identifier: Apache-2.0

/// A reading of a batch that a remote holds already in a document of another program.
package struct SameReading: Hashable, Sendable {
  /// The place in the batch, from 0.
  package var item: Int
  /// The key of the reading that the document gives: the 16 bytes of its identity.
  package var document: [UInt8]

  /// The reading at this place is the one that a document gives.
  package init(item: Int, document: [UInt8]) {
    self.item = item
    self.document = document
  }
}

extension Measurement {
  /// Whether programs that round each in its own way may have written both for one measurement: less than 1 mg/dL apart,
  /// or equal in tenths of mmol/L where one of them is in mmol/L.
  ///
  /// LO is any value below 40 mg/dL, HI any above 400: programs of Nightscout write 39 and 401, others the limits of the
  /// device.
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
  /// Whether a document of another program, which knows finger sticks and sensor values alone, may hold a reading of this
  /// kind as one of the other.
  package func isSame(as other: ReadingKind) -> Bool {
    self == other || (self == .cbg && other == .scan) || (self == .scan && other == .cbg)
  }
}
