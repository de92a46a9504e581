// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The time zone for a new logbook, or for a logbook whose zone was unknown when it was created. The zone is
/// stated by a person, or is that of the system.
package struct NewLogbook {
  /// The time zone itself.
  package let zone: LogbookZone
  /// Whether a person stated the zone, on the command line or in the environment.
  package let isGiven: Bool
  /// Whether the command line states the zone. For an existing logbook, such a zone applies only to the times
  /// of one input.
  package let isOfCommand: Bool

  /// Whether the zone is certain enough to be stored. The default zone of a system that was never set up is
  /// not certain.
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

  /// The zone for the times of an input: that of the command line, else that of the store. If the store lacks
  /// a known zone, `zone` is used.
  package func zone(of existing: Store?) throws -> LogbookZone {
    guard let existing, try !isOfCommand && !existing.lacksZone(zone, isGiven: isGiven) else { return zone }
    return try existing.timezone()
  }

  /// Opens the store at a path, or creates it with this zone.
  ///
  /// - Parameter output: gets a message if the zone of a new store was not stated by a person; nil for no
  ///   message.
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

  /// Stores this zone in a store that was created without a known zone. Returns whether it was stored.
  @discardableResult
  package func complete(_ store: Store) throws -> Bool {
    try !isOfCommand && store.completeZone(zone, isGiven: isGiven)
  }
}
