// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Names of places that mean a time zone: `Berlin` for `Europe/Berlin`.
enum ZonePlace {
  private static let names: Set<String> = [
    "zone", "place", "location", "city", "town", "where", "country", "travel", "ort", "stadt", "lieu",
    "ville",
    "lugar", "ciudad", "luogo", "città", "cidade", "plaats", "stad", "sted", "by", "plats", "timezone", "tz",
    "zeitzone",
  ]

  /// Whether this is a name for a column of places.
  static func isNameOfPlaces(_ words: HeaderWords) -> Bool { !words.words.isDisjoint(with: names) }

  /// The winter and summer offsets of a zone, or of the zone of a place, as one text; nil for any other text.
  /// Zones with the same two offsets count as one, since their times are the same.
  static func key(of text: String) -> String? {
    guard let name = text.contains("/") ? text : zone(of: text), let zone = NamedZone(known: name) else {
      return nil
    }
    return "zone \(zone.offset(atUTC: winter)) \(zone.offset(atUTC: summer))"
  }

  /// The zone of a place; nil for any other text.
  static func zone(of place: String) -> String? { zones[place.lowercased().replacing(" ", with: "_")] }

  /// 1 January and 1 July 2026.
  private static let (winter, summer): (Int64, Int64) = (1_767_225_600, 1_782_864_000)

  private static let zones: [String: String] = {
    // Names such as `Etc/GMT+5` are left out: they count to the west, so their sign is not that of the
    // offset.
    let named = NamedZone.names.filter { !$0.hasPrefix("Etc/") && !$0.contains(where: \.isNumber) }.compactMap
    { name in
      name.split(separator: "/").last.map { (String($0).lowercased(), name) }
    }
    return Dictionary(named) { first, _ in first }
  }()
}
