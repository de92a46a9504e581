// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The time zone of a logbook that is about to be created: what a person gave, or what the system has.
struct NewLogbook {
  /// The zone.
  let zone: LogbookZone
  /// Whether a person gave it.
  let isGiven: Bool

  /// - Parameter name: the zone that the command line gives; nil to look further.
  /// - Throws: `Failure` of category `configuration` when no zone has the name that was given.
  init(timezone name: String? = nil) throws {
    if let given = name ?? Host.environment("GLUCOPORT_TIMEZONE") {
      (zone, isGiven) = (try LogbookZone(name: given), true)
    } else {
      (zone, isGiven) = (try LogbookZone(name: Host.systemZone ?? "UTC"), false)
    }
  }

  /// Opens the store, or creates it.
  ///
  /// - Parameter output: reports a zone that nobody gave; nil for a command that reports nothing.
  func openOrCreate(_ path: String, _ role: StoreRole, _ output: Output?) throws -> Store {
    let isNew = try !Store.exists(path: path)
    let store = try Store.openOrCreate(path: path, role: role, zone: zone, isGiven: isGiven)
    if isNew, !isGiven, try store.hasKnownZone() {
      output?.message(
        "glucoport: the new logbook has the system's time zone \(zone.name); 'glucoport config timezone ZONE' changes it"
      )
    }
    return store
  }
}
