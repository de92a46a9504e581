// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// What is known of an input when its ingest begins.
package struct IngestSource: Sendable {
  /// The path, `-`, or a meter's name.
  package let name: String
  /// The id of the format.
  package let format: String
  /// When this program's host says that it began, in UTC seconds.
  package let startedAt: Int64
  /// When a file was last written, in UTC seconds.
  package let modifiedAt: Int64?
  /// What is decided before the first batch.
  package let decisions: [Decision]
  /// Whether nobody watches what is stored before the end: a file, and no pipe or meter.
  package let mayWait: Bool
  /// Whether a withdrawal of this same input ends.
  package let takesBack: Bool
  /// The zone of times that state no offset; nil where the input itself passes on what others derived.
  package let zone: InputZone?

  /// An input at the moment when its ingest begins.
  package init(
    name: String, format: String, startedAt: Int64, modifiedAt: Int64?, decisions: [Decision],
    mayWait: Bool = false, takesBack: Bool = false, zone: InputZone? = nil
  ) {
    self.name = name
    self.format = format
    self.startedAt = startedAt
    self.modifiedAt = modifiedAt
    self.decisions = decisions
    self.mayWait = mayWait
    self.takesBack = takesBack
    self.zone = zone
  }
}

extension Store {
  /// Runs one ingest: `body` writes its batches and finishes it.
  ///
  /// - Parameter isAtomic: whether everything is committed at the end or not at all.
  package func ingest(
    _ source: IngestSource, isAtomic: Bool, _ body: (IngestWriter) throws -> Void
  ) throws {
    try translatingErrors(path) {
      try queue.inDatabase { database in
        let writer = try IngestWriter(database, batch, source, isAtomic: isAtomic)
        do {
          try body(writer)
        } catch {
          writer.abandon()
          throw error
        }
      }
    }
  }
}
