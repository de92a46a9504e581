// SPDX-License-Identifier: Apache-2.0

/// The schema of a database with the logbooks of a server.
///
/// All tables are in the schema `glucoport`. The first column of a logbook's rows is the number of the
/// logbook. Row security only shows rows of the logbook that the transaction has set. The role of the server
/// can neither update nor delete a reading.
enum PostgresSchema {
  /// The version of the schema that this program uses.
  static let version = 4
  /// The default number of partitions for large tables. It cannot change after a database was created.
  static let partitions = 64

  /// The SQL statements that upgrade the schema to a version. They run once, in one transaction.
  static func step(to version: Int, partitions: Int) -> [String] {
    switch version {
    case 1:
      [directory] + data + partitioned.flatMap { self.partitions(of: $0, partitions) }
        + simplySecured.map(policy(of:)) + contentPolicies + [purge(residence: ""), erase, closed]
    case 2: clusters
    case 3: confirmations + pageLinks
    case 4: [instants]
    default: []
    }
  }

  private static let directory = """
    CREATE SCHEMA glucoport;
    CREATE TABLE glucoport.schema_version (
      version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE glucoport.logbook (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      guid text COLLATE "C" NOT NULL UNIQUE CHECK (length(guid) = 36),
      name text COLLATE "C" NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64)
    );
    -- A token is looked up by its hash. Nothing else of it is stored.
    CREATE TABLE glucoport.login (
      name text COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
      token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
      role text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write')),
      logbook bigint NOT NULL REFERENCES glucoport.logbook(id),
      created_at bigint NOT NULL
    );
    CREATE INDEX login_by_logbook ON glucoport.login(logbook);
    CREATE TABLE glucoport.replaced_token (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      login text COLLATE "C" NOT NULL REFERENCES glucoport.login(name) ON DELETE CASCADE,
      until bigint NOT NULL
    );
    CREATE INDEX replaced_token_by_login ON glucoport.replaced_token(login);
    -- Logbooks that were removed permanently, and the hashes of their tokens. No name is kept.
    CREATE TABLE glucoport.purged (
      guid text COLLATE "C" PRIMARY KEY CHECK (length(guid) = 36),
      logbook bigint NOT NULL UNIQUE,
      is_erased boolean NOT NULL DEFAULT false
    );
    CREATE TABLE glucoport.purged_token (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      guid text COLLATE "C" NOT NULL REFERENCES glucoport.purged(guid)
    )
    """

