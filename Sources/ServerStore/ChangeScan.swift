// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

/// Reads the changes behind a place in their order: readings and records, merged by their numbers.
struct ChangeScan {
  /// The most changes that one page passes over, so that a long stretch of the node's own writing is no long wait.
  private static let maxScanned = 50_000

  private let database: Database
  private let node: Int64
  private let limit: Int
  private var builder: PageBuilder
  private var place: Int64

  /// - Parameter limit: the most items on the page, of which it takes at least one.
  init(_ database: Database, node: Int64, after place: Int64, limit: Int) {
    self.database = database
    self.node = node
    self.place = place
    builder = PageBuilder(database)
    self.limit = min(max(limit, 1), Wire.maxReadings)
  }

  /// The page, in the caller's transaction; nil when nothing follows the place.
  mutating func page() throws -> ChangePage? {
    let positions = Positions(database: database)
    let last = try positions.last()
    guard place < last else { return nil }
    try scan()
    return builder.page(cursor: try positions.text(place), hasMore: place < last)
  }
}

extension ChangeScan {
  private mutating func scan() throws {
    let rows = try ChangeRows(database, after: place)
    var scanned = 0
    while scanned < Self.maxScanned, builder.count < limit {
      switch try rows.next() {
      case .reading(let seq)?:
        if rows.readingNode != node { try builder.add(rows.reading) }
        place = seq
      case .record(let seq, let record)?:
        if record.node != node {
          guard try builder.add(record) else { return }
        }
        place = seq
      case nil: return
      }
      scanned += 1
    }
  }
}
