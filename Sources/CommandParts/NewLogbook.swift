// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The time zone for a logbook that is new, or that was created without a known zone: from a person, or from
/// the system.
package struct NewLogbook {
  /// The zone.
  package let zone: LogbookZone
  /// Whether a person gave it.
  package let isGiven: Bool
  /// Whether the command line gave it. For an existing logbook, it is then only the zone of an input.
  package let isOfCommand: Bool

  /// Whether it is more than the default of a system that was never set up.
  package var isKnown: Bool { LogbookZones(base: zone.base, origin: isGiven ? .given : .system).isKnown }

  /// - Parameter name: the zone from the command line; nil to use the environment or the system.
  /// - Throws: `Failure` of category `configuration` if there is no zone with this name.
  package init(timezone name: String? = nil) throws {
    isOfCommand = name != nil
    if let given = name ?? Host.environment("GLUCOPORT_TIMEZONE") {
      (zone, isGiven) = (try LogbookZone(name: given), true)
    } else {
      (zone, isGiven) = (try LogbookZone(name: Host.systemZone ?? "UTC"), false)
    }
  }

  /// The zone for the times of an input: the zone from the command line, else that of the store. If the store
  /// was created without a known zone and one is known now, it is that one.
  package func zone(of existing: Store?) throws -> LogbookZone {
    guard let existing, try !isOfCommand && !existing.lacksZone(zone, isGiven: isGiven) else { return zone }
    return try existing.timezone()
  }

  /// Opens the store, or creates it.
  ///
  /// - Parameter output: reports a zone that no person gave; nil to report nothing.
  package func openOrCreate(_ path: String, _ role: StoreRole, _ output: Output?) throws -> Store {
    let isNew = try !Store.exists(path: path)
    let store = try Store.openOrCreate(
      path: path, role: role, zone: zone, isGiven: isGiven, isForImport: isOfCommand && role == .importer)
    let isCompleted = try complete(store)
    if isNew || isCompleted, !isGiven, try store.hasKnownZone() {
      output?.message(
        "glucoport: the \(isNew ? "new " : "")logbook has the system's time zone \(zone.name); 'glucoport config timezone ZONE' changes it"
      )
    }
    return store
  }

  /// Gives a store the zone that was unknown when it was created. Returns whether it lacked one.
  @discardableResult
  package func complete(_ store: Store) throws -> Bool {
    try !isOfCommand && store.completeZone(zone, isGiven: isGiven)
  }
}
