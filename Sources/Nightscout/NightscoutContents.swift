// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// What a document of a site holds.
package struct NightscoutContents {
  /// The reading, and what took it.
  package var reading: (Reading, Device)?
  /// The records, tombstones, too.
  package var records: [NightscoutRecord] = []
  /// Why it, or parts of it, are not taken.
  package var rejections: [String] = []
}

extension NightscoutDocument {
  /// What it holds as a document of this collection.
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

  /// Why an amount that another program wrote cannot be one. What glucoport wrote may be meant, and is judged by the store.
  private func amountFault(_ record: NightscoutRecord) -> String? {
    record.isOwn ? nil : PlausibleAmounts.fault(of: record.state.fields, record.state.kind)
  }
}
