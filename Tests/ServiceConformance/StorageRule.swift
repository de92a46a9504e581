// SPDX-License-Identifier: Apache-2.0

import Testing

/// The rules for every storage, and their checks. A new storage needs one test with `all` as its arguments.
package struct StorageRule: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  let check: @Sendable (StoragePlace) async throws -> Void

  /// A rule that starts the storage itself, more than once.
  init(restarting name: String, _ check: @escaping @Sendable (StoragePlace) async throws -> Void) {
    testDescription = name
    self.check = check
  }

  /// A rule for a running storage.
  init(_ name: String, _ check: @escaping @Sendable (RunningStorage) async throws -> Void) {
    self.init(restarting: name) { place in
      let stand = try await place.start()
      try await check(stand)
      try await stand.stop()
    }
  }

  /// Every rule.
  package static var all: [StorageRule] {
    ReadingRules.rules + RecordRules.rules + OrderRules.rules + HistoryRules.rules + PartRules.rules
      + DigestRules.rules + ContentRules.rules + PurgeRules.rules
  }
}

/// Builds a list of rules, also from loops.
@resultBuilder
enum RuleBuilder<Rule> {
  static func buildExpression(_ rule: Rule) -> [Rule] { [rule] }
  static func buildBlock(_ rules: [Rule]...) -> [Rule] { rules.flatMap { $0 } }
  static func buildArray(_ rules: [[Rule]]) -> [Rule] { rules.flatMap { $0 } }
}
