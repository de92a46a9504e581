// SPDX-License-Identifier: Apache-2.0

/// A site's profile of a person's insulin and carbs.
struct NightscoutProfile {
  /// Hours of insulin action.
  var insulinHours = 3.0
  /// By how many mg/dL one unit of insulin lowers the glucose.
  var sensitivity = 0.0
  /// The grams of carbs for which one unit of insulin is needed.
  var carbRatio = 0.0
  /// Absorbed grams per hour.
  var carbsPerHour = 0.0
  let isThere: Bool

  /// Reads the default profile in the newest profile document, with its values for the time of day (UTC).
  init(_ documents: [NightscoutDocument], at now: Int64) {
    let newest = NightscoutOrder(fields: ["startDate", "_id"], isDescending: true).sorted(documents).first
    let name = newest?["defaultProfile"]?.text ?? "Default"
    let values = newest?["store"]?[name]?.object ?? newest
    isThere = values != nil
    guard let values else { return }
    let second = Double(now / 1000 % 86_400)
    func value(_ field: String) -> Double? {
      guard let steps = values[field]?.array else {
        let number = JavaScriptNumber.of(values[field])
        return number.isNaN ? nil : number
      }
      let step = steps.last { JavaScriptNumber.of($0["timeAsSeconds"]) <= second } ?? steps.first
      return step.map { JavaScriptNumber.of($0["value"]) }
    }
    insulinHours = value("dia") ?? 3
    sensitivity = value("sens") ?? 0
    carbRatio = value("carbratio") ?? 0
    carbsPerHour = value("carbs_hr") ?? 0
  }
}
