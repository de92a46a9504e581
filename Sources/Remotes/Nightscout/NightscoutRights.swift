// SPDX-License-Identifier: Apache-2.0

import Nightscout

/// What a login may do, in the notation of Apache Shiro.
struct NightscoutRights: Hashable, Sendable {
  private let permissions: [[[Substring]]]

  /// Nil for what is no list of lists of rights.
  init?(_ groups: JSONValue?) {
    guard let groups = groups?.items else { return nil }
    permissions = groups.flatMap { $0.items?.compactMap(\.text) ?? [] }.map { text in
      text.split(separator: ":").map { $0.split(separator: ",") }
    }
  }

  /// Whether one of the rights covers this one, such as `api:entries:create`.
  func covers(_ right: String) -> Bool {
    let parts = right.split(separator: ":")
    return permissions.contains { permission in
      permission.enumerated().allSatisfy { place, words in
        words.contains("*") || (place < parts.count && words.contains(parts[place]))
      }
    }
  }

  /// What an upload needs, each by its own, as the page of a site takes them.
  static let needed =
    ["create", "read", "update"].map { "api:entries:\($0)" }
    + ["create", "read", "update", "delete"].map { "api:treatments:\($0)" }

  /// What of that is missing.
  var missing: [String] { Self.needed.filter { !covers($0) } }

  /// Whether it covers what sending anything needs.
  var maySend: Bool { covers("api:entries:create") && covers("api:treatments:create") }
}
