// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Testing

/// Runs a rule with an empty logbook. The rule gets the services of two logins: one may write, the other may
/// only read.
package protocol ServiceBench: Sendable {
  func with(
    _ body: @Sendable (_ writer: any LogbookService, _ reader: any LogbookService) async throws -> Void
  ) async throws
}

extension ServiceBench {
  /// Checks that the service obeys a rule.
  package func check(_ rule: ServiceRule) async throws { try await with(rule.check) }
}

/// A rule that the sync engine requires of every service, with its check. A service needs one test whose
/// arguments are `core` and the rules for its ports.
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

  /// The rules for every service.
  package static var core: [ServiceRule] { CoreRules.rules }
  /// The rules for a service that offers the port `parts`.
  package static var parts: [ServiceRule] { PortRules.parts }
  /// The rules for a service that offers the port `digests`.
  package static var digests: [ServiceRule] { PortRules.digests }
  /// The rules for a service that offers the port `snapshots`.
  package static var snapshots: [ServiceRule] { PortRules.snapshots }
  /// The rules for a service that offers the port `attachments`.
  package static var attachments: [ServiceRule] { PortRules.attachments }
  /// The rules for a service that offers the port `purging`.
  package static var purging: [ServiceRule] { PortRules.purging }
  /// The rules for a service that offers the port `removal`.
  package static var removal: [ServiceRule] { SitePortRules.removal }
  /// The rules for a service that offers the port `moving`.
  package static var moving: [ServiceRule] { SitePortRules.moving }
  /// The rules for a service that offers the port `pages`, with pages.
  package static var pages: [ServiceRule] { SitePortRules.pages }
  /// The rules for a logbook in the storage of a server.
  package static var ofStorages: [ServiceRule] { core + parts + digests + attachments + purging }
}
