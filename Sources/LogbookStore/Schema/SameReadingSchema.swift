// SPDX-License-Identifier: Apache-2.0

/// The table of the readings that the remote has in documents of other programs.
enum SameReadingSchema {
  static let statements = """
    -- `document` is the key of the reading that the document gives: the 16 bytes of its identity. Several readings may be
    -- one document's, and several documents may hold one reading.
    CREATE TABLE same_as (
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      document BLOB NOT NULL CHECK (length(document) = 16),
      -- Whether the remote has no document of the reading itself.
      is_only_there INTEGER NOT NULL CHECK (is_only_there IN (0, 1)),
      PRIMARY KEY (series, position, value_bucket, occurrence, document)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX same_as_by_document ON same_as(document);
    """
}
