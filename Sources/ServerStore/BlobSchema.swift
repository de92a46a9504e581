// SPDX-License-Identifier: Apache-2.0

/// The content of attachments, once for each SHA-256, in parts.
enum BlobSchema {
  static let statements = """
    -- Whole where held is size, which is written only with a content that has its digest.
    CREATE TABLE blob (
      digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
      size INTEGER NOT NULL CHECK (size >= 0),
      held INTEGER NOT NULL CHECK (held BETWEEN 0 AND size)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blob_part (
      digest TEXT NOT NULL REFERENCES blob(digest),
      start INTEGER NOT NULL CHECK (start >= 0),
      bytes BLOB NOT NULL,
      UNIQUE (digest, start)
    ) STRICT;

    CREATE TRIGGER blob_stays BEFORE DELETE ON blob WHEN OLD.held = OLD.size
    BEGIN SELECT RAISE(ABORT, 'a whole content is never deleted'); END;
    CREATE TRIGGER blob_is_immutable BEFORE UPDATE ON blob
    WHEN OLD.held = OLD.size OR NEW.digest <> OLD.digest OR NEW.size <> OLD.size
    BEGIN SELECT RAISE(ABORT, 'a whole content is immutable'); END;

    CREATE TRIGGER blob_part_stays BEFORE DELETE ON blob_part
    WHEN (SELECT held = size FROM blob WHERE digest = OLD.digest)
    BEGIN SELECT RAISE(ABORT, 'a whole content is never deleted'); END;
    CREATE TRIGGER blob_part_is_immutable BEFORE UPDATE ON blob_part
    BEGIN SELECT RAISE(ABORT, 'the parts of a content are immutable'); END;
    """
}
