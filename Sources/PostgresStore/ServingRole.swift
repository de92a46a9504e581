// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Checks the role of a server. It must have the rights that `PostgresSchema.grants` grants, and none with
/// which it could change readings.
enum ServingRole {
  /// Checks the role of a connection, and each role that it could take by SET ROLE.
  ///
  /// - Parameter read: runs a query on the connection.
  /// - Throws: `Failure`: `permission` for a superfluous or a missing right, `configuration` if row security
  ///   is off; `DatabaseError`.
  static func check(_ read: (_ query: String) throws(DatabaseError) -> DatabaseRows) throws {
    func first(_ query: String) throws -> String? {
      let rows = try read(query)
      return rows.count == 0 ? nil : try rows.text(0, 0)
    }
    if let right = try first(excess) {
      throw Failure(
        .permission,
        "this database role may change readings or ignore row security (\(right)); let serve use a role that 'glucoport serve database prepare --grant-to' permitted"
      )
    }
    if let right = try first(missing) {
      throw Failure(
        .permission,
        "this database role may not serve (no \(right)); run 'glucoport serve database prepare --grant-to' as the owner"
      )
    }
    if let table = try first(unsecured) {
      throw Failure(
        .configuration,
        "the row security of \(table) is off; run 'ALTER TABLE \(table) ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY' as the owner"
      )
    }
  }

  /// Throws if the query `PostgresSchema.isOwned` returned false. Called before work that only the owner may
  /// do.
  static func requireOwner(_ answer: DatabaseRows) throws(DatabaseError) {
    guard try answer.integer(0, 0) == 1 else { throw .refused(state: "42501", object: "") }
  }

  /// The granted rights by table, as a subquery for `WITH`.
  private static let granted: String = {
    let rows = PostgresSchema.rights.flatMap { entry in
      entry.tables.map { "('\($0)', ARRAY['\(entry.rights.joined(separator: "', '"))'])" }
    }
    return "granted (name, rights) AS (VALUES \(rows.joined(separator: ", ")))"
  }()

  /// An SQL query for the first right that a server must not have. A superuser, or a role with BYPASSRLS,
  /// could see rows of all logbooks if a statement lacks a condition. The same is true for a right on a
  /// partition, since row security of partitions is off.
  private static let excess = """
    WITH \(granted),
    role AS (SELECT oid, rolname, rolsuper OR rolbypassrls AS is_open FROM pg_roles WHERE pg_has_role(oid, 'MEMBER'))
    SELECT r.rolname || ': BYPASSRLS' FROM role r WHERE is_open
    UNION ALL SELECT r.rolname || ': owner of ' || c.relname
      FROM role r JOIN pg_class c ON c.relowner = r.oid WHERE c.relnamespace = 'glucoport'::regnamespace
    UNION ALL SELECT r.rolname || ': ' || a.name || ' on ' || c.relname
      FROM role r
      CROSS JOIN (VALUES ('SELECT', true), ('INSERT', true), ('UPDATE', true), ('DELETE', false), ('TRUNCATE', false),
        ('TRIGGER', false), ('REFERENCES', true)) AS a (name, is_of_columns)
      CROSS JOIN pg_class c LEFT JOIN granted g ON g.name = c.relname
      WHERE c.relnamespace = 'glucoport'::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT a.name = ANY (coalesce(g.rights, '{}'))
        AND CASE WHEN a.is_of_columns THEN has_any_column_privilege(r.oid, c.oid, a.name)
          ELSE has_table_privilege(r.oid, c.oid, a.name) END
    LIMIT 1
    """

  /// An SQL query for the first right that a server lacks.
  private static let missing = """
    WITH \(granted)
    SELECT a.name || ' on ' || g.name FROM granted g CROSS JOIN unnest(g.rights) AS a (name)
      WHERE NOT has_table_privilege('glucoport.' || g.name, a.name)
    UNION ALL SELECT 'EXECUTE on ' || name FROM unnest(ARRAY['\(PostgresSchema.functions.joined(separator: "', '"))']) AS f (name)
      WHERE NOT coalesce(has_function_privilege(to_regprocedure(name), 'EXECUTE'), false)
    LIMIT 1
    """

  /// An SQL query for the first table that lacks row security.
  private static let unsecured = """
    SELECT 'glucoport.' || relname FROM pg_class
    WHERE relnamespace = 'glucoport'::regnamespace
      AND relname IN ('\(PostgresSchema.secured.joined(separator: "', '"))') AND NOT (relrowsecurity AND relforcerowsecurity)
    LIMIT 1
    """
}
