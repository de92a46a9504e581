// SPDX-License-Identifier: Apache-2.0

/// Why a document, or one value of it, is not taken, in words that hold none of its values: so refusals can be counted.
package enum NightscoutRefusal {
  /// No member says when it was.
  package static let noDate = "no usable date"
  /// A glucose value of a treatment whose unit is not stated.
  package static let unknownUnit = "the glucose value has no unit"
  /// A glucose value of an entry that states no unit and would be in mg/dL.
  package static let likeMillimoles = "the glucose value looks like mmol/L, but Nightscout uses mg/dL"
  /// A treatment of glucoport that another program deleted by API v3, which leaves its effect.
  package static let actsAlthoughDeleted =
    "deleted by another program, but its insulin or carbohydrates still count on the site"
  /// An entry that no search by time finds.
  package static let dateIsNoNumber = "the date of the entry is a text or in seconds"
  /// What glucoport wrote into a document, and somebody damaged.
  static let damaged = "the reading of glucoport has damaged parts"
}
