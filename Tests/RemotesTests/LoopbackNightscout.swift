// SPDX-License-Identifier: Apache-2.0

import Nightscout
import TestServers

@testable import Remotes

/// A simulated Nightscout site on loopback, with one token that may write and one that may only read. The
/// first has only the rights that an upload needs.
final class LoopbackNightscout: Sendable {
  static let rights = ["api:entries:create,read,update", "api:treatments:create,read,update,delete"]

  let site: NightscoutStandIn
  private let writer: String
  private let reader: String

  var url: String { site.url }

  /// - Parameter frozenAt: the time at which the server's clock is stopped, in milliseconds; nil for a
  ///   running clock.
  init(frozenAt: Int64? = nil) throws {
    site = try NightscoutStandIn(frozenAt: frozenAt)
    writer = site.addSubject("writer", rights: Self.rights)
    reader = site.addSubject("reader", roles: ["readable"])
  }

  func token(canWrite: Bool) -> String { canWrite ? writer : reader }

  /// A site with more than 20 treatments in memory. Such a site reloads only the treatments of the last
  /// minutes.
  static func withFullMemory(frozenAt clock: Int64) throws -> LoopbackNightscout {
    let loopback = try LoopbackNightscout(frozenAt: clock)
    let phone = loopback.site.actAsPhoneApp()
    for hour in 1...25 {
      phone.addTreatment([
        "eventType": "Note", "notes": "old",
        "created_at": .string(NightscoutTime.utcText(clock - Int64(hour) * 3_600_000)),
      ])
    }
    loopback.site.settle()
    return loopback
  }
}

/// In this target the name means the tested type, not the type of the same name in the simulated site.
typealias NightscoutDocument = Nightscout.NightscoutDocument
