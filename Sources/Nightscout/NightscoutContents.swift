// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The contents of a document of a site.
package struct NightscoutContents {
  /// The reading and its device.
  package var reading: (Reading, Device)?
  /// The records, including tombstones.
  package var records: [NightscoutRecord] = []
  /// Why it, or parts of it, are rejected.
  package var rejections: [String] = []
}

extension NightscoutDocument {
  /// Its contents as a document of this collection.
  package func contents(of collection: NightscoutCollection, _ zone: NightscoutZone) -> NightscoutContents {
    var contents =
      collection == .entries ? NightscoutEntry.contents(self, zone) : NightscoutTreatment.contents(self, zone)
    for (place, record) in contents.records.enumerated().reversed() {
      guard let fault = record.state.fields.fault ?? amountFault(record) else { continue }
      contents.records.remove(at: place)
      contents.rejections.append(fault)
    }
    return contents
  }

  /// Why an amount by another program is impossible. Amounts that glucoport wrote are checked by the store.
  private func amountFault(_ record: NightscoutRecord) -> String? {
    record.isOwn ? nil : PlausibleAmounts.fault(of: record.state.fields, record.state.kind)
  }
}
