// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// `export.xml` of Apple Health. A record's instant is certain, unlike its stated offset, so readings are
/// identified by their instants.
///
/// Each source is a separate device. A source with an unknown name counts as a sensor if its values are as
/// frequent as those of a sensor. Elements inside a `Correlation` also occur at the top level, so only the
/// top level is read.
struct AppleHealthFormat: ExportFormat {
  static let id = "apple-health"
  static let title = "Apple Health export.xml"
  static let summary = "glucose, insulin and carbohydrates of every app that wrote them"

  private enum Name {
    static let type = 0, source = 1, unit = 2, start = 3, value = 4, device = 5, end = 6
    static let isEntered = 7, meal = 8, reason = 9
  }

  private static let shape = ElementShape(
    path: ["HealthData", "Record"],
    attributes: ["type", "sourceName", "unit", "startDate", "value", "device", "endDate"],
    pairs: ElementShape.Pairs(
      element: "MetadataEntry", key: "key", value: "value",
      names: ["HKWasUserEntered", "HKBloodGlucoseMealTime", "HKInsulinDeliveryReason"]))

  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private let millimoles = GlucoseReader(unit: .millimolesPerLitre)
  private var units: Set<String> = []
  private var sources = HealthSources()
  private var diary = HealthDiary()
  /// The type of the last skipped records, and how many of them came in a row. An export may have millions,
  /// so they are counted in groups.
  private var other: (type: [UInt8], count: Int)?
  private let givenKind: ReadingKind?
  let generatedAt: Int64?
  private var zoneOffsets: ZoneOffsets

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    head.rootElement == "HealthData" ? Recognition(.elements(shape)) : nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    generatedAt = head.attribute("value", of: "ExportDate").flatMap { text in
      Field.withText(text) { Self.instant($0.yearFirstTime) }
    }
    givenKind = options.kind
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var decisions: [Decision] {
    [Decision("unit", "as each record says", .read), HealthSources.decision(given: givenKind)]
  }

  var warnings: [String] { sources.warnings }

  /// True if a person gave no kind. The kind of a source then depends on all of its values, which are spread
  /// over the whole input.
  var needsSurvey: Bool { givenKind == nil }

  mutating func survey(_ row: Row) {
    guard row[Name.type].equals("HKQuantityTypeIdentifierBloodGlucose"), !row[Name.isEntered].equals("1"),
      let (_, utc) = Self.time(row)
    else { return }
    sources.observe(utc, name: row[Name.source], device: row[Name.device], isMarked: Self.isMarked(row))
  }

  mutating func decide() { sources.decide() }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let type = row[Name.type]
    if type.equals("HKQuantityTypeIdentifierBloodGlucose") {
      readGlucose(row, into: &out)
    } else if type.equals("HKQuantityTypeIdentifierInsulinDelivery") {
      readInsulin(row, into: &out)
    } else if type.equals("HKQuantityTypeIdentifierDietaryCarbohydrates") {
      readCarbs(row, into: &out)
    } else {
      skip(type, into: &out)
    }
    return .data
  }

  mutating func finish(into out: inout BatchBuilder) { flush(into: &out) }
}

extension AppleHealthFormat {
  private mutating func skip(_ type: Field, into out: inout BatchBuilder) {
    if let known = other, type.hasSameBytes(as: known.type) {
      other?.count += 1
    } else {
      flush(into: &out)
      other = (Array(type.bytes), 1)
    }
  }

  private mutating func flush(into out: inout BatchBuilder) {
    guard let other else { return }
    var name = String(decoding: other.type, as: UTF8.self)
    for prefix in ["HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier", "HKDataType"]
    where name.hasPrefix(prefix) {
      name = String(name.dropFirst(prefix.count))
    }
    out.batch.skipped[String(name.prefix(40)), default: 0] += other.count
    self.other = nil
  }

  private static func time(_ row: Row, _ name: Int = Name.start) -> (shown: ShownTime, utc: Int64)? {
    row[name].yearFirstTime.flatMap { shown in instant(shown).map { (shown, $0) } }
  }

  /// The instant of a time with a stated offset, in UTC seconds.
  private static func instant(_ time: ShownTime?) -> Int64? {
    time.flatMap { time in time.utcOffset.map { time.deviceTime.seconds - Int64($0) } }
  }

  /// The reader for a unit: `mg/dL`, or `mmol<180.15588…>/L` with the molar mass of glucose. Nil for any
  /// other unit.
  private func reader(_ unit: Field) -> GlucoseReader? {
    if unit.equals("mg/dL") { return milligrams }
    let isMolar =
      unit.starts(with: "mmol<180.155") && unit.count > 3
      && unit.slice(unit.count - 3, unit.count).equals(">/L")
    return isMolar ? millimoles : nil
  }

  /// Whether a person stated that the value was before or after a meal.
  private static func isMarked(_ row: Row) -> Bool {
    row[Name.meal].equals("1") || row[Name.meal].equals("2")
  }

