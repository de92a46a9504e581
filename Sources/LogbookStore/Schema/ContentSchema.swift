// SPDX-License-Identifier: Apache-2.0

import SQLiteRows

/// The content of attachments, stored once for each SHA-256. It is in parts, so that the program never holds
/// a complete content in memory.
enum ContentSchema {
  static let statements = SharedSchema.contents(columns) + rules

  private static let columns = """
    ,
      uploaded INTEGER NOT NULL DEFAULT 0 CHECK (uploaded IN (0, 1)),
      -- The words of a remote that refuses it permanently.
      refusal TEXT,
      CHECK (uploaded = 0 OR held = size)
    """

  private static let rules = """
    CREATE TRIGGER blob_stays BEFORE DELETE ON blob
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is never deleted'); END;

    -- How many bytes a content has is only known when it is whole: until then, what is fetched was merely said to be it.
    CREATE TRIGGER blob_is_immutable BEFORE UPDATE ON blob
    WHEN NEW.digest <> OLD.digest OR (OLD.held = OLD.size AND (NEW.size <> OLD.size OR NEW.held <> OLD.held))
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;
    """
}
