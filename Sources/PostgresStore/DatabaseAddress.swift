// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The address of a database, as a connection string that libpq accepts: a URI, or keywords with values. As
/// in every program that uses libpq, service files, `PGPASSFILE` and further environment variables apply.
package struct DatabaseAddress: Sendable {
  let library: LibPQ
  /// The options in the order in which libpq applies them: a later option overrides an earlier one.
  private(set) var options: [(key: String, value: String)]
  /// Whether the text states a role (a user name).
  let hasRole: Bool

  /// The time limit for connecting to one host of the address, in seconds.
  private static let connectSeconds = 5
  /// The time in milliseconds after which a connection ends if the server does not confirm sent data.
  private static let unconfirmedMilliseconds = 15_000

  /// Loads libpq, and checks the text.
  ///
  /// - Throws: `Failure`: `usage` for an invalid text or one with a password, `configuration` if libpq is not
  ///   installed.
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
      // Only the primary server is used, since a standby gets changes later. A client that gets responses
      // from both servers would miss changes that an earlier response contained.
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
