// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logbook
package import LogbookStore

/// Whatever yields readings and records for the store: an export of any format, or a meter.
package protocol Ingestor {
  /// The path, `-`, or `meter`.
  var name: String { get }
  /// The format's or driver's id.
  var format: String { get }
  /// What was decided about the input. Complete before the first batch, and in more detail after the last.
  var decisions: [Decision] { get }
  /// Things a person should know that reject nothing.
  var warnings: [String] { get }
  /// When an export was made or a meter was read, in UTC seconds; nil where the input does not say.
  var generatedAt: Int64? { get }
  /// When a file was last written, in UTC seconds; nil for a pipe or a meter.
  var modifiedAt: Int64? { get }
  /// How the input ended; meaningful after `read` returned false.
  var end: InputEnd { get }
  /// SHA-256 of all bytes read; meaningful after `read` returned false. Nil for a meter that is plugged in.
  var inputDigest: String? { get }
  /// Bytes read so far and in all, for progress; nil in all for a pipe.
  var progress: (done: Int64, total: Int64?) { get }
  /// The header line above the items of the last batch; nil for an input without one.
  var header: String? { get }
  /// Whether all comes in one batch and is stored as a whole or not at all, as from a meter, for which no transaction
  /// may wait.
  var isIndivisible: Bool { get }
  /// The meter that was read; nil for an export.
  var meter: MeterReport? { get }

  /// The zone of times that state no offset.
  var inputZone: InputZone { get }

  /// Appends items to the batch until it is full, a second has passed, or the source pauses.
  ///
  /// - Returns: false when the source is exhausted; the batch may hold the last items then.
  /// - Throws: `Failure` when the source cannot be read on.
  mutating func read(into batch: inout IngestBatch) throws -> Bool
}

/// A meter that was read, and its clock beside the local time.
package struct MeterReport: Sendable {
  /// Which meter it is.
  package let identity: MeterIdentity
  /// Its clock; nil where it reports none.
  package let clock: ClockJudgement?
}

extension ExportReader: Ingestor {
  /// SHA-256 of the bytes as they came.
  package var inputDigest: String? { digest }
  /// Not so: what is read before an end is worth storing.
  package var isIndivisible: Bool { false }
  /// That of the options.
  package var inputZone: InputZone {
    InputZone(zone.zone, isGiven: zone.isGiven, placesReadings: !passesOffsetsOn)
  }
  /// None.
  package var meter: MeterReport? { nil }
}
