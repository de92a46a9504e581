// SPDX-License-Identifier: Apache-2.0

/// The findings about a store that was read without writing anything.
package struct StoreExamination: Sendable {
  /// The findings of a complete check.
  package struct Deep: Sendable {
    /// Rows with foreign keys that refer to nothing.
    package var brokenReferences = 0
    /// Attachments whose content has another SHA-256 than the stored one.
    package var wrongContents = 0
    /// Pending readings that are in no range of pending readings, and would never be sent.
    package var unreachableReadings = 0

    /// No findings.
    package init() {}
  }

  /// The damage that SQLite finds in the file; empty for a sound file.
  package var damage: [String] = []
  /// Tables, indexes, triggers and views that are missing or were changed.
  package var changedSchema: [String] = []
  /// Imports that have not ended: interrupted ones, and running ones.
  package var unfinishedImports = 0
  /// Records in conflict.
  package var conflicts = 0
  /// Readings and records that are hidden, and that the store still holds.
  package var hidden = 0
  /// Readings and records that the remote refused.
  package var refused = 0
  /// When the last import ended, in UTC seconds; nil before the first.
  package var lastImport: Int64?
  /// The remote; nil without one.
  package var remote: ExaminedRemote?
  /// The sources, as far as this program knows their settings.
  package var sources: [SourceSetting] = []
  /// The findings of the complete check; nil without one.
  package var deep: Deep?
  /// The differences from another copy of the store; nil without one.
  package var comparison: StoreComparison?
  /// The number of the schema.
  package var schema = 0

  /// A store without findings.
  package init() {}
}

/// The remote of a store, according to its file.
package struct ExaminedRemote: Hashable, Sendable {
  /// The access to the remote.
  package var access: RemoteAccess
  /// The id of the logbook on the remote.
  package var logbook: String
  /// When a run last succeeded, in UTC seconds.
  package var lastSuccess: Int64?
  /// When the next attempt is due, in UTC seconds.
  package var nextAttempt: Int64?
  /// Why the last run failed; nil if it did not.
  package var lastError: String?
  /// When the logbook was removed permanently on the remote, in UTC seconds.
  package var purgedAt: Int64?

  /// A remote that no run has reached yet.
  package init(access: RemoteAccess, logbook: String) {
    self.access = access
    self.logbook = logbook
  }
}
