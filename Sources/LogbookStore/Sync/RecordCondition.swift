// SPDX-License-Identifier: Apache-2.0

/// How the state of a row of `record` is asked for in SQL. A row is in one of these at most.
enum RecordCondition {
  /// It is pending, as the index `record_pending` says it.
  static let isPending = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND (record.quarantined_version IS NULL OR record.quarantined_version < record.version)
    """

  /// The remote refused this very version permanently.
  static let isRefused = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND record.quarantined_version = record.version
    """

  /// It is a deleted entry to which records belong that are not: others added them meanwhile.
  static let isOrphaned = """
    record.deleted = 1 AND record.conflict IS NULL AND EXISTS (
      SELECT 1 FROM record AS child WHERE child.entry_guid = record.guid AND child.deleted = 0)
    """
}
