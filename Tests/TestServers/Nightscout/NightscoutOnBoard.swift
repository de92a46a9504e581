// SPDX-License-Identifier: Apache-2.0

/// Insulin and carbs on board, as the site computes them from the treatments in its memory. A treatment
/// without the instant `mills` is ignored, and one that is marked as deleted is included.
struct NightscoutOnBoard {
  private static let minute = 60_000.0
  /// Nightscout's constant `liverSensRatio`. With it active insulin delays the absorption of carbs.
  private static let liver = 8.0
  /// Minutes until the absorption of carbs begins.
  private static let delayMinutes = 20.0

  let treatments: [NightscoutDocument]
  let profile: NightscoutProfile
  let now: Double

  init(_ treatments: [NightscoutDocument], _ profile: NightscoutProfile, at now: Int64) {
    (self.treatments, self.profile, self.now) = (treatments, profile, Double(now))
  }

  /// The active insulin in units, with three decimals.
  var insulin: Double { Self.rounded(total(at: now).units) }

  /// The carbs that are not yet absorbed, in grams; nil without a profile with the rate of absorption.
  var carbs: Double? {
    guard profile.isThere, profile.sensitivity != 0, profile.carbRatio != 0 else { return nil }
    var (total, lastEnd) = (0.0, 0.0)
    for treatment in treatments {
      let grams = JavaScriptNumber.of(treatment["carbs"])
      let start = JavaScriptNumber.of(treatment["mills"])
      guard grams != 0, !grams.isNaN, start < now else { continue }
      var end = end(of: grams, from: start, after: lastEnd)
      if (end - now) / 3_600_000 > -10 {
        let delay = delay(from: lastEnd, to: end)
        if delay > 0 { end += delay * Self.minute }
      }
      lastEnd = end
      let hours = (end - now) / 3_600_000
      total = hours > 0 ? total + min(grams, hours * profile.carbsPerHour) : 0
    }
    return total
  }

  /// The time at which the absorption of a meal ends. Meals are absorbed one after the other, in whole
  /// minutes.
  private func end(of grams: Double, from start: Double, after lastEnd: Double) -> Double {
    let waiting = max(Self.delayMinutes, (lastEnd - start) / Self.minute)
    return start + (waiting + grams / (profile.carbsPerHour / 60)).rounded(.towardZero) * Self.minute
  }

  /// The number of minutes by which active insulin delays the absorption.
  private func delay(from start: Double, to end: Double) -> Double {
    let activity = (total(at: start).activity + total(at: end).activity) / 2
    let grams = activity * Self.liver / profile.sensitivity * profile.carbRatio
    return JavaScriptNumber.rounded(grams / profile.carbsPerHour * 60)
  }

  private func total(at time: Double) -> (units: Double, activity: Double) {
    treatments.reduce(into: (0, 0)) { total, treatment in
      let units = JavaScriptNumber.of(treatment["insulin"])
      let start = JavaScriptNumber.of(treatment["mills"])
      guard units != 0, !units.isNaN, start <= time else { return }
      let rest = rest(of: units, minutes: (time - start) / Self.minute)
      total.units += rest.units
      total.activity += rest.activity
    }
  }

  /// The units of a bolus that are left, and their activity. The curve has two parabolas that meet 75
  /// minutes after the bolus, for insulin that acts for three hours. For insulin with another duration, the
  /// curve is stretched.
  private func rest(of units: Double, minutes: Double) -> (units: Double, activity: Double) {
    let hours = profile.insulinHours == 0 ? 3 : profile.insulinHours
    let (peak, slope) = (75.0, 2 / hours / 60)
    let minutes = minutes * 3 / hours
    if minutes < peak {
      let x = minutes / 5 + 1
      let activity = profile.sensitivity * units * (slope / peak) * minutes
      return (units * (1 - 0.001852 * x * x + 0.001852 * x), activity)
    }
    guard minutes < 180 else { return (0, 0) }
    let x = (minutes - peak) / 5
    let activity = profile.sensitivity * units * (slope - (minutes - peak) * slope / (180 - peak))
    return (units * (0.001323 * x * x - 0.054233 * x + 0.55556), activity)
  }

  private static func rounded(_ number: Double) -> Double { JavaScriptNumber.rounded(number * 1000) / 1000 }
}
