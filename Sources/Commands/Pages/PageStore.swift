// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The part of a logbook that a page shows, in a temporary store. So its zones and withdrawals are valid on a
/// page as in every other store.
struct PageStore {
  let store: Store
  private var ingest: Int64?

  init() throws {
    store = try Store.scratch(copyOf: nil, zone: try LogbookZone(name: "UTC"), isGiven: false, role: .sync)
  }

  func add(_ records: [RemoteRecord]) throws {
    try store.sync { transaction in
      for record in records { try transaction.adopt(record, over: transaction.record(record.guid)) }
    }
  }

  mutating func add(_ readings: ReadingBatch, at now: Int64) throws {
    if readings.readings.isEmpty { return }
    ingest = try store.sync {
      try $0.storePulled(readings, ingest: ingest, from: "server", at: now).ingest
    }
  }
}