  private mutating func readGlucose(_ row: Row, into out: inout BatchBuilder) {
    guard let (shown, utc) = Self.time(row) else {
      return out.reject(row, "invalid startDate; expected YYYY-MM-DD hh:mm:ss +hhmm")
    }
    guard let reader = reader(row[Name.unit]) else {
      return out.reject(row, "the unit is neither mg/dL nor mmol/L")
    }
    switch reader.read(row[Name.value]) {
    case .empty: return out.skip("glucose without a value")
    case .rejected(let reason): return out.reject(row, reason)
    case .measurement(let measurement):
      let shown = zoneOffsets.shown(shown)
      let isEntered = row[Name.isEntered].equals("1")
      var marks: ReadingMarks = isEntered ? .manual : []
      if row[Name.meal].equals("1") { marks.insert(.beforeMeal) }
      if row[Name.meal].equals("2") { marks.insert(.afterMeal) }
      let kind =
        isEntered
        ? .smbg
        : givenKind
          ?? sources.kind(name: row[Name.source], device: row[Name.device], isMarked: Self.isMarked(row))
      out.add(
        Reading(
          device: out.device(vendor: "Apple Health", model: row[Name.source], serial: .absent), kind: kind,
          tick: utc, at: shown.deviceTime, placement: out.placement(of: shown), measurement, marks: marks,
          line: row.line))
    }
  }

  /// The minutes of a basal segment of a pump, to a hundredth. Nil for an injection: it has the same start
  /// and end, or ends when the insulin stops to work, a day or more later.
  private static func segmentMinutes(_ row: Row) -> Double? {
    guard let (_, start) = time(row), let (_, end) = time(row, Name.end), (1..<86400).contains(end - start)
    else { return nil }
    return (Double(end - start) / 0.6).rounded() / 100
  }

  /// Adds a dose of insulin. The cell `reason` has the number of an `HKInsulinDeliveryReason`: 1 is basal, 2
  /// is bolus.
  private mutating func readInsulin(_ row: Row, into out: inout BatchBuilder) {
    guard row[Name.unit].equals("IU"), let units = row[Name.value].jsonNumber,
      PlausibleAmounts.units.contains(units)
    else { return out.reject(row, "the insulin dose is not a number of units") }
    var fields: [String: FieldValue] = ["units": .number(units)]
    if row[Name.reason].equals("1") {
      fields["subtype"] = .text("basal")
      if let minutes = Self.segmentMinutes(row) { fields["minutes"] = .number(minutes) }
    }
    if row[Name.reason].equals("2") { fields["subtype"] = .text("rapid") }
    add(.insulin, fields, row, into: &out)
  }

  private mutating func readCarbs(_ row: Row, into out: inout BatchBuilder) {
    guard row[Name.unit].equals("g"), let grams = row[Name.value].jsonNumber,
      PlausibleAmounts.grams.contains(grams)
    else { return out.reject(row, "the carbohydrates are not a number of grams from 0 to 2000") }
    if grams == 0 { return out.skip("food without content") }
    add(.food, ["carbs": .number(grams)], row, into: &out)
  }

  /// Adds a diary record. It has no id in the export, so its kind, instant, amount and writer identify it,
  /// whatever its offset. Equal records are numbered. The store finds records whose amounts were corrected.
  private mutating func add(
    _ kind: RecordKind, _ fields: [String: FieldValue], _ row: Row, into out: inout BatchBuilder
  ) {
    guard let (shown, utc) = Self.time(row) else {
      return out.reject(row, "invalid startDate; expected YYYY-MM-DD hh:mm:ss +hhmm")
    }
    let source = row[Name.source].text
    // The text includes the kind, since 5 U and 5 g of one app in one second are two records.
    let text = "\(kind == .insulin ? "insulin " : "")\(utc) \(row[Name.value].text) \(source)"
    out.add(
      kind, at: zoneOffsets.shown(shown), owner: source, source: source, sourceID: diary.id(of: text),
      line: row.line, fields)
  }
}

extension AppleHealthFormat {
  static let page = FormatPage(
    origin: [
      "in the Health app of the iPhone: your picture > Export All Health Data",
      "import the ZIP archive as it is",
    ],
    variants: [
      "export.xml alone or in its archive, of any size"
    ],
    languages: "every language of the phone; the file itself is in English",
    reads: [
      "glucose of every app or device, each as a separate device, before or after meals",
      "insulin, basal insulin of a pump with its minutes",
      "carbohydrates; equal ones of one second, such as two foods of a meal, are separate",
    ],
    notRead: [
      "all other health data, which are counted by type",
      "your date of birth and sex",
      "elements inside of a Correlation, which are in the file twice",
    ])
}

/// Numbers equal doses and meals of an export of Apple Health.
///
/// HealthKit stores a sample once, and the export lists each sample once at the top level. So equal samples
/// of one second are different doses or foods: food diaries write the time of the meal for all its foods. The
/// id of the first of several equal samples is its text. The ids of the others also have a number. A later
/// export with the same samples has the same ids.
struct HealthDiary {
  /// The maximum number of different samples. Further samples are not counted, so that equal samples among
  /// them become one record.
  private static let maxKept = 200_000

  /// The number of samples with each text. The key is the beginning of the text's digest, since the texts
  /// need more memory.
  private var counts: [UInt64: Int32] = [:]

  /// The id of the next sample with this text: the text, with a number if it is not the first one.
  mutating func id(of text: String) -> String {
    let key = Digest.uuidBytes(of: [text]).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let count = counts[key] else {
      if counts.count < Self.maxKept { counts[key] = 1 }
      return text
    }
    counts[key] = count + 1
    return "\(text) \(count + 1)"
  }
}
