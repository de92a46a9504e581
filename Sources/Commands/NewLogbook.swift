// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The time zone of a logbook that is about to be created, or that was created where no zone was known: what a person gave, or
/// what the system has.
struct NewLogbook {
  /// The zone.
  let zone: LogbookZone
  /// Whether a person gave it.
  let isGiven: Bool
  /// Whether the command line gave it: to a logbook that exists that says nothing but the zone of an input.
  let isOfCommand: Bool

  /// - Parameter name: the zone that the command line gives; nil to look further.
  /// - Throws: `Failure` of category `configuration` when no zone has the name that was given.
  init(timezone name: String? = nil) throws {
    isOfCommand = name != nil
    if let given = name ?? Host.environment("GLUCOPORT_TIMEZONE") {
      (zone, isGiven) = (try LogbookZone(name: given), true)
    } else {
      (zone, isGiven) = (try LogbookZone(name: Host.systemZone ?? "UTC"), false)
    }
  }

  /// What places times of an input: what the command line gives, else the zone of the store, unless that was created where
  /// none was known and one is now.
  func zone(of existing: Store?) throws -> LogbookZone {
    guard let existing, try !isOfCommand && !existing.lacksZone(zone, isGiven: isGiven) else { return zone }
    return try existing.timezone()
  }

  /// Opens the store, or creates it.
  ///
  /// - Parameter output: reports a zone that nobody gave; nil for a command that reports nothing.
  func openOrCreate(_ path: String, _ role: StoreRole, _ output: Output?) throws -> Store {
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

  /// Gives a store the zone that was not known when it was created; returns whether it lacked one.
  @discardableResult
  func complete(_ store: Store) throws -> Bool {
    try !isOfCommand && store.completeZone(zone, isGiven: isGiven)
  }
}
