// SPDX-License-Identifier: Apache-2.0

/// The amounts that one record can hold. A larger one is a wrong column, a wrong unit or a slip of the finger: imports
/// reject it, and who types it has to say that it is meant.
public enum PlausibleAmounts {
  /// Units of insulin at one time.
  public static let units = 0.0...500
  /// Units of insulin an hour.
  public static let unitsPerHour = 0.0...100
  /// Grams of carbohydrates, fat or protein at one time.
  public static let grams = 0.0...2000
  /// Servings of carbohydrates, of which the smallest in use has 10 g.
  public static let servings = 0.0...200
  /// Kilocalories of a meal.
  public static let kilocalories = 0.0...20_000
  /// Minutes of an exercise or a basal rate: ten weeks, since a rate without an end of its own is written with a long one.
  public static let minutes = 0.0...100_000
  /// The same in milliseconds, as pumps and sites have it.
  public static let milliseconds = 0.0...(minutes.upperBound * 60_000)
  /// Steps of an exercise.
  public static let steps = 0.0...1_000_000

  /// What a field of a record of this kind can hold; nil for a field without numbers.
  public static func range(of field: String, in kind: RecordKind) -> ClosedRange<Double>? {
    switch (kind, field) {
    case (.insulin, "units"), (.insulin, "extended"): units
    case (.insulin, "rate"): unitsPerHour
    case (.food, "carbs"), (.food, "fat"), (.food, "protein"): grams
    case (.food, "servings"): servings
    case (.food, "energy"): kilocalories
    case (.insulin, "minutes"), (.exercise, "minutes"): minutes
    case (.exercise, "steps"): steps
    default: nil
    }
  }
}
