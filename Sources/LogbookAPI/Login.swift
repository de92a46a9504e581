// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a login token permits.
package enum LoginRole: String, CaseIterable, Sendable {
  /// To read a logbook.
  case read
  /// To read and to change it.
  case write
}

/// A token that the server knows.
package struct Login: Hashable, Sendable {
  /// The name under which people find it.
  package var name: String
  /// The logbook it opens.
  package var logbook: String
  /// What it permits there.
  package var role: LoginRole

  /// A token of this name.
  package init(name: String, logbook: String, role: LoginRole) {
    self.name = name
    self.logbook = logbook
    self.role = role
  }

  /// By which logs distinguish logins without naming people: eight digits of the name's SHA-256.
  package static func logID(_ name: String) -> String {
    var digest = Digest()
    digest.update(name)
    return String(digest.hexadecimal().prefix(8))
  }
}

/// A login as people list it. Its token cannot be shown again.
package struct ListedLogin: Hashable, Sendable {
  /// The name under which people find it.
  package let name: String
  /// What it permits.
  package let role: LoginRole
  /// The name of the logbook that it opens.
  package let logbook: String
  /// When it was added, in UTC seconds.
  package let createdAt: Int64

  /// A login with these properties.
  package init(name: String, role: LoginRole, logbook: String, createdAt: Int64) {
    self.name = name
    self.role = role
    self.logbook = logbook
    self.createdAt = createdAt
  }
}
