// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The samples of a sensor in one Observation (`SampledData`), at a fixed interval.
struct FHIRSeries {
  /// Two weeks of a sensor that measures each minute: more is unusual in one resource.
  private static let maxSamples = 20_160
  /// The interval between samples in milliseconds: from a second to a day.
  private static let periods = 1000.0...86_400_000

  /// The end of the year 9999, after which times would need more digits.
  private static let lastSecond: Int64 = 253_402_300_799

  private(set) var samples: [(time: ShownTime, measurement: Measurement)] = []
  /// The number of samples without a value.
  private(set) var errors = 0
  /// Whether a sample is neither a value nor a known letter.
  private(set) var hasInvalid = false

  /// Reads a series that starts at a time.
  ///
  /// - Parameter units: the units of the Observation's codes.
  static func read(
    _ data: JSONValue, from start: ShownTime, units: [GlucoseUnit]
  ) -> Result<FHIRSeries, FHIRObservation.Reason> {
    func failure(_ text: String) -> Result<FHIRSeries, FHIRObservation.Reason> {
      .failure(FHIRObservation.Reason(text: text))
    }
    guard let period = period(data), periods.contains(period) else {
      return failure("the period of the samples is not 1 second to 1 day")
    }
    guard data["dimensions"]?.number ?? 1 == 1 else { return failure("the samples have several dimensions") }
    let origin = data["origin"]
    guard let unit = (origin?["code"] ?? origin?["unit"])?.text.flatMap(FHIRCode.unit) ?? units.first,
      units.contains(unit)
    else { return failure("the unit of the samples is not that of the code") }
    let words = (data["data"]?.text ?? "").utf8.split(maxSplits: maxSamples, whereSeparator: { $0 <= 0x20 })
    guard words.count <= maxSamples else { return failure("a series of more than \(maxSamples) samples") }
    let scale = Scale(
      origin: origin?["value"]?.number ?? 0, factor: data["factor"]?.number ?? 1, unit: unit,
      low: limit(data["lowerLimit"]), high: limit(data["upperLimit"]))
    var series = FHIRSeries()
    for (index, word) in words.enumerated() {
      let seconds = start.deviceTime.seconds + Int64(Double(index) * period / 1000)
      guard seconds <= lastSecond else { return failure("the samples go on behind the year 9999") }
      let time = ShownTime(DeviceTime(seconds: seconds), utcOffset: start.utcOffset)
      series.add(String(Substring(word)), at: time, scale)
    }
    return .success(series)
  }

  private struct Scale {
    let origin: Double
    let factor: Double
    let unit: GlucoseUnit
    let low: Double?
    let high: Double?
  }

  private mutating func add(_ word: String, at time: ShownTime, _ scale: Scale) {
    switch word {
    case "E": errors += 1
    case "L": samples.append((time, .low(below: scale.low, scale.unit)))
    case "U": samples.append((time, .high(above: scale.high, scale.unit)))
    default:
      guard let number = Field.with(word, { $0.jsonNumber }),
        case .measurement(let measurement) = CellValue(
          glucose: scale.origin + scale.factor * number, scale.unit)
      else {
        hasInvalid = true
        return
      }
      samples.append((time, measurement))
    }
  }

  private static func limit(_ value: JSONValue?) -> Double? {
    value?.number.flatMap { PlausibleAmounts.stated.contains($0) ? $0 : nil }
  }

  /// The interval in milliseconds: R4 has a `period`, R5 an interval with a unit of UCUM.
  private static func period(_ data: JSONValue) -> Double? {
    if let period = data["period"]?.number { return period }
    let units: [String: Double] = ["ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000]
    guard let interval = data["interval"]?.number,
      let unit = data["intervalUnit"]?.text.flatMap({ units[$0] })
    else { return nil }
    return interval * unit
  }
}
