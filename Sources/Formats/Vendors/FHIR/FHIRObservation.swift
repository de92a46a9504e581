// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The reading in an Observation.
struct FHIRObservation {
  /// The content of another program's Observation.
  enum ObservationContent {
    case reading(FHIRCode.Meaning, Measurement, ShownTime)
    case series(FHIRCode.Meaning, FHIRSeries)
    /// An Observation that is not imported, with the name under which it is counted.
    case skipped(String)
    case rejected(String)
  }

  /// The reason why an Observation cannot be read. It contains none of the Observation's values.
  struct Reason: Error {
    let text: String
  }

  let resource: JSONValue
  /// The meanings of the Observation's codes. A translation of a code may have the other unit.
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

  /// The name under which an Observation that is not imported is counted; nil for an Observation that is
  /// imported.
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
    // The status of a measurement without a result. A value in it is a target or a placeholder.
    case "registered": return "registered without a result"
    default: return nil
    }
  }

  /// The names under which further content of an imported Observation is counted.
  var ignored: [String] {
    let texts = Set(FHIRCode.noted.map(\.text))
    let notes = (resource["note"]?.items ?? []).filter { !texts.contains($0["text"]?.text ?? "") }
    let components = resource["component"]?.items ?? []
    return (notes.isEmpty ? [] : ["note of an Observation"])
      + (components.isEmpty ? [] : ["component of an Observation"])
  }
}

// MARK: - Observations of glucoport

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

  private static func measurement(_ number: Double?, _ unit: GlucoseUnit, _ range: RangeSide?) -> Measurement
  {
    switch range {
    case nil: .value(Quantity(number ?? 0, unit))
    case .low: .low(below: number, unit)
    case .high: .high(above: number, unit)
    }
  }
}

// MARK: - Observations of other programs

extension FHIRObservation {
  /// Whether a value is below or above the measuring range.
  enum RangeSide { case low, high }

  private enum ObservedAmount {
    case value(Double, GlucoseUnit, RangeSide?)
    case absent(RangeSide?)
    case rejected(String)
  }

