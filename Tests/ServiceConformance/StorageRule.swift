// SPDX-License-Identifier: Apache-2.0

import Testing

/// A rule that every storage must obey, with its check. A storage needs one test whose arguments are the
/// rules in `all`.
package struct StorageRule: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  let check: @Sendable (StoragePlace) async throws -> Void

  /// A rule whose check starts the storage itself, usually more than once.
  init(restarting name: String, _ check: @escaping @Sendable (StoragePlace) async throws -> Void) {
    testDescription = name
    self.check = check
  }

  /// A rule whose check gets a running storage.
  init(_ name: String, _ check: @escaping @Sendable (RunningStorage) async throws -> Void) {
    self.init(restarting: name) { place in
      let stand = try await place.start()
      try await check(stand)
      try await stand.stop()
    }
  }

  /// The rules for every storage.
  package static var all: [StorageRule] {
    ReadingRules.rules + RecordRules.rules + OrderRules.rules + HistoryRules.rules + PartRules.rules
      + DigestRules.rules + ContentRules.rules + PurgeRules.rules
  }
}

/// Collects rules in a list. The rules may be written in loops.
@resultBuilder
enum RuleBuilder<Rule> {
  static func buildExpression(_ rule: Rule) -> [Rule] { [rule] }
  static func buildBlock(_ rules: [Rule]...) -> [Rule] { rules.flatMap { $0 } }
  static func buildArray(_ rules: [[Rule]]) -> [Rule] { rules.flatMap { $0 } }
}
