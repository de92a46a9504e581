// SPDX-License-Identifier: Apache-2.0

/// The tables of items to be sent or fetched. Triggers fill them from records and contents.
enum QueueSchema {
  static let statements = queued + transfers + downloads + contents + contentDownloads

  /// One row for each pending part of a record: the record itself, or its attached file. The row also names
  /// the entry to which the record belongs. So one search of an index finds the sync state of an entry with
  /// all its records. Only triggers write the rows; they depend on `version`, `version_synced` and `blob`.
  private static let queued = """
    CREATE TABLE queued (
      record TEXT NOT NULL,
      aspect TEXT NOT NULL CHECK (aspect IN ('record', 'file')),
      entry TEXT NOT NULL,
      queued_at INTEGER NOT NULL,
      -- Records go up in this order, that in which they were first edited, where nothing else decides.
      number INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (record, aspect)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX queued_record ON queued(number, record) WHERE aspect = 'record';
    CREATE INDEX queued_by_entry ON queued(entry);
    -- Contents are uploaded in the order in which they were attached.
    CREATE INDEX queued_file ON queued(queued_at, record) WHERE aspect = 'file';

    CREATE TRIGGER record_is_queued AFTER INSERT ON record WHEN NEW.version > NEW.version_synced
    BEGIN
      INSERT INTO queued VALUES
        (NEW.guid, 'record', coalesce(NEW.entry_guid, NEW.guid), coalesce(NEW.edited_at, unixepoch()), \(nextNumber));
    END;

    CREATE TRIGGER record_is_queued_again AFTER UPDATE OF version, version_synced ON record
    WHEN NEW.version > NEW.version_synced AND OLD.version = OLD.version_synced
    BEGIN
      INSERT INTO queued VALUES
        (NEW.guid, 'record', coalesce(NEW.entry_guid, NEW.guid), coalesce(NEW.edited_at, unixepoch()), \(nextNumber));
    END;

    CREATE TRIGGER record_is_synced AFTER UPDATE OF version, version_synced ON record
    WHEN NEW.version = NEW.version_synced AND OLD.version > OLD.version_synced
    BEGIN DELETE FROM queued WHERE record = NEW.guid AND aspect = 'record'; END;

    CREATE TRIGGER record_moves_to_another_entry AFTER UPDATE OF entry_guid ON record
    WHEN NEW.entry_guid IS NOT OLD.entry_guid
    BEGIN UPDATE queued SET entry = coalesce(NEW.entry_guid, NEW.guid) WHERE record = NEW.guid; END;

    """

  private static let nextNumber = "(SELECT coalesce(max(number), 0) + 1 FROM queued WHERE aspect = 'record')"

  /// The items that the current upload is sending, in one row for each lane: readings, records, attachments.
  /// A row is written in the transaction that selects the items, and removed in the one that stores the
  /// response. While no process holds the lock of uploads, rows are ignored: an interrupted upload left them.
  private static let transfers = """
    CREATE TABLE transfer (
      lane TEXT PRIMARY KEY CHECK (lane IN ('readings', 'records', 'attachments')),
      started_at INTEGER NOT NULL,
      items INTEGER NOT NULL CHECK (items > 0),
      -- The first and the last of the records, or attachments, by their ids.
      first_record TEXT,
      last_record TEXT,
      -- The first and the last of the readings, by the first parts of their keys.
      first_partition INTEGER,
      first_position INTEGER,
      last_partition INTEGER,
      last_position INTEGER
    ) STRICT, WITHOUT ROWID;

    """

  /// The queue of downloads, ordered by priority, then by age with the oldest first.
  private static let downloads = """
    CREATE TABLE download (
      id INTEGER PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('logbook', 'changes', 'records', 'readings', 'record', 'attachment')),
      -- The range of readings as civil times, the record's guid, or the content's SHA-256.
      subject TEXT NOT NULL DEFAULT '',
      -- 0: a person is waiting; 1: the remote signalled a change; 2: when there is time.
      priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 2),
      queued_at INTEGER NOT NULL,
      -- How far a range of readings is fetched, as the remote says it.
      position TEXT,
      -- The words of a remote that refuses it permanently.
      refusal TEXT,
      -- When it is worth asking for again: the remote did not have it.
      not_before INTEGER,
      UNIQUE (kind, subject)
    ) STRICT;
    CREATE INDEX download_by_priority ON download(priority, id) WHERE refusal IS NULL;

    -- Ranges of readings that are fetched before all others, in seconds of shown time.
    CREATE TABLE pinned (first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (first, last)) STRICT, WITHOUT ROWID;

    """

