// SPDX-License-Identifier: Apache-2.0

/// The content of attachments, kept once for each SHA-256, in parts, so that no part of the program holds a whole one.
enum ContentSchema {
  static let statements = """
    CREATE TABLE blob (
      digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
      size INTEGER NOT NULL CHECK (size >= 0),
      held INTEGER NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND size),
      uploaded INTEGER NOT NULL DEFAULT 0 CHECK (uploaded IN (0, 1)),
      -- The words of a remote that refuses it permanently.
      refusal TEXT,
      CHECK (uploaded = 0 OR held = size)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blob_part (
      digest TEXT NOT NULL REFERENCES blob(digest),
      start INTEGER NOT NULL CHECK (start >= 0),
      bytes BLOB NOT NULL,
      UNIQUE (digest, start)
    ) STRICT;

    CREATE TRIGGER blob_stays BEFORE DELETE ON blob
    BEGIN SELECT RAISE(ABORT, 'content of attachments is never deleted'); END;

    -- How many bytes a content has is only known when it is whole: until then, what is fetched was merely said to be it.
    CREATE TRIGGER blob_is_immutable BEFORE UPDATE ON blob
    WHEN NEW.digest <> OLD.digest OR (OLD.held = OLD.size AND (NEW.size <> OLD.size OR NEW.held <> OLD.held))
    BEGIN SELECT RAISE(ABORT, 'content of attachments is immutable'); END;

    -- What was fetched of a content and does not have its digest is removed, as long as it is not whole.
    CREATE TRIGGER blob_part_stays BEFORE DELETE ON blob_part
    WHEN (SELECT held = size FROM blob WHERE digest = OLD.digest)
    BEGIN SELECT RAISE(ABORT, 'content of attachments is never deleted'); END;

    CREATE TRIGGER blob_part_is_immutable BEFORE UPDATE ON blob_part
    BEGIN SELECT RAISE(ABORT, 'content of attachments is immutable'); END;
    """
}
