// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The reading in an Observation.
struct FHIRObservation {
  /// The content of another program's Observation.
  enum Content {
    case reading(FHIRCode.Meaning, Measurement, ShownTime)
    case series(FHIRCode.Meaning, FHIRSeries)
    /// Content that is not imported, with its name.
    case skipped(String)
    case rejected(String)
  }

  /// Why an Observation cannot be read, without any of its values.
  struct Reason: Error {
    let text: String
  }

  let resource: JSONValue
  /// The codings of a reading. A translation may have the other unit.
  private let meanings: [FHIRCode.Meaning]
  private let codings: [(isLOINC: Bool, code: String)]
  /// The parts of the identity in an Observation of glucoport.
  private let parts: [String: JSONValue]?

  private static let maxCodings = 20

  init(_ resource: JSONValue) {
    self.resource = resource
    parts = FHIRIdentity.parts(of: resource)
    codings = (resource["code"]?["coding"]?.items ?? []).prefix(Self.maxCodings).compactMap { coding in
      guard let code = coding["code"]?.text else { return nil }
      return (FHIRCode.systems.contains(coding["system"]?.text ?? ""), code)
    }
    meanings = codings.filter(\.isLOINC).compactMap { FHIRCode.meanings[$0.code] }
  }

  /// The name of an Observation that is not imported; nil for one that is.
  var omission: String? {
    if parts == nil, meanings.isEmpty {
      if let code = codings.first(where: { $0.isLOINC && FHIRCode.laboratory.contains($0.code) })?.code {
        return "laboratory glucose \(code)"
      }
      return "Observation \(codings.first?.code ?? resource["code"]?["text"]?.text ?? "without a code")"
    }
    switch resource["status"]?.text {
    case "entered-in-error": return "entered in error"
    case "cancelled": return "cancelled"
    default: return nil
    }
  }

  /// The names of further content in an imported Observation.
  var ignored: [String] {
    let texts = Set(FHIRCode.noted.map(\.text))
    let notes = (resource["note"]?.items ?? []).filter { !texts.contains($0["text"]?.text ?? "") }
    let components = resource["component"]?.items ?? []
    return (notes.isEmpty ? [] : ["note of an Observation"])
      + (components.isEmpty ? [] : ["component of an Observation"])
  }
}

// MARK: - Our own

extension FHIRObservation {
  /// The reading of an Observation of glucoport; nil for any other.
  var own: Result<(Reading, Device), Reason>? {
    guard let parts else { return nil }
    let unit = meanings.first?.unit ?? .milligramsPerDecilitre
    let measurement: Measurement
    switch quantity(unit) {
    case .value(let number, let unit, let range): measurement = Self.measurement(number, unit, range)
    case .absent(let range?): measurement = Self.measurement(nil, unit, range)
    case .absent(nil), .rejected: return .failure(Reason(text: "invalid value or unit"))
    }
    guard let (reading, device) = FHIRIdentity.reading(parts, measurement) else {
      return .failure(Reason(text: "the identity that glucoport wrote is damaged"))
    }
    let utc = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    guard let time, let offset = time.utcOffset, time.deviceTime.seconds - Int64(offset) == utc else {
      return .failure(Reason(text: "the time is not that of the identity that glucoport wrote"))
    }
    return .success((reading, device))
  }

  private static func measurement(_ number: Double?, _ unit: GlucoseUnit, _ range: Range?) -> Measurement {
    switch range {
    case nil: .value(Quantity(number ?? 0, unit))
    case .low: .low(below: number, unit)
    case .high: .high(above: number, unit)
    }
  }
}

// MARK: - Others

extension FHIRObservation {
  /// The side of the range on which a value is.
  enum Range { case low, high }

  private enum Amount {
    case value(Double, GlucoseUnit, Range?)
    case absent(Range?)
    case rejected(String)
  }

  var content: Content {
    guard var meaning = meanings.first else { return .skipped("Observation without a code") }
    for note in resource["note"]?.items ?? [] {
      if let known = FHIRCode.noted.first(where: { $0.text == note["text"]?.text }) {
        meaning.marks.insert(known.mark)
      }
    }
    if let data = resource["valueSampledData"] {
      guard let start = time else { return .rejected(Self.badTime) }
      let units = meanings.map(\.unit)
      switch FHIRSeries.read(data, from: start, units: units) {
      case .success(let series): return .series(meaning, series)
      case .failure(let reason): return .rejected(reason.text)
      }
    }
    switch quantity(meaning.unit) {
    case .rejected(let reason): return .rejected(reason)
    case .absent(nil): return .skipped("Observation without a value")
    case .absent(let range?):
      guard let time else { return .rejected(Self.badTime) }
      return .reading(meaning, Self.measurement(nil, meaning.unit, range), time)
    case .value(let number, let unit, let range):
      guard let time else { return .rejected(Self.badTime) }
      let cell = meaning.kind == .ketone ? CellValue(ketone: number) : CellValue(glucose: number, unit)
      guard case .measurement(let measurement) = cell else {
        if case .rejected(let reason) = cell { return .rejected(reason) }
        return .skipped("Observation without a value")
      }
      return .reading(meaning, range == nil ? measurement : Self.measurement(number, unit, range), time)
    }
  }

  private static let badTime = "invalid or missing time; expected YYYY-MM-DDThh:mm:ss+hh:mm"

  /// The value, or the text in its place.
  ///
  /// - Parameter usual: the unit of the code, for a value without a unit.
  private func quantity(_ usual: GlucoseUnit) -> Amount {
    guard let value = resource["valueQuantity"] else {
      let hasOther = ["valueString", "valueInteger", "valueCodeableConcept", "valueRange", "valueRatio"]
        .contains { resource[$0] != nil }
      return hasOther ? .rejected("the value is not a Quantity") : .absent(interpretedRange)
    }
    guard let number = value["value"]?.number, PlausibleAmounts.stated.contains(number) else {
      return .rejected("the value is not a number")
    }
    let unit: GlucoseUnit
    if let text = value["code"]?.text ?? value["unit"]?.text {
      guard let known = FHIRCode.unit(text) else { return .rejected("the unit is neither mg/dL nor mmol/L") }
      // A code fixes the dimension: if code and unit contradict each other, it is unknown which is wrong.
      guard meanings.isEmpty || meanings.contains(where: { $0.unit == known }) else {
        return .rejected("the unit is not that of the code")
      }
      unit = known
    } else {
      unit = usual
    }
    switch value["comparator"]?.text {
    case nil: return .value(number, unit, nil)
    case "<", "<=": return .value(number, unit, .low)
    case ">", ">=": return .value(number, unit, .high)
    default: return .rejected("unknown comparator")
    }
  }

  /// LO or HI without a limit: outside the range of the scale.
  private var interpretedRange: Range? {
    let codes = (resource["interpretation"]?.items ?? []).prefix(Self.maxCodings)
      .flatMap { ($0["coding"]?.items ?? []).prefix(Self.maxCodings) }.compactMap { $0["code"]?.text }
    if codes.contains("<") { return .low }
    return codes.contains(">") ? .high : nil
  }

  /// The time of the measurement; without one, the time of issue.
  private var time: ShownTime? {
    let effective = [
      resource["effectiveDateTime"], resource["effectiveInstant"], resource["effectivePeriod"]?["start"],
    ]
    let stated = effective.compactMap { $0 }.first ?? resource["issued"]
    return stated?.text.flatMap { text in Field.with(text) { $0.yearFirstTime } }
  }
}
