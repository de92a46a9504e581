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

/// A record in a treatment.
package struct NightscoutRecord: Hashable, Sendable {
  package let guid: String
  /// Its content, including edits of other programs.
  package let state: RecordState
  /// Whether the treatment is exactly as glucoport wrote it.
  package let isOwn: Bool
  package let identifier: String

  /// The record as a deleted one.
  var tombstone: NightscoutRecord {
    var state = state
    (state.fields, state.isDeleted) = (RecordFields(), true)
    return NightscoutRecord(guid: guid, state: state, isOwn: false, identifier: identifier)
  }
}

/// Why a document or one of its values is rejected, without any of its values: so the rejections can be counted.
package enum NightscoutRefusal {
  /// No member states the time.
  package static let noDate = "no usable date"
  /// A glucose value of a treatment without a unit.
  package static let unknownUnit = "the glucose value has no unit"
  /// A glucose value of an entry without a unit that would be impossible in mg/dL.
  package static let likeMillimoles = "the glucose value looks like mmol/L, but Nightscout uses mg/dL"
  /// A treatment of glucoport that another program deleted by API v3. It still acts on the site.
  package static let actsAlthoughDeleted =
    "deleted by another program, but its insulin or carbohydrates still count on the site"
  /// An entry that no search by time finds.
  package static let dateIsNoNumber = "the date of the entry is a text or in seconds"
  /// A damaged member of glucoport.
  static let damaged = "the reading of glucoport has damaged parts"
}
