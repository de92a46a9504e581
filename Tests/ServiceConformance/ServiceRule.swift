// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Testing

/// What gives out an empty logbook to a rule, by two logins: one that may write, and one that may only read.
package protocol ServiceBench: Sendable {
  func with(
    _ body: @Sendable (_ writer: any LogbookService, _ reader: any LogbookService) async throws -> Void
  ) async throws
}

extension ServiceBench {
  /// Holds the service to a rule.
  package func check(_ rule: ServiceRule) async throws { try await with(rule.check) }
}

/// What the sync engine relies on, for every service, and how that is shown. A new service needs one test with `core`
/// and the sections of the ports that it offers as its arguments.
package struct ServiceRule: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  let check: @Sendable (_ writer: any LogbookService, _ reader: any LogbookService) async throws -> Void

  init(
    _ name: String,
    _ check:
      @escaping @Sendable (_ writer: any LogbookService, _ reader: any LogbookService) async throws
      -> Void
  ) {
    testDescription = name
    self.check = check
  }

  /// What every service does.
  package static var core: [ServiceRule] { CoreRules.rules }
  /// For a service that offers `parts`.
  package static var parts: [ServiceRule] { PortRules.parts }
  /// For a service that offers `digests`.
  package static var digests: [ServiceRule] { PortRules.digests }
  /// For a service that offers `snapshots`.
  package static var snapshots: [ServiceRule] { PortRules.snapshots }
  /// For a service that offers `attachments`.
  package static var attachments: [ServiceRule] { PortRules.attachments }
  /// For a service that offers `purging`.
  package static var purging: [ServiceRule] { PortRules.purging }
  /// For a service that offers everything but snapshots, for which digests are.
  package static var all: [ServiceRule] { core + parts + digests + attachments + purging }
}
