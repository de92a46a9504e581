// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The permission of a login token.
package enum LoginRole: String, CaseIterable, Sendable {
  /// Read a logbook.
  case read
  /// Read and change it.
  case write
}

/// A token that the server knows.
package struct Login: Hashable, Sendable {
  /// The name for people.
  package var name: String
  /// The id of its logbook.
  package var logbook: String
  /// Its permission.
  package var role: LoginRole

  package init(name: String, logbook: String, role: LoginRole) {
    self.name = name
    self.logbook = logbook
    self.role = role
  }

  /// The id of a login in logs, which does not name people: eight digits of the name's SHA-256.
  package static func logID(_ name: String) -> String {
    var digest = Digest()
    digest.update(name)
    return String(digest.hexadecimal().prefix(8))
  }
}

/// A login in a list for people. Its token cannot be shown again.
package struct ListedLogin: Hashable, Sendable {
  /// The name for people.
  package let name: String
  /// Its permission.
  package let role: LoginRole
  /// The name of its logbook.
  package let logbook: String
  /// The time at which it was added, in UTC seconds.
  package let createdAt: Int64

  package init(name: String, role: LoginRole, logbook: String, createdAt: Int64) {
    self.name = name
    self.role = role
    self.logbook = logbook
    self.createdAt = createdAt
  }
}
