// SPDX-License-Identifier: Apache-2.0

/// SQL conditions for the state of a row of `record`. At most one of them is true for a row.
enum RecordCondition {
  /// It is pending, in the words of the index `record_pending`.
  static let isPending = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND (record.quarantined_version IS NULL OR record.quarantined_version < record.version)
    """

  /// The remote refused exactly this version permanently.
  static let isRefused = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND record.quarantined_version = record.version
    """

  /// It is a deleted entry with records that are not deleted: others added them meanwhile.
  static let isOrphaned = """
    record.deleted = 1 AND record.conflict IS NULL AND EXISTS (
      SELECT 1 FROM record AS child WHERE child.entry_guid = record.guid AND child.deleted = 0)
    """
}
