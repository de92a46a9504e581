// SPDX-License-Identifier: Apache-2.0

/// Why a document, or one value of it, is not taken, in words that hold none of its values: so refusals can be counted.
public enum NightscoutRefusal {
  /// No member says when it was.
  public static let noDate = "no usable date"
  /// A glucose value of a treatment whose unit is not stated.
  public static let unknownUnit = "a glucose value in an unknown unit"
  /// A glucose value of an entry that states no unit and would be in mg/dL.
  public static let likeMillimoles = "a glucose value that looks like mmol/L, where Nightscout has mg/dL"
  /// What glucoport wrote into a document, and somebody damaged.
  static let damaged = "a reading of glucoport with damaged parts"
}
