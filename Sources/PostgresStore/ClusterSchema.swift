// SPDX-License-Identifier: Apache-2.0

/// The second and the third version of the schema, which allow logbooks in further databases.
///
/// The database with the logins is the directory. It lists further databases, which are called clusters, and
/// states the cluster of each logbook. A copy of a logbook outside of the directory is called a guest. Each
/// database also stores the state of its copies.
extension PostgresSchema {
  /// The name of the directory's own database in the list of clusters.
  static let home = "default"

  static let clusters: [String] = [
    """
    -- The databases for logbooks. An empty address is this database.
    CREATE TABLE glucoport.cluster (
      name text COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
      address text COLLATE "C" NOT NULL UNIQUE
    );
    INSERT INTO glucoport.cluster (name, address) VALUES ('\(home)', '');
    -- A guest is a logbook whose logins are in another database.
    ALTER TABLE glucoport.logbook
      ADD COLUMN cluster text COLLATE "C" NOT NULL DEFAULT '\(home)' REFERENCES glucoport.cluster(name),
      ADD COLUMN moves bigint NOT NULL DEFAULT 0 CHECK (moves >= 0),
      ADD COLUMN is_guest boolean NOT NULL DEFAULT false
    """,
    """
    -- The copy that this database has of a logbook. Without a row it is the first one, and is not being moved.
    CREATE TABLE glucoport.residence (
      logbook bigint PRIMARY KEY, moves bigint NOT NULL CHECK (moves >= 0),
      state text COLLATE "C" NOT NULL CHECK (state IN ('here', 'leaving', 'left')),
      cluster text COLLATE "C", CHECK ((state = 'left') = (cluster IS NOT NULL))
    )
    """,
    policy(of: "residence"),
    """
    CREATE POLICY left_is_erased ON glucoport.blob FOR DELETE USING (\(own) AND \(hasLeft("blob")));
    CREATE POLICY left_is_erased ON glucoport.blob_part FOR DELETE USING (\(own) AND \(hasLeft("blob_part")))
    """,
    follow, purge(residence: "DELETE FROM glucoport.residence WHERE logbook = number;"), closed,
  ]

  private static func hasLeft(_ table: String) -> String {
    "EXISTS (SELECT 1 FROM glucoport.residence r WHERE r.logbook = \(table).logbook AND r.state = 'left')"
  }

  /// The SQL function that stores in the directory to which cluster a logbook was moved. The condition on the
  /// number of moves prevents an earlier move from replacing a later one.
  private static let follow = """
    CREATE FUNCTION glucoport.follow(which text, known_moves bigint, target text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      WITH changed AS (
        UPDATE glucoport.logbook SET cluster = target, moves = known_moves + 1
        WHERE guid = which AND moves = known_moves AND NOT is_guest RETURNING 1
      )
      SELECT count(*) > 0 FROM changed
    $body$
    """

  /// SQL functions with which a database records how many moves led to its copy of a logbook (a guest). A
  /// request that uses the copy records the number, and so does the end of a move. With this number, a
  /// directory that was restored from a backup is corrected. If the table `residence` has a larger number for
  /// a copy, the move to this copy has not ended.
  static let confirmations = [arrive, adopt, closed]

  /// The SQL function that stores in a guest's database the number of moves that led to this copy.
  private static let arrive = """
    CREATE FUNCTION glucoport.arrive(which text, known_moves bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      UPDATE glucoport.logbook SET moves = known_moves WHERE guid = which AND moves < known_moves AND is_guest
    $body$
    """

  /// The SQL function that corrects a directory that was restored from a backup. It records where a later
  /// copy is, and closes the directory's own copy. Requests that change the logbook either end before this,
  /// or see its result.
  private static let adopt = """
    CREATE FUNCTION glucoport.adopt(which text, known_moves bigint, target text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE number bigint;
    BEGIN
      SELECT id INTO number FROM glucoport.logbook WHERE guid = which AND moves < known_moves AND NOT is_guest;
      IF number IS NULL THEN RETURN false; END IF;
      PERFORM set_config('glucoport.logbook', number::text, true);
      PERFORM 1 FROM glucoport.counter WHERE logbook = number FOR UPDATE;
      PERFORM 1 FROM glucoport.contents WHERE logbook = number FOR UPDATE;
      UPDATE glucoport.logbook SET cluster = target, moves = known_moves WHERE id = number AND moves < known_moves;
      IF NOT FOUND THEN RETURN false; END IF;
      IF target <> '\(home)' THEN
        INSERT INTO glucoport.residence AS r (logbook, moves, state, cluster) VALUES (number, 0, 'left', target)
          ON CONFLICT (logbook) DO UPDATE SET state = 'left', cluster = target WHERE r.moves < known_moves;
      END IF;
      RETURN true;
    END $body$
    """

  /// The tables whose rows are deleted when a copy is removed. The other tables keep one row for each copy,
  /// with which outdated requests are recognised.
  static let rowsOfCopy = [
    "blob_part", "blob", "accepted", "record", "reading", "series", "device", "node", "epoch",
  ]
}
