// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// The facts about an input that are known when its ingest begins.
package struct IngestSource: Sendable {
  /// The beginning of the name of what `fetch` imports.
  package static let fetched = "source "

  /// The path, `-`, a meter's name, or that of a source after `fetched`.
  package let name: String
  /// The id of the format.
  package let format: String
  /// When the ingest began, by the host's clock in UTC seconds.
  package let startedAt: Int64
  /// When a file was last written, in UTC seconds.
  package let modifiedAt: Int64?
  /// The decisions before the first batch.
  package let decisions: [Decision]
  /// Whether readings may be stored only at the end, since nothing watches the progress: true for a file,
  /// false for a pipe or a meter.
  package let mayWait: Bool
  /// Whether the ingest ends a withdrawal of this same input.
  package let restoresWithdrawn: Bool
  /// The zone of times that state no offset; nil if the input itself contains offsets that others derived.
  package let zone: InputZone?

  /// Whether a person said that the input is of the store's person, whatever it states.
  package let acceptsPerson: Bool
  /// What it states about its person.
  package let persons: [StatedPerson]
  /// Whether it is another store: what that has is not evidence of this one's imports.
  package let isMerge: Bool

  /// An input at the moment when its ingest begins.
  package init(
    name: String, format: String, startedAt: Int64, modifiedAt: Int64?, decisions: [Decision],
    mayWait: Bool = false, restoresWithdrawn: Bool = false, zone: InputZone? = nil,
    acceptsPerson: Bool = false,
    persons: [StatedPerson] = [], isMerge: Bool = false
  ) {
    self.isMerge = isMerge
    self.acceptsPerson = acceptsPerson
    self.persons = persons
    self.name = name
    self.format = format
    self.startedAt = startedAt
    self.modifiedAt = modifiedAt
    self.decisions = decisions
    self.mayWait = mayWait
    self.restoresWithdrawn = restoresWithdrawn
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
