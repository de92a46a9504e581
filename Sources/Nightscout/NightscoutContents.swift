// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The reading and the records that a document of a site contains.
package struct NightscoutContents {
  /// The reading with its device; nil if the document has none.
  package var reading: (Reading, Device)?
  /// The records, including tombstones.
  package var records: [NightscoutRecord] = []
  /// The reasons why the document, or parts of it, were rejected.
  package var rejections: [String] = []
}

extension NightscoutDocument {
  /// The contents of this document, if it is in the given collection.
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

  /// The reason why an amount that another program wrote is implausible; nil for any other record. Amounts
  /// that glucoport wrote were checked before they were stored.
  private func amountFault(_ record: NightscoutRecord) -> String? {
    record.isOwn ? nil : PlausibleAmounts.fault(of: record.state.fields, record.state.kind)
  }
}

/// A record that a treatment contains.
package struct NightscoutRecord: Hashable, Sendable {
  package let guid: String
  /// The content of the record, including edits by other programs.
  package let state: RecordState
  /// Whether the treatment is exactly as glucoport wrote it, without edits by other programs.
  package let isOwn: Bool
  package let identifier: String

  /// The same record as a tombstone.
  var tombstone: NightscoutRecord {
    var state = state
    (state.fields, state.isDeleted, state.export) = (RecordFields(), true, nil)
    return NightscoutRecord(guid: guid, state: state, isOwn: false, identifier: identifier)
  }
}

/// The reasons why a document or one of its values is rejected. They contain no values, so that equal reasons
/// can be counted.
package enum NightscoutRefusal {
  /// No member of the document states a usable time.
  package static let noDate = "no usable date"
  /// The glucose value of a treatment has no unit.
  package static let unknownUnit = "the glucose value has no unit"
  /// The glucose value of an entry has no unit, and is implausible in mg/dL.
  package static let likeMillimoles = "the glucose value looks like mmol/L, but Nightscout uses mg/dL"
  /// Another program deleted a treatment of glucoport by API v3, but its insulin or carbohydrates still count
  /// on the site.
  package static let actsAlthoughDeleted =
    "deleted by another program, but its insulin or carbohydrates still count on the site"
  /// The `date` of an entry is a text or in seconds, so that no search by time finds the entry.
  package static let dateIsNoNumber = "the date of the entry is a text or in seconds"
  /// The member `glucoport` of a document is damaged.
  static let damaged = "the reading of glucoport has damaged parts"
}