  var content: ObservationContent {
    guard var meaning = meanings.first else { return .skipped("Observation without a code") }
    if let name = otherSubject { return .skipped(name) }
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
    if isOverPeriod { return .skipped("Observation over a period") }
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
  private func quantity(_ usual: GlucoseUnit) -> ObservedAmount {
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
      // A code fixes the dimension. If code and unit contradict each other, either may be wrong, so the
      // Observation is rejected.
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

  /// The side of the measuring range on which the value is, by the interpretation code `<` or `>`. The limit
  /// of the range is unknown.
  private var interpretedRange: RangeSide? {
    let codes = (resource["interpretation"]?.items ?? []).prefix(Self.maxCodings)
      .flatMap { ($0["coding"]?.items ?? []).prefix(Self.maxCodings) }.compactMap { $0["code"]?.text }
    if codes.contains("<") { return .low }
    return codes.contains(">") ? .high : nil
  }

  /// The time of the measurement, or the time of issue if no member of the Observation has a time of
  /// measurement. A result may be issued days later.
  private var time: ShownTime? {
    let period = resource["effectivePeriod"]
    let timing = resource["effectiveTiming"]
    let events = timing?["event"]?.items ?? []
    guard period != nil || timing != nil || Self.moments.contains(where: { resource[$0] != nil }) else {
      return Self.time(resource["issued"])
    }
    let effective =
      Self.moments.map { resource[$0] } + [
        period?["start"], period?["end"], events.count == 1 ? events[0] : nil,
      ]
    return Self.time(effective.lazy.compactMap { $0 }.first)
  }

  private static let moments = ["effectiveDateTime", "effectiveInstant"]

  private static func time(_ value: JSONValue?) -> ShownTime? {
    value?.text.flatMap { text in Field.withText(text) { $0.yearFirstTime } }
  }

  /// The maximum length of the period of one measurement, in seconds. A value of a longer period is a mean.
  private static let maxPeriodSeconds: Int64 = 3600

  private var isOverPeriod: Bool {
    let period = resource["effectivePeriod"]
    guard let start = Self.time(period?["start"]), let end = Self.time(period?["end"]) else { return false }
    func instant(_ time: ShownTime) -> Int64 { time.deviceTime.seconds - Int64(time.utcOffset ?? 0) }
    return instant(end) - instant(start) > Self.maxPeriodSeconds
  }
}

// MARK: - Observations that are not measurements of the person

extension FHIRObservation {
  /// Words for a specimen in which a person's glucose is measured.
  private static let specimens = [
    "arterial", "blood", "capillary", "finger", "interstitial", "plasma", "serum", "subcutaneous", "venous",
  ]
  /// Words for blood that is not the person's own, such as that of a newborn.
  private static let otherSpecimens = ["cord", "donor", "fetal", "umbilical"]
  /// Parts of words that name a value which is not measured: it is computed from others, or is a goal. `mean`
  /// is a whole word: a value is also measured by means of a strip.
  private static let computed = [
    "averag", "berechn", "calculat", "comput", "deviation", "durchschnitt", "estimat", "forecast", "goal",
    "imput", "interpol", "maximum", "median", "minimum", "mittelwert", "moyenn", "predict", "prognos",
    "promedi", "simulat", "target", "vorhersag",
  ]
  /// The codes of LOINC for means of glucose.
  private static let codesOfMeans: Set<String> = ["27353-2", "53553-0", "53554-8", "97507-8"]

  /// The name under which an Observation is counted if it has a code for glucose, but does not measure the
  /// person's blood or tissue. Nil for a measurement of blood or tissue.
  private var otherSubject: String? {
    let subject = resource["subject"]?["reference"]?.text
    let focus = (resource["focus"]?.items ?? []).prefix(Self.maxCodings)
    if focus.contains(where: { $0["reference"]?.text != subject || subject == nil }) {
      return "Observation about another subject"
    }
    let specimen = Self.texts(of: resource["specimen"]) + containedSpecimens
    if specimen.contains(where: { $0.contains("control") }) { return "control solution" }
    func has(_ words: [String]) -> Bool { specimen.contains { words.contains(where: $0.contains) } }
    if !specimen.isEmpty, !has(Self.specimens) || has(Self.otherSpecimens) {
      return "glucose in another specimen"
    }
    let words = Self.texts(of: resource["method"]) + Self.texts(of: resource["code"])
    let isComputed =
      words.contains { text in
        Self.computed.contains(where: text.contains) || text.split { !$0.isLetter }.contains("mean")
      } || codings.contains { $0.isLOINC && Self.codesOfMeans.contains($0.code) }
    let origins = (resource["derivedFrom"]?.items ?? []).prefix(Self.maxCodings).compactMap {
      $0["reference"]?.text
    }
    return isComputed || origins.contains { $0.contains("Observation/") } ? "computed value" : nil
  }

  /// The names of the specimens that the Observation contains as resources.
  private var containedSpecimens: [String] {
    (resource["contained"]?.items ?? []).prefix(Self.maxCodings)
      .filter { $0["resourceType"]?.text == "Specimen" }.flatMap { Self.texts(of: $0["type"]) }
  }

  /// The texts of a concept or of a reference, in lower case.
  private static func texts(of value: JSONValue?) -> [String] {
    let codings = (value?["coding"]?.items ?? []).prefix(maxCodings).compactMap { $0["display"]?.text }
    return ([value?["text"]?.text, value?["display"]?.text].compactMap(\.self) + codings).map {
      $0.lowercased()
    }
  }
}

/// The samples of a sensor in one Observation (`SampledData`), at a fixed interval.
struct FHIRSeries {
  /// The maximum number of samples in one series: two weeks of a sensor that measures each minute.
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
      guard seconds <= lastSecond else { return failure("the samples go on after the year 9999") }
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
      guard let number = Field.withText(word, { $0.jsonNumber }),
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

/// The codes of LOINC for readings. A code fixes the dimension of the value, so the source's unit determines
/// the code.
enum FHIRCode {
  /// The names of the code system LOINC: its URLs, and its OID in documents from HL7 version 3.
  static let systems: Set<String> = [
    "http://loinc.org", "https://loinc.org", "urn:oid:2.16.840.1.113883.6.1",
  ]

  /// The meaning of a code for a value.
  struct Meaning {
    let kind: ReadingKind
    let unit: GlucoseUnit
    var marks: ReadingMarks = []
  }

  /// The codes that are read. For values of meters, Apple Health and hospitals use the codes that state no
  /// method.
  static let meanings: [String: Meaning] = [
    "41653-7": Meaning(kind: .smbg, unit: .milligramsPerDecilitre),
    "14743-9": Meaning(kind: .smbg, unit: .millimolesPerLitre),
    "2339-0": Meaning(kind: .smbg, unit: .milligramsPerDecilitre),
    "15074-8": Meaning(kind: .smbg, unit: .millimolesPerLitre),
    "32016-8": Meaning(kind: .smbg, unit: .milligramsPerDecilitre),
    "14770-2": Meaning(kind: .smbg, unit: .millimolesPerLitre, marks: .fasting),
    "99504-3": Meaning(kind: .cbg, unit: .milligramsPerDecilitre),
    "105272-9": Meaning(kind: .cbg, unit: .millimolesPerLitre),
    "66441-7": Meaning(kind: .ketone, unit: .millimolesPerLitre),
  ]

  /// The codes of glucose in serum or plasma that a laboratory measured.
  static let laboratory: Set<String> = ["2345-7", "14749-6"]

  /// The code of a reading in its source's unit, with the code's name; nil for ketone in mg/dL, for which
  /// there is no code.
  static func coding(_ kind: ReadingKind, _ unit: GlucoseUnit) -> (code: String, display: String)? {
    let isMass = unit == .milligramsPerDecilitre
    let dimension = isMass ? "Mass/volume" : "Moles/volume"
    switch kind {
    case .smbg:
      return (isMass ? "41653-7" : "14743-9", "Glucose [\(dimension)] in Capillary blood by Glucometer")
    case .cbg, .scan: return (isMass ? "99504-3" : "105272-9", "Glucose [\(dimension)] in Interstitial fluid")
    case .ketone:
      return isMass ? nil : ("66441-7", "Beta hydroxybutyrate [\(dimension)] in Blood by Test strip")
    }
  }

  /// A unit by its UCUM code or its text; nil for any other unit.
  static func unit(_ text: String) -> GlucoseUnit? {
    switch text.lowercased() {
    case "mg/dl": .milligramsPerDecilitre
    case "mmol/l": .millimolesPerLitre
    default: nil
    }
  }

  /// The texts of notes that state a mark.
  static let noted: [(mark: ReadingMarks, text: String)] = [
    (.fasting, "fasting"), (.beforeMeal, "before meal"), (.afterMeal, "after meal"), (.bedtime, "bedtime"),
  ]
}
