// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

/// Reads the changes after a sequence number in order: readings and records, merged by their numbers.
struct ChangeScan {
  /// The maximum number of changes that one page skips, so that many changes of the node itself do not delay an answer.
  private static let maxScanned = 50_000

  private let database: Database
  private let node: Int64
  private let limit: Int
  private var builder: PageBuilder
  private var place: Int64

  /// - Parameter limit: the maximum number of items on the page, which has at least one.
  init(_ database: Database, node: Int64, after place: Int64, limit: Int) {
    self.database = database
    self.node = node
    self.place = place
    builder = PageBuilder(database)
    self.limit = min(max(limit, 1), WireProtocol.maxReadings)
  }

  /// The page, in the caller's transaction; nil if there are no more changes.
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