  private static let data = [
    """
    -- A transaction that changes a logbook locks this row first, so that numbers become visible in their order.
    CREATE TABLE glucoport.counter (
      logbook bigint PRIMARY KEY, last_seq bigint NOT NULL DEFAULT 0 CHECK (last_seq BETWEEN 0 AND 4611686018427387903)
    );
    CREATE TABLE glucoport.contents (
      logbook bigint PRIMARY KEY, bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0)
    );
    CREATE TABLE glucoport.epoch (
      logbook bigint NOT NULL, first_seq bigint NOT NULL, tag text COLLATE "C" NOT NULL CHECK (length(tag) = 8),
      PRIMARY KEY (logbook, first_seq)
    );
    CREATE TABLE glucoport.node (
      logbook bigint NOT NULL, id bigint NOT NULL,
      name text COLLATE "C" NOT NULL CHECK (length(name) = 36),
      run_number bigint NOT NULL CHECK (run_number > 0),
      run_id text COLLATE "C" NOT NULL CHECK (length(run_id) = 36),
      last_seq bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (logbook, id), UNIQUE (logbook, name)
    );
    -- The texts of a device are bytes, since they can hold U+0000, which a text cannot.
    CREATE TABLE glucoport.device (
      logbook bigint NOT NULL, id bigint NOT NULL,
      vendor bytea NOT NULL, model bytea NOT NULL, serial bytea NOT NULL, format bytea NOT NULL,
      PRIMARY KEY (logbook, id)
    );
    CREATE UNIQUE INDEX device_by_serial ON glucoport.device(logbook, vendor, serial) WHERE serial <> '';
    CREATE UNIQUE INDEX device_by_model ON glucoport.device(logbook, format, model) WHERE serial = '';
    CREATE TABLE glucoport.series (
      logbook bigint NOT NULL, id bigint NOT NULL, device bigint NOT NULL,
      kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
      position_kind smallint NOT NULL CHECK (position_kind BETWEEN 0 AND 1),
      PRIMARY KEY (logbook, id), UNIQUE (logbook, device, kind, position_kind),
      FOREIGN KEY (logbook, device) REFERENCES glucoport.device(logbook, id)
    )
    """,
    """
    CREATE TABLE glucoport.reading (
      logbook bigint NOT NULL, seq bigint NOT NULL CHECK (seq > 0),
      position bigint NOT NULL, device_time bigint NOT NULL,
      value float8 CHECK (value BETWEEN -1e300 AND 1e300),
      threshold float8 CHECK (threshold BETWEEN -1e300 AND 1e300),
      series int NOT NULL, value_bucket int NOT NULL, occurrence int NOT NULL CHECK (occurrence >= 0),
      utc_offset int NOT NULL CHECK (utc_offset BETWEEN -86399 AND 86399),
      node int NOT NULL, marks int NOT NULL,
      offset_source smallint NOT NULL CHECK (offset_source BETWEEN 0 AND 4),
      unit smallint NOT NULL CHECK (unit BETWEEN 0 AND 1),
      range_flag smallint NOT NULL CHECK (range_flag BETWEEN 0 AND 2 AND (range_flag = 0) = (value IS NOT NULL)),
      PRIMARY KEY (logbook, series, position, value_bucket, occurrence), UNIQUE (logbook, seq)
    ) PARTITION BY HASH (logbook)
    """,
    """
    -- The state is canonical JSON as text: jsonb would reorder its members, and digests are over its bytes.
    CREATE TABLE glucoport.record (
      logbook bigint NOT NULL, guid text COLLATE "C" NOT NULL CHECK (length(guid) = 36),
      seq bigint NOT NULL CHECK (seq > 0), revision text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL CHECK (kind ~ '^[a-z-]{1,32}$'),
      state text COLLATE "C" NOT NULL CHECK ((state::json ->> 'kind') = kind),
      node bigint NOT NULL,
      PRIMARY KEY (logbook, guid), UNIQUE (logbook, seq),
      CHECK ((state::json ->> 'deleted') = 'false' OR (state::json ->> 'fields') = '{}')
    ) PARTITION BY HASH (logbook)
    """,
    """
    CREATE TABLE glucoport.accepted (
      logbook bigint NOT NULL, guid text COLLATE "C" NOT NULL, node text COLLATE "C" NOT NULL CHECK (length(node) = 36),
      version bigint NOT NULL CHECK (version > 0), digest text COLLATE "C" NOT NULL CHECK (length(digest) = 64),
      revision text COLLATE "C" NOT NULL,
      PRIMARY KEY (logbook, guid, node)
    ) PARTITION BY HASH (logbook)
    """,
    """
    CREATE TABLE glucoport.blob (
      logbook bigint NOT NULL, digest text COLLATE "C" NOT NULL CHECK (length(digest) = 64),
      size bigint NOT NULL CHECK (size >= 0), held bigint NOT NULL CHECK (held BETWEEN 0 AND size),
      PRIMARY KEY (logbook, digest)
    )
    """,
    """
    CREATE TABLE glucoport.blob_part (
      logbook bigint NOT NULL, digest text COLLATE "C" NOT NULL, start bigint NOT NULL CHECK (start >= 0),
      bytes bytea NOT NULL,
      PRIMARY KEY (logbook, digest, start)
    ) PARTITION BY HASH (logbook);
    ALTER TABLE glucoport.blob_part ALTER COLUMN bytes SET STORAGE EXTERNAL
    """,
  ]