  /// The triggers that queue the file of an attachment while the store has its content and the server does
  /// not.
  private static let contents = """
    CREATE INDEX record_by_content ON record(json_extract(fields, '$.sha256')) WHERE kind = 'attachment';

    CREATE TRIGGER attachment_file_is_queued AFTER INSERT ON record
    WHEN NEW.kind = 'attachment' AND NEW.deleted = 0
    BEGIN
      INSERT INTO queued
      SELECT NEW.guid, 'file', coalesce(NEW.entry_guid, NEW.guid), coalesce(NEW.edited_at, unixepoch()), 0 FROM blob
      WHERE digest = json_extract(NEW.fields, '$.sha256') AND held = size AND uploaded = 0;
    END;

    CREATE TRIGGER attachment_file_follows_its_record AFTER UPDATE OF fields, deleted ON record
    WHEN NEW.kind = 'attachment' AND (NEW.fields IS NOT OLD.fields OR NEW.deleted <> OLD.deleted)
    BEGIN
      DELETE FROM queued WHERE record = NEW.guid AND aspect = 'file';
      INSERT INTO queued
      SELECT NEW.guid, 'file', coalesce(NEW.entry_guid, NEW.guid), coalesce(NEW.edited_at, unixepoch()), 0 FROM blob
      WHERE digest = json_extract(NEW.fields, '$.sha256') AND held = size AND uploaded = 0 AND NEW.deleted = 0;
    END;

    CREATE TRIGGER blob_is_uploaded AFTER UPDATE OF uploaded, held ON blob
    WHEN NEW.uploaded <> OLD.uploaded OR NEW.held <> OLD.held
    BEGIN
      DELETE FROM queued WHERE aspect = 'file' AND record IN
        (SELECT guid FROM record WHERE kind = 'attachment' AND json_extract(fields, '$.sha256') = NEW.digest);
      INSERT INTO queued
      SELECT guid, 'file', coalesce(entry_guid, guid), coalesce(edited_at, unixepoch()), 0 FROM record
      WHERE kind = 'attachment' AND deleted = 0 AND json_extract(fields, '$.sha256') = NEW.digest
        AND NEW.uploaded = 0 AND NEW.held = NEW.size;
    END;

    """

  /// The triggers that queue the download of an attachment's content when a record that refers to it is
  /// stored, from any source. A content that is already complete, or that no record refers to, is not
  /// fetched.
  private static let contentDownloads = """
    CREATE TRIGGER attachment_file_is_wanted AFTER INSERT ON record
    WHEN NEW.kind = 'attachment' AND NEW.deleted = 0
    BEGIN
      INSERT INTO download (kind, subject, priority, queued_at) \(wanted);
    END;

    CREATE TRIGGER attachment_file_is_wanted_again AFTER UPDATE OF fields, deleted ON record
    WHEN NEW.kind = 'attachment' AND (NEW.fields IS NOT OLD.fields OR NEW.deleted <> OLD.deleted)
    BEGIN
      DELETE FROM download WHERE kind = 'attachment' AND subject = json_extract(OLD.fields, '$.sha256')
        AND NOT EXISTS (SELECT 1 FROM record WHERE kind = 'attachment' AND deleted = 0
          AND json_extract(fields, '$.sha256') = json_extract(OLD.fields, '$.sha256'));
      INSERT INTO download (kind, subject, priority, queued_at) \(wanted) AND NEW.deleted = 0;
    END;

    CREATE TRIGGER blob_is_whole AFTER UPDATE OF held ON blob WHEN NEW.held = NEW.size
    BEGIN DELETE FROM download WHERE kind = 'attachment' AND subject = NEW.digest; END;

    CREATE TRIGGER blob_is_whole_at_once AFTER INSERT ON blob WHEN NEW.held = NEW.size
    BEGIN DELETE FROM download WHERE kind = 'attachment' AND subject = NEW.digest; END;
    """

  /// The row of a download for the content of a record; none for an invalid digest, which is never requested.
  private static let wanted = """
    SELECT 'attachment', json_extract(NEW.fields, '$.sha256'), 2, unixepoch()
    WHERE json_type(NEW.fields, '$.sha256') IS 'text' AND length(json_extract(NEW.fields, '$.sha256')) = 64
      AND json_extract(NEW.fields, '$.sha256') NOT GLOB '*[^0-9a-f]*'
      AND NOT EXISTS (SELECT 1 FROM blob
        WHERE digest = json_extract(NEW.fields, '$.sha256') AND held = size)
      AND NOT EXISTS (SELECT 1 FROM download
        WHERE kind = 'attachment' AND subject = json_extract(NEW.fields, '$.sha256'))
    """
}
