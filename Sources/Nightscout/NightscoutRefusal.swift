// SPDX-License-Identifier: Apache-2.0

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
