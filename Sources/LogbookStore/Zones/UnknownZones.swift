// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// Zones that the logbook states and this system does not know, because its time zone data is too old.
/// Instead of an unknown base zone, the last known one is used. A period with an unknown zone is ignored.
/// Once the system knows the zones, all offsets are derived again.
enum UnknownZones {
  /// Stores the zones that the current offsets lack, and the base zone for the time when another one is
  /// stated.
  static func note(_ zones: LogbookZones, _ database: Database) throws {
    let names = zones.unknownNames.joined(separator: "\n")
    if try names != Store.setting(.unknownZones, database) ?? "" {
      if names.isEmpty {
        try Store.clear(.unknownZones, database)
      } else {
        try Store.set(.unknownZones, names, database)
      }
    }
    if zones.unknownBase == nil, try Store.setting(.timezone, database) != zones.base.name {
      try Store.set(.timezone, zones.base.name, database)
    }
  }

  /// Derives every offset again if the system knows one of the zones now.
  static func deriveWhatIsKnown(_ database: Database) throws {
    guard let names = try Store.setting(.unknownZones, database),
      names.split(separator: "\n").contains(where: { NamedZone(known: String($0)) != nil })
    else { return }
    try database.inTransaction(.immediate) {
      try ZoneStatements.applyAll(database)
      return .commit
    }
  }
}

extension LogbookZones {
  /// The names of all zones that this system does not know, the base zone first.
  package var unknownNames: [String] { (unknownBase.map { [$0] } ?? []) + unknownPeriods.sorted() }
}
