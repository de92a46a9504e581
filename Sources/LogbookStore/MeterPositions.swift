// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// Up to which reading the memory of a meter was stored, as the JSON of a setting. The name of the setting
/// contains the number of the device.
struct StoredPosition: Codable {
  private let number: Int64
  private let mark: String
  private let kind: String
  private let time: Int64

  init(_ position: MeterPosition) {
    (number, mark) = (position.number, position.mark)
    (kind, time) = (position.kind.name, position.deviceTime.seconds)
  }

  /// The position; nil if only a newer program knows the kind.
  fileprivate var position: MeterPosition? {
    ReadingKind(name: kind).map {
      MeterPosition(number: number, mark: mark, kind: $0, deviceTime: DeviceTime(seconds: time))
    }
  }

  fileprivate static func name(_ device: Int64) -> String { "meter \(device)" }

  func save(_ device: Int64, _ database: Database) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text = String(decoding: try encoder.encode(self), as: UTF8.self)
    try database.executeCached(
      sql: "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      arguments: [Self.name(device), text])
  }
}

extension Store {
  /// The position up to which the memory of a meter is stored; nil to read all of it. If the reading at the
  /// position is no longer visible, the result is nil: readings that were undone or hidden must be read
  /// again.
  package func meterPosition(of meter: Device) throws -> MeterPosition? {
    try read { database in
      guard let device = try meter.storedID(database),
        let text = try String.fetchOne(
          database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [StoredPosition.name(device)]),
        let position = try Self.position(in: text)
      else { return nil }
      let isShown = try Bool.fetchOne(
        database,
        sql: """
          SELECT EXISTS (SELECT 1 FROM series AS s CROSS JOIN reading AS r
            ON r.partition = s.partition AND r.position = ?3 AND r.series = s.id
            WHERE s.device = ?1 AND s.kind = ?2 AND s.position_kind = 0 AND \(Withdrawn.readingIsShown))
          """, arguments: [device, position.kind.rawValue, position.deviceTime.seconds])
      return isShown == true ? position : nil
    }
  }

  private static func position(in text: String) throws -> MeterPosition? {
    do {
      return try JSONDecoder().decode(StoredPosition.self, from: Data(text.utf8)).position
    } catch is DecodingError {
      // The setting is from another version of the program, so the whole memory of the meter is read. Known
      // readings are not stored again.
      return nil
    }
  }
}
