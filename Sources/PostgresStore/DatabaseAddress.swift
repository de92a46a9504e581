// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Where a database is: a connection string as libpq accepts it, a URI or keywords with values. Service files,
/// `PGPASSFILE` and further variables of the environment apply as in every program with libpq.
package struct DatabaseAddress: Sendable {
  let library: LibPQ
  /// In the order in which the library applies them: a later one overrides an earlier one.
  private(set) var options: [(key: String, value: String)]
  /// Whether the text states a role.
  let hasRole: Bool

  /// Seconds for one host of the address.
  private static let connectSeconds = 5
  /// Milliseconds after which a connection whose data are not confirmed ends.
  private static let unconfirmedMilliseconds = 15_000

  /// Loads the library and checks the text.
  ///
  /// - Throws: `Failure`: `usage` for an invalid text or one with a password, `configuration` without the library.
  package init(_ text: String) throws(Failure) {
    library = try LibPQ.loaded.get()
    let stated = try library.options(of: text)
    guard stated["password"] == nil, stated["sslpassword"] == nil else {
      throw Failure(
        .usage,
        "--database must not hold a password, which other users of this machine could read; put it into the file of PGPASSFILE"
      )
    }
    hasRole = stated["user"] != nil
    options = [
      ("connect_timeout", String(Self.connectSeconds)),
      ("tcp_user_timeout", String(Self.unconfirmedMilliseconds)),
      ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
      ("fallback_application_name", "glucoport"),
      // A standby lags: a client that moves between servers would miss changes that it was told of.
      ("target_session_attrs", "read-write"),
      ("dbname", text),
      ("client_encoding", "UTF8"),
    ]
  }

  /// The same address for another role.
  func with(role: String) -> DatabaseAddress {
    var address = self
    address.options.append(("user", role))
    return address
  }
}
