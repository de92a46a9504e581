// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a login token permits.
public enum LoginRole: String, CaseIterable, Sendable {
  /// To read a logbook.
  case read
  /// To read and to change it.
  case write
}

/// A token that the server knows.
public struct Login: Hashable, Sendable {
  /// The name under which people find it.
  public var name: String
  /// The logbook it opens.
  public var logbook: String
  /// What it permits there.
  public var role: LoginRole

  /// A token of this name.
  public init(name: String, logbook: String, role: LoginRole) {
    self.name = name
    self.logbook = logbook
    self.role = role
  }

  /// By which logs tell logins apart without naming people: eight digits of the name's SHA-256.
  public static func logID(_ name: String) -> String {
    var digest = Digest()
    digest.update(name)
    return String(digest.hexadecimal().prefix(8))
  }
}

/// A login as people list it. Its token cannot be shown again.
public struct ListedLogin: Hashable, Sendable {
  /// The name under which people find it.
  public let name: String
  /// What it permits.
  public let role: LoginRole
  /// The name of the logbook that it opens.
  public let logbook: String
  /// When it was added, in UTC seconds.
  public let createdAt: Int64

  /// A login with these properties.
  public init(name: String, role: LoginRole, logbook: String, createdAt: Int64) {
    self.name = name
    self.role = role
    self.logbook = logbook
    self.createdAt = createdAt
  }
}