  private static let pageLinks = [
    """
    -- A link to pages is looked up by the hash of its secret. Nothing else of it is stored.
    CREATE TABLE glucoport.page_link (
      secret_hash bytea PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
      place bigint GENERATED ALWAYS AS IDENTITY,
      token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
      login text COLLATE "C" NOT NULL REFERENCES glucoport.login(name) ON DELETE CASCADE,
      logbook text COLLATE "C" NOT NULL CHECK (length(logbook) = 36),
      made_at bigint NOT NULL, expires_at bigint NOT NULL
    );
    CREATE INDEX page_link_by_login ON glucoport.page_link(login)
    """
  ]

  private static let partitioned = ["reading", "record", "accepted", "blob_part"]

  private static func partitions(of table: String, _ count: Int) -> [String] {
    (0..<count).map { part in
      """
      CREATE TABLE glucoport.\(table)_\(part) PARTITION OF glucoport.\(table) \
      FOR VALUES WITH (MODULUS \(count), REMAINDER \(part))
      """
    }
  }

  /// The SQL condition that a row belongs to the logbook that the transaction has set. If no logbook is set,
  /// it is false for every row. The subquery runs once for each SQL statement.
  static let own =
    "logbook = (SELECT nullif(current_setting('glucoport.logbook', true), '')::bigint)"

  private static let simplySecured = [
    "counter", "contents", "epoch", "node", "device", "series", "reading", "record", "accepted",
  ]
  private static let contentTables = ["blob", "blob_part"]

  /// The tables that must have row security.
  static let secured = simplySecured + contentTables + ["residence"]

  static func policy(of table: String) -> String {
    """
    ALTER TABLE glucoport.\(table) ENABLE ROW LEVEL SECURITY;
    ALTER TABLE glucoport.\(table) FORCE ROW LEVEL SECURITY;
    CREATE POLICY own ON glucoport.\(table) USING (\(own)) WITH CHECK (\(own))
    """
  }

  /// Policies for contents: a complete content can be neither changed nor deleted, except in a purged
  /// logbook.
  private static let contentPolicies = contentTables.map { table in
    let isIncomplete =
      table == "blob"
      ? "held < size"
      : """
      EXISTS (SELECT 1 FROM glucoport.blob b
        WHERE b.logbook = blob_part.logbook AND b.digest = blob_part.digest AND b.held < b.size)
      """
    return """
      ALTER TABLE glucoport.\(table) ENABLE ROW LEVEL SECURITY;
      ALTER TABLE glucoport.\(table) FORCE ROW LEVEL SECURITY;
      CREATE POLICY own_is_read ON glucoport.\(table) FOR SELECT USING (\(own));
      CREATE POLICY own_is_added ON glucoport.\(table) FOR INSERT WITH CHECK (\(own));
      CREATE POLICY incomplete_grows ON glucoport.\(table) FOR UPDATE
        USING (\(own) AND \(isIncomplete)) WITH CHECK (\(own));
      CREATE POLICY incomplete_is_dropped ON glucoport.\(table) FOR DELETE USING (\(own) AND \(isIncomplete));
      CREATE POLICY purged_is_erased ON glucoport.\(table) FOR DELETE
        USING (\(own) AND EXISTS (SELECT 1 FROM glucoport.purged p WHERE p.logbook = \(table).logbook))
      """
  }

  /// A function that removes the logins and the name of the transaction's logbook. Requests that wait for its
  /// counter then find no row.
  ///
  /// - Parameter residence: the SQL statement that deletes the state of the copy; empty for a version of the
  ///   schema without this table.
  static func purge(residence: String) -> String {
    """
    CREATE OR REPLACE FUNCTION glucoport.purge(which text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE number bigint;
    BEGIN
      SELECT id INTO number FROM glucoport.logbook WHERE guid = which;
      IF number IS NULL
        OR number IS DISTINCT FROM nullif(current_setting('glucoport.logbook', true), '')::bigint
      THEN RETURN false; END IF;
      PERFORM 1 FROM glucoport.counter WHERE logbook = number FOR UPDATE;
      INSERT INTO glucoport.purged (guid, logbook) VALUES (which, number);
      INSERT INTO glucoport.purged_token (token_hash, guid)
        SELECT token_hash, which FROM glucoport.login WHERE logbook = number
        UNION SELECT r.token_hash, which FROM glucoport.replaced_token r
          JOIN glucoport.login l ON l.name = r.login WHERE l.logbook = number;
      DELETE FROM glucoport.login WHERE logbook = number;
      DELETE FROM glucoport.counter WHERE logbook = number;
      DELETE FROM glucoport.contents WHERE logbook = number;
      \(residence)
      DELETE FROM glucoport.logbook WHERE id = number;
      RETURN true;
    END $body$
    """
  }

