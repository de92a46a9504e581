// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What inputs stated about the person of the store. Nothing of it is ever sent.
enum PersonSchema {
  static let statements = """
    -- Digests with the salt of this store, or of one that was merged into it. What an undone import stated does not count.
    CREATE TABLE stated_person (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      -- 0: a name; 1: an id; 2: a date of birth.
      kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
      -- The format and the name of an id.
      place TEXT NOT NULL,
      salt TEXT NOT NULL,
      -- The digests of the words, sorted, with a blank between them.
      words TEXT NOT NULL CHECK (words NOT GLOB '*[^0-9a-f ]*' AND length(words) >= 32),
      PRIMARY KEY (ingest, kind, place, salt, words)
    ) STRICT, WITHOUT ROWID;

    """
}
