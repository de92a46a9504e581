// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

extension StoredReading {
  /// The identity of the reading, which is the same in every store.
  package var identity: ReadingIdentity {
    ReadingIdentity(
      device: device, kind: kind, positionKind: positionKind, position: position, valueBucket: valueBucket,
      occurrence: occurrence)
  }

  /// An id that a person can type, the same in every store. It is `r`, the shown time in seven digits of base
  /// 32, and two digits from the identity. If the time is before 1970 or after 3058, it is `address`.
  package var shortID: String { ShortReadingID(self)?.text ?? address }

  /// The reading with this identity; nil if the store does not have it.
  static func fetch(_ identity: ReadingIdentity, _ database: Database) throws -> StoredReading? {
    let name = SeriesName(identity)
    return try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT \(columns)
          FROM series AS s JOIN device AS d ON d.id = s.device
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
          WHERE d.identity = ? AND s.kind = ? AND s.position_kind = ?
            AND r.position = ? AND r.value_bucket = ? AND r.occurrence = ?
          """),
      arguments: [
        name.device, name.kind.rawValue, name.positionKind.rawValue, identity.position, identity.valueBucket,
        identity.occurrence,
      ]
    ).map(StoredReading.init)
  }
}

/// The parts of a reading's short id. The id contains the shown time, which never changes, so the reading is
/// found without a search of the whole store.
struct ShortReadingID {
  /// Digits that people do not confuse with each other. The letters `i`, `l`, `o` and `u` are left out.
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
  private static let timeDigits = 7
  private static let maxSeconds: Int64 = 1 << (5 * Int64(timeDigits))

  /// The device time of the reading in seconds since 1970, without a time zone; see `DeviceTime.seconds`.
  let seconds: Int64
  /// The two digits from the identity. A person may omit them if the time identifies only one reading.
  let check: String

  init?(_ reading: StoredReading) {
    seconds = reading.deviceTime.seconds
    guard (0..<Self.maxSeconds).contains(seconds) else { return nil }
    check = String(reading.identity.key.prefix(2).map { Self.digits[Int($0 & 31)] })
  }

  /// The parts of a short id in a text; nil if the text is not a short id.
  init?(text: String) {
    guard text.first == "r" || text.first == "R" else { return nil }
    let places = text.dropFirst().lowercased().map { digit in
      Self.digits.firstIndex(of: digit == "o" ? "0" : digit == "i" || digit == "l" ? "1" : digit)
    }
    guard [Self.timeDigits, Self.timeDigits + 2].contains(places.count) else { return nil }
    var seconds: Int64 = 0
    for place in places.prefix(Self.timeDigits) {
      guard let place else { return nil }
      seconds = seconds << 5 | Int64(place)
    }
    let rest = places.dropFirst(Self.timeDigits).compactMap { $0 }
    guard rest.count == places.count - Self.timeDigits else { return nil }
    (self.seconds, check) = (seconds, String(rest.map { Self.digits[$0] }))
  }

  var text: String {
    let time = (0..<Self.timeDigits).reversed().map { Self.digits[Int(seconds >> (5 * Int64($0)) & 31)] }
    return "r" + String(time) + check
  }

  func names(_ reading: StoredReading) -> Bool {
    guard reading.deviceTime.seconds == seconds else { return false }
    return check.isEmpty || ShortReadingID(reading)?.check == check
  }
}

extension Store {
  /// The reading with a short id; nil if the store does not have it.
  ///
  /// - Throws: `Failure` of category `usage` if several readings have it.
  func reading(short id: ShortReadingID) throws -> StoredReading? {
    var filter = ItemFilter()
    (filter.recordKinds, filter.includesWithdrawn) = ([], true)
    // No offset is longer than a day, so the instant is within a day of the shown time.
    let day: Int64 = 86_400
    (filter.since, filter.until) = (id.seconds - day, id.seconds + day + 1)
    var found: [StoredReading] = []
    try forEachItem(filter) { item in
      if case .reading(let reading) = item, id.names(reading) { found.append(reading) }
    }
    guard found.count <= 1 else {
      throw Failure(
        .usage,
        "\(id.text): \(found.count) readings have this id; use one of \(found.prefix(5).map(\.address).joined(separator: ", "))"
      )
    }
    return found.first
  }
}