  /// A function that deletes some rows of one purged logbook. It returns true while there are more rows.
  private static let erase = """
    CREATE FUNCTION glucoport.erase() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE number bigint; name text; deleted bigint;
    BEGIN
      SELECT logbook INTO number FROM glucoport.purged WHERE NOT is_erased
        ORDER BY logbook LIMIT 1 FOR UPDATE SKIP LOCKED;
      IF number IS NULL THEN RETURN false; END IF;
      PERFORM set_config('glucoport.logbook', number::text, true);
      FOREACH name IN ARRAY ARRAY['blob_part', 'blob', 'accepted', 'record', 'reading', 'series', 'device', 'node', 'epoch']
      LOOP
        EXECUTE format('DELETE FROM glucoport.%I WHERE ctid = ANY (ARRAY(SELECT ctid FROM glucoport.%I '
          'WHERE logbook = $1 LIMIT $2)) AND logbook = $1', name, name)
          USING number, CASE name WHEN 'blob_part' THEN 50 ELSE 20000 END;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        IF deleted > 0 THEN RETURN true; END IF;
      END LOOP;
      UPDATE glucoport.purged SET is_erased = true WHERE logbook = number;
      RETURN true;
    END $body$
    """

  /// The SQL statements that allow offset_source 5, for a reading whose source states only the instant. All
  /// existing rows meet the wider constraint, so PostgreSQL need not check them.
  private static let instants = """
    ALTER TABLE glucoport.reading DROP CONSTRAINT reading_offset_source_check;
    ALTER TABLE glucoport.reading ADD CONSTRAINT reading_offset_source_check
      CHECK (offset_source BETWEEN 0 AND 5) NOT VALID
    """

  /// An SQL query for whether the role of the connection owns the tables. A superuser counts as the owner.
  static let isOwned =
    "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'glucoport.schema_version'::regclass"

  static let closed = """
    REVOKE ALL ON SCHEMA glucoport FROM PUBLIC;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA glucoport FROM PUBLIC
    """

  /// The rights of the server's role, by table. It has no other rights.
  static let rights: [(rights: [String], tables: [String])] = [
    (["SELECT"], ["schema_version", "purged", "purged_token", "cluster", "residence"]),
    (["SELECT", "INSERT"], ["logbook", "epoch", "device", "series", "reading"]),
    (["SELECT", "INSERT", "UPDATE", "DELETE"], ["login", "replaced_token", "blob"]),
    (["SELECT", "INSERT", "UPDATE"], ["counter", "contents", "node", "record", "accepted"]),
    (["SELECT", "INSERT", "DELETE"], ["blob_part", "page_link"]),
  ]

  /// The functions that the server's role may call.
  static let functions = [
    "glucoport.purge(text)", "glucoport.erase()", "glucoport.follow(text, bigint, text)",
    "glucoport.arrive(text, bigint)", "glucoport.adopt(text, bigint, text)",
  ]

  /// The SQL statements that grant a role the rights to serve. They can be repeated.
  static func grants(to role: String) -> [String] {
    let role = "\"" + role.replacing("\"", with: "\"\"") + "\""
    let tables = rights.map { entry in
      let tables = entry.tables.map { "glucoport.\($0)" }.joined(separator: ", ")
      return "GRANT \(entry.rights.joined(separator: ", ")) ON \(tables) TO \(role)"
    }
    return ["GRANT USAGE ON SCHEMA glucoport TO \(role)"] + tables
      + ["GRANT EXECUTE ON FUNCTION \(functions.joined(separator: ", ")) TO \(role)"]
  }
}
