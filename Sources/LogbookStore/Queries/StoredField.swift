// SPDX-License-Identifier: Apache-2.0

/// Fields of a row of `record` in SQL, by the type that they are to have. Another program may have written any other:
/// that counts as a field that is not there, since a value that is no text cannot be read as one.
enum StoredField {
  /// The SHA-256 that an attachment names; empty where it names none that could be one.
  static let digest = """
    CASE WHEN json_type(record.fields, '$.sha256') = 'text' AND length(json_extract(record.fields, '$.sha256')) = 64
      AND json_extract(record.fields, '$.sha256') NOT GLOB '*[^0-9a-f]*'
      THEN json_extract(record.fields, '$.sha256') ELSE '' END
    """

  /// A text; empty without one.
  static func text(_ name: String) -> String {
    """
    CASE json_type(record.fields, '$.\(name)') WHEN 'text' THEN json_extract(record.fields, '$.\(name)') ELSE '' END
    """
  }

  /// A number of bytes; 0 without one. A whole number that is too large for SQLite is a real one there.
  static func bytes(_ name: String) -> String {
    """
    CASE typeof(json_extract(record.fields, '$.\(name)'))
      WHEN 'integer' THEN max(0, json_extract(record.fields, '$.\(name)')) ELSE 0 END
    """
  }
}
