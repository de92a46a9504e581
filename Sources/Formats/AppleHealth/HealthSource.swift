// SPDX-License-Identifier: Apache-2.0

/// The apps and devices that write glucose into Apple Health.
enum HealthSource {
  /// Parts of the names of apps and devices that use a sensor. Values of other sources are finger sticks.
  private static let sensorWords = [
    "dexcom", "stelo", "libre", "lingo", "eversense", "guardian", "medtronic", "minimed", "xdrip", "juggluco",
    "sibionics", "ottai", "sugarmate", "spike", "shuggah", "nightguard", "trio", "iaps", "loop",
  ]

  /// Whether a source with this name uses a sensor.
  static func isSensor(_ name: String) -> Bool {
    let folded = name.lowercased()
    return sensorWords.contains { folded.contains($0) }
  }
}
