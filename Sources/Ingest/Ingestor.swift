// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logbook
package import LogbookStore

/// A source of readings and records for the store: an export of any format, or a meter.
package protocol Ingestor {
  /// The path of the input, `-` for standard input, or `meter`.
  var name: String { get }
  /// The format's or driver's id.
  var format: String { get }
  /// The decisions about the input, such as its unit and zone. They are complete before the first batch, and
  /// get more details after the last batch.
  var decisions: [Decision] { get }
  /// Warnings for the person. They reject nothing.
  var warnings: [String] { get }
  /// The warnings that even a quiet import prints, since the input contradicts how items were stored.
  var doubts: [String] { get }
  /// When an export was made or a meter was read, in UTC seconds; nil if the input does not state it.
  var generatedAt: Int64? { get }
  /// When a file was last written, in UTC seconds; nil for a pipe or a meter.
  var modifiedAt: Int64? { get }
  /// How the input ended; meaningful after `read` returned false.
  var end: InputEnd { get }
  /// SHA-256 of all bytes read; meaningful after `read` returned false. Nil for a meter that is plugged in.
  var inputDigest: String? { get }
  /// Bytes read so far and in total, for progress; the total is nil for a pipe.
  var progress: (done: Int64, total: Int64?) { get }
  /// The header line above the items of the last batch; nil for an input without one.
  var header: String? { get }
  /// Whether all items are in one batch that is stored together or not at all. True for a meter: the session
  /// with it ends before the transaction begins.
  var isIndivisible: Bool { get }
  /// The meter that was read; nil for an export.
  var meter: MeterReport? { get }

  /// The zone of times that state no offset.
  var inputZone: InputZone { get }

  /// Whether the source may repeat rows, so that equal rows are not two doses or meals.
  var repeatsRows: Bool { get }

  /// What the input states about its person, as far as it is read.
  var statedPersons: [StatedPerson] { get }

  /// Appends items to the batch until it is full, a second has passed, or the source pauses.
  ///
  /// - Returns: false at the end of the source; the batch may then have the last items.
  /// - Throws: `Failure` if the source cannot be read further.
  mutating func read(into batch: inout IngestBatch) throws -> Bool
}

extension Ingestor {
  /// Empty: most inputs contradict nothing that is stored.
  package var doubts: [String] { [] }
  /// False: equal rows may be two equal doses or meals in one minute.
  package var repeatsRows: Bool { false }
  /// Empty, for a source that states no person.
  package var statedPersons: [StatedPerson] { [] }
}

/// A meter that was read, and its clock compared with the local time.
package struct MeterReport: Sendable {
  package let identity: MeterIdentity
  /// The meter's clock in comparison with local time; nil if the meter does not report its clock.
  package let clock: ClockJudgement?
  /// The position up to which its memory was read; nil if the next session must read all of it.
  package let position: MeterPosition?
}

extension InputReader: Ingestor {
  /// SHA-256 of the original bytes.
  package var inputDigest: String? { digest }
  /// False: items before an error are worth storing.
  package var isIndivisible: Bool { false }
  /// The zone from the options or the logbook.
  package var inputZone: InputZone {
    InputZone(zone.zone, isGiven: zone.isGiven, placesReadings: !passesOffsetsOn)
  }
  /// Always nil, since an export is not a meter.
  package var meter: MeterReport? { nil }
}
