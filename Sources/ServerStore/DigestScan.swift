// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Takes the identities of all readings into digests, one row at a time.
struct DigestScan {
  let database: Database

  func digests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    let table = SeriesTable(database: database)
    var last: (number: Int64, series: (device: Device, kind: ReadingKind, axis: Axis))?
    let row = try RawRow(
      database,
      // In the order of the index, which alone is read.
      "SELECT series, position, level, occurrence FROM reading ORDER BY series, position, level, occurrence")
    defer { row.reset() }
    while try row.step() {
      let number = row.integer(0)
      let series = try last?.number == number ? last?.series : table.series(number)
      guard let series else { continue }
      last = (number, series)
      let identity = ReadingIdentity(
        device: series.device, kind: series.kind, axis: series.axis, position: row.integer(1),
        level: row.integer(2), occurrence: row.integer(3))
      digests.insert(identity.key)
    }
    return digests
  }
}
