// SPDX-License-Identifier: Apache-2.0

/// The documents known to be on a remote site (Nightscout), which stores only instants and no withdrawals.
enum SiteSchema {
  static let statements = """
    -- Readings whose documents must be moved on the site, since a change of zone gave them another instant. Only
    -- such a change adds rows. Only an upload that moved the document, or a change back, removes them. The key is
    -- that of `reading`, so that a change of all readings appends.
    CREATE TABLE resend (
      \(key),
      -- The offset before the change, by which the document is placed.
      sent_offset INTEGER NOT NULL,
      -- 1 from the moment when the upload may have deleted the document.
      is_begun INTEGER NOT NULL DEFAULT 0 CHECK (is_begun IN (0, 1)),
      PRIMARY KEY (\(keyColumns))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX resend_begun ON resend(\(keyColumns)) WHERE is_begun = 1;

    -- Records whose documents must be moved on the site.
    CREATE TABLE resend_record (guid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

    -- Pending readings whose documents may be on the site: the answer to their request was lost, or they were
    -- queued again.
    CREATE TABLE unanswered (
      \(key),
      PRIMARY KEY (\(keyColumns))
    ) STRICT, WITHOUT ROWID;

    -- Hidden records whose documents were removed from the site.
    CREATE TABLE removed_record (guid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

    """

  /// The columns of a reading's primary key, in the order of the table.
  static let keyColumns = "partition, position, series, value_bucket, occurrence"

  private static let key = keyColumns.split(separator: ", ").map { "\($0) INTEGER NOT NULL" }
    .joined(separator: ",\n      ")

  /// The SQL condition that the rows with these two aliases have the same `keyColumns`.
  static func isSame(_ one: String, _ other: String) -> String {
    keyColumns.split(separator: ", ").map { "\(one).\($0) = \(other).\($0)" }.joined(separator: " AND ")
  }

  /// The SQL condition that the remote of the store is a Nightscout site.
  static let isConnected = "coalesce((SELECT kind FROM remote), '') = 'nightscout'"
}
