// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookStore

extension StoreMerge {
  /// Takes everything into a store, in one transaction, as an import reports it.
  ///
  /// - Throws: `Failure` as for `run`.
  package func report(into store: Store) throws -> ImportReport {
    let result = try run(into: store)
    return ImportReport(
      ingest: result.ingest, source: name, format: Self.format, decisions: [], warnings: [],
      counts: result.counts, end: .whole, rejections: [], likelyDuplicates: [], meter: nil)
  }
}
