// SPDX-License-Identifier: Apache-2.0

/// Which zone records changed in a transaction. Withdrawals have tables of their own: see `WithdrawalSchema`.
enum StatementSchema {
  static let statements = """
    -- Zone records that changed in this transaction. It is empty again when the
    -- transaction ends, because what they state is applied before.
    CREATE TABLE changed_statement (guid TEXT PRIMARY KEY, kind TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX record_statement ON record(kind, guid) WHERE kind = 'zone';
    CREATE INDEX record_counting ON record(kind, guid) WHERE kind = 'count';

    CREATE TRIGGER statement_is_new AFTER INSERT ON record WHEN NEW.kind = 'zone'
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, NEW.kind) ON CONFLICT DO NOTHING; END;

    CREATE TRIGGER statement_is_changed AFTER UPDATE OF fields, deleted, device_time, utc_offset, offset_source ON record
    WHEN NEW.kind = 'zone' AND (NEW.fields IS NOT OLD.fields OR NEW.deleted <> OLD.deleted OR NEW.device_time <> OLD.device_time
      OR iif(NEW.offset_source = 0, NEW.utc_offset, 0) <> iif(OLD.offset_source = 0, OLD.utc_offset, 0))
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, NEW.kind) ON CONFLICT DO NOTHING; END;

    """
}
