// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Whether an item is withdrawn, in SQL. Most stores withdraw nothing: the first question is asked once for a whole
/// query, and then no row is looked up.
enum Withdrawn {
  /// 1 or 0 for a reading `r`.
  static let reading = """
    CASE WHEN EXISTS (SELECT 1 FROM withdrawn) THEN \(hasRow) ELSE 0 END
    """

  /// A condition that holds for every reading `r` that is shown.
  static let readingIsShown = "(NOT EXISTS (SELECT 1 FROM withdrawn) OR NOT \(hasRow))"

  private static let hasRow = """
    EXISTS (SELECT 1 FROM withdrawn AS w WHERE w.series = r.series AND w.position = r.position
      AND w.value_bucket = r.value_bucket AND w.occurrence = r.occurrence)
    """

  /// 1 or 0 for a row of `record`: it or its entry is hidden.
  static let record = """
    CASE WHEN EXISTS (SELECT 1 FROM listed_record WHERE is_withdrawn = 1) THEN EXISTS (
      SELECT 1 FROM listed_record AS l WHERE l.guid IN (record.guid, record.entry_guid) AND +l.is_withdrawn = 1)
    ELSE 0 END
    """

  /// How many readings of a series `s` are never sent, since a Nightscout site gets none that is withdrawn.
  static let unsent = """
    CASE WHEN (SELECT kind FROM remote) IS 'nightscout' THEN (
      SELECT count(*) FROM withdrawn AS w CROSS JOIN reading AS r ON r.partition = s.partition
        AND r.position = w.position AND r.series = w.series AND r.value_bucket = w.value_bucket
        AND r.occurrence = w.occurrence
      WHERE w.series = s.id AND r.uploaded = 0 AND NOT EXISTS (SELECT 1 FROM refusal AS f WHERE f.series = r.series
        AND f.position = r.position AND f.value_bucket = r.value_bucket AND f.occurrence = r.occurrence))
    ELSE 0 END
    """

  /// A condition that holds for a row of `record` that a Nightscout site does not get while it is hidden. Deletions go
  /// everywhere.
  static let recordIsUnsent = "(\(record) = 1 AND record.deleted = 0)"

  /// A condition on a row of `record` that says something about others, and is in no list.
  static let isStatement: String = {
    let kinds = RecordKindDescription.all.filter { !$0.isListed }.map { "'\($0.kind.rawValue)'" }
    return "record.kind IN (\(kinds.joined(separator: ", ")))"
  }()
}

/// The names of stored codes in SQL.
enum StoredName {
  static let kind = "CASE s.kind WHEN 1 THEN 'smbg' WHEN 2 THEN 'cbg' WHEN 3 THEN 'scan' ELSE 'ketone' END"
  static let positionKind = "CASE s.position_kind WHEN 0 THEN 'time' ELSE 'tick' END"
}
