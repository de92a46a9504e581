// SPDX-License-Identifier: Apache-2.0

import Logbook

/// SQL expressions for whether an item is hidden. Most stores hide nothing. For these, SQLite evaluates the
/// first EXISTS once in a query, and looks up no rows.
enum Withdrawn {
  /// The expression for a reading `r`: 1 if it is hidden, otherwise 0.
  static let reading = """
    CASE WHEN EXISTS (SELECT 1 FROM withdrawn) THEN \(hasRow()) ELSE 0 END
    """

  /// The expression for a reading `r`: 1 if a withdrawal hides it, otherwise 0. It is also 0 for a reading
  /// that is hidden because an equal one is visible.
  static let readingByStatement = """
    CASE WHEN EXISTS (SELECT 1 FROM withdrawn) THEN \(hasRow(" AND w.cause = 1")) ELSE 0 END
    """

  /// The condition that a reading `r` is visible.
  static let readingIsShown = "(NOT EXISTS (SELECT 1 FROM withdrawn) OR NOT \(hasRow()))"

  /// The condition that no withdrawal hides a reading `r`, so that it is sent to a Nightscout site. A reading
  /// that is hidden because an equal one is visible is sent, too. Other stores may have a different value
  /// under the occurrence number of the visible reading.
  static let readingIsForSites = "(NOT EXISTS (SELECT 1 FROM withdrawn) OR NOT \(hasRow(" AND w.cause = 1")))"

  private static func hasRow(_ condition: String = "") -> String {
    """
    EXISTS (SELECT 1 FROM withdrawn AS w WHERE w.series = r.series AND w.position = r.position
      AND w.value_bucket = r.value_bucket AND w.occurrence = r.occurrence\(condition))
    """
  }

  /// The expression for a row of `record`: 1 if the record or its entry is hidden, otherwise 0.
  static let record = """
    CASE WHEN EXISTS (SELECT 1 FROM listed_record WHERE is_withdrawn = 1) THEN EXISTS (
      SELECT 1 FROM listed_record AS l WHERE l.guid IN (record.guid, record.entry_guid) AND +l.is_withdrawn = 1)
    ELSE 0 END
    """

  /// The expression for the number of readings of a series `s` that are never sent: the withdrawn readings,
  /// if the remote is a Nightscout site.
  static let unsent = """
    CASE WHEN (SELECT kind FROM remote) IS 'nightscout' THEN (
      SELECT count(*) FROM withdrawn AS w CROSS JOIN reading AS r ON r.partition = s.partition
        AND r.position = w.position AND r.series = w.series AND r.value_bucket = w.value_bucket
        AND r.occurrence = w.occurrence
      WHERE w.series = s.id AND w.cause = 1 AND r.uploaded = 0 AND NOT EXISTS (SELECT 1 FROM refusal AS f WHERE f.series = r.series
        AND f.position = r.position AND f.value_bucket = r.value_bucket AND f.occurrence = r.occurrence))
    ELSE 0 END
    """

  /// The condition that a row of `record` is hidden, so that it is not sent to a Nightscout site. Deletions
  /// are always sent.
  static let recordIsUnsent = "(\(record) = 1 AND record.deleted = 0)"

  /// The condition that a row of `record` states something about other items, so that lists leave it out.
  static let isStatement: String = {
    let kinds = RecordKindDescription.all.filter { !$0.isListed }.map { "'\($0.kind.rawValue)'" }
    return "record.kind IN (\(kinds.joined(separator: ", ")))"
  }()
}

/// SQL expressions for the names of codes in the tables.
enum StoredName {
  static let kind = "CASE s.kind WHEN 1 THEN 'smbg' WHEN 2 THEN 'cbg' WHEN 3 THEN 'scan' ELSE 'ketone' END"
  static let positionKind = "CASE s.position_kind WHEN 0 THEN 'time' ELSE 'tick' END"
}
