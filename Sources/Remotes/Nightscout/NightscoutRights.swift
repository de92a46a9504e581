// SPDX-License-Identifier: Apache-2.0

import Nightscout

/// The permissions of a login, in the notation of Apache Shiro.
struct NightscoutRights: Hashable, Sendable {
  private let permissions: [[[Substring]]]

  /// Nil for anything other than a list of lists of rights.
  init?(_ groups: JSONValue?) {
    guard let groups = groups?.items else { return nil }
    permissions = groups.flatMap { $0.items?.compactMap(\.text) ?? [] }.map { text in
      text.split(separator: ":").map { $0.split(separator: ",") }
    }
  }

  /// Whether the rights include this one, such as `api:entries:create`.
  func covers(_ right: String) -> Bool {
    let parts = right.split(separator: ":")
    return permissions.contains { permission in
      permission.enumerated().allSatisfy { place, words in
        words.contains("*") || (place < parts.count && words.contains(parts[place]))
      }
    }
  }

  /// The rights that an upload needs, each in the form for a site's page of roles.
  static let needed =
    ["create", "read", "update"].map { "api:entries:\($0)" }
    + ["create", "read", "update", "delete"].map { "api:treatments:\($0)" }

  /// The needed rights that are missing.
  var missing: [String] { Self.needed.filter { !covers($0) } }

  /// Whether it permits sending anything at all.
  var maySend: Bool { covers("api:entries:create") && covers("api:treatments:create") }
}
