// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Rejects implausible amounts from any source before they reach the store.
///
/// Formats reject most of them with the row. Drivers do not check them, and a format may forget a column. All
/// imports pass this one check. Items that a logbook exported with their identities pass unless they exceed
/// every unit, since a person may have typed them with `--force`.
package enum PlausibilityGate {
  /// Moves implausible items of a batch to its rejections, with the reason and without the values.
  package static func filter(_ batch: inout IngestBatch) {
    if !batch.readings.allSatisfy(PlausibleAmounts.allows) {
      for reading in batch.readings {
        guard let fault = PlausibleAmounts.fault(of: reading) else { continue }
        batch.rejections.append(Rejection(line: reading.line, reason: fault))
      }
      batch.readings.removeAll { !PlausibleAmounts.allows($0) }
    }
    let faults = batch.records.map(fault)
    guard faults.contains(where: { $0 != nil }) else { return }
    for (record, fault) in zip(batch.records, faults) {
      if let fault { batch.rejections.append(Rejection(line: record.line, reason: fault)) }
    }
    batch.records = zip(batch.records, faults).filter { $0.1 == nil }.map(\.0)
  }

  private static func fault(_ record: ImportedRecord) -> String? {
    record.guid == nil ? PlausibleAmounts.fault(of: record.fields, record.kind) : nil
  }
}
