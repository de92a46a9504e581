// SPDX-License-Identifier: Apache-2.0

import Nightscout
import TestServers

@testable import Remotes

/// A Nightscout site on loopback, with the narrowest role that may write and one that may only read.
final class LoopbackNightscout: Sendable {
  static let rights = ["api:entries:create,read,update", "api:treatments:create,read,update,delete"]

  let site: NightscoutStandIn
  private let writer: String
  private let reader: String

  var url: String { site.url }

  /// - Parameter frozenAt: where the server's clock does not move, in milliseconds; nil for one that runs.
  init(frozenAt: Int64? = nil) throws {
    site = try NightscoutStandIn(frozenAt: frozenAt)
    writer = site.addSubject("writer", rights: Self.rights)
    reader = site.addSubject("reader", roles: ["readable"])
  }

  func token(canWrite: Bool) -> String { canWrite ? writer : reader }

  /// A running site whose memory holds more than twenty treatments: then it reads only those of the last minutes again.
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

/// Where the stand-in has a type of the same name, the tests mean the one under test.
typealias NightscoutDocument = Nightscout.NightscoutDocument
