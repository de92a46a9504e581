// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Testing

/// Provides an empty logbook for a rule, with two logins: one that may write, and one that may only read.
package protocol ServiceBench: Sendable {
  func with(
    _ body: @Sendable (_ writer: any LogbookService, _ reader: any LogbookService) async throws -> Void
  ) async throws
}

extension ServiceBench {
  /// Checks a rule with the service.
  package func check(_ rule: ServiceRule) async throws { try await with(rule.check) }
}

/// The requirements of the sync engine on every service, and their checks. A new service needs one test with
/// `core` and the sections of its ports as the arguments.
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

  /// Rules for every service.
  package static var core: [ServiceRule] { CoreRules.rules }
  /// Rules for a service that offers `parts`.
  package static var parts: [ServiceRule] { PortRules.parts }
  /// Rules for a service that offers `digests`.
  package static var digests: [ServiceRule] { PortRules.digests }
  /// Rules for a service that offers `snapshots`.
  package static var snapshots: [ServiceRule] { PortRules.snapshots }
  /// Rules for a service that offers `attachments`.
  package static var attachments: [ServiceRule] { PortRules.attachments }
  /// Rules for a service that offers `purging`.
  package static var purging: [ServiceRule] { PortRules.purging }
  /// Rules for a service with all ports except snapshots, which digests replace.
  package static var all: [ServiceRule] { core + parts + digests + attachments + purging }
}
