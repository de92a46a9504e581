// SPDX-License-Identifier: Apache-2.0

/// What can be seen of a store without writing anything.
package struct StoreExamination: Sendable {
  /// What a complete check adds.
  package struct Deep: Sendable {
    /// Rows whose foreign keys refer to nothing.
    package var brokenReferences = 0
    /// Attachments whose content has another SHA-256 than it should.
    package var wrongContents = 0
    /// Pending readings that are in no range of pending readings, and would never be sent.
    package var unreachableReadings = 0

    /// Nothing wrong found.
    package init() {}
  }

  /// What SQLite finds wrong with the file; empty for a sound one.
  package var damage: [String] = []
  /// Tables, indexes, triggers and views that are missing or were changed.
  package var changedSchema: [String] = []
  /// Imports that have not ended: interrupted ones, and those that run now.
  package var unfinishedImports = 0
  /// Records in conflict.
  package var conflicts = 0
  /// Readings and records that the remote refused.
  package var refused = 0
  /// When the last import ended, in UTC seconds; nil before the first.
  package var lastImport: Int64?
  /// The remote; nil without one.
  package var remote: ExaminedRemote?
  /// What the complete check found; nil without one.
  package var deep: Deep?
  /// What differs from another copy of the store; nil without one.
  package var comparison: StoreComparison?
  /// The number of the schema.
  package var schema = 0

  /// A store in which nothing is wrong.
  package init() {}
}

/// The remote of a store, as far as the file says.
package struct ExaminedRemote: Hashable, Sendable {
  /// How it is reached.
  package var access: RemoteAccess
  /// The id of the logbook there.
  package var logbook: String
  /// When a run last succeeded, in UTC seconds.
  package var lastSuccess: Int64?
  /// When the next attempt is due, in UTC seconds.
  package var nextAttempt: Int64?
  /// Why the last run failed; nil when it did not.
  package var lastError: String?
  /// When the logbook was removed permanently there, in UTC seconds.
  package var purgedAt: Int64?

  /// A remote that no run has reached yet.
  package init(access: RemoteAccess, logbook: String) {
    self.access = access
    self.logbook = logbook
  }
}
