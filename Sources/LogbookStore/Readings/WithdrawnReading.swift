// SPDX-License-Identifier: Apache-2.0

/// Whether an annotation withdraws a reading, in SQL: never stored beside the reading, since annotation and reading may
/// come in either order.
enum WithdrawnReading {
  /// The partial index by which the annotations of a reading are found.
  static let index = """
    CREATE INDEX record_withdrawing ON record(json_extract(fields, '$.reading'))
      WHERE kind = 'annotation' AND deleted = 0 AND json_extract(fields, '$.excluded') = 1
    """

  /// 1 or 0 for a reading `r` with its series `s` and its device `d`. Most stores withdraw nothing: the first question is
  /// asked once for a whole query, and then no text is put together.
  static let sql = """
    CASE WHEN EXISTS (SELECT 1 FROM record AS a WHERE \(withdraws)) THEN EXISTS (
      SELECT 1 FROM record AS a WHERE \(withdraws) AND json_extract(a.fields, '$.reading') = \(identity))
    ELSE 0 END
    """

  private static let withdraws =
    "a.kind = 'annotation' AND a.deleted = 0 AND json_extract(a.fields, '$.excluded') = 1"

  /// The canonical text of the reading's identity; see `ReadingIdentity.text`.
  private static let identity = """
    (d.identity || '|' || \(StoredName.kind) || '|' || \(StoredName.positionKind) || '|' || r.position || '|' || r.value_bucket || '|'
      || r.occurrence)
    """
}

/// The names of stored codes in SQL.
enum StoredName {
  static let kind = "CASE s.kind WHEN 1 THEN 'smbg' WHEN 2 THEN 'cbg' WHEN 3 THEN 'scan' ELSE 'ketone' END"
  static let positionKind = "CASE s.position_kind WHEN 0 THEN 'time' ELSE 'tick' END"
}
