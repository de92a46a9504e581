// SPDX-License-Identifier: Apache-2.0

/// SQL for fields of a row of `record`, by their expected type. Another program may have written another
/// type. Such a field counts as missing, since a value that is not text cannot be read as one.
enum StoredField {
  /// The SHA-256 of an attachment; empty without a valid one.
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

  /// A number of bytes; 0 without one. SQLite reads a whole number that is too large for it as a real number.
  static func bytes(_ name: String) -> String {
    """
    CASE typeof(json_extract(record.fields, '$.\(name)'))
      WHEN 'integer' THEN max(0, json_extract(record.fields, '$.\(name)')) ELSE 0 END
    """
  }
}
