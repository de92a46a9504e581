// SPDX-License-Identifier: Apache-2.0

@testable import Logbook

/// Makes doses, meals and readings of several sources.
enum CountingSample {
  /// The seconds of 2026-05-06T08:00:00, from which the times of items are counted.
  static let morning: Int64 = 1_778_054_400
  static let diary = CountingSource(format: "mysugr")
  static let phone = CountingSource(format: "apple-health", part: "iPhone")
  static let pump = CountingSource(format: "tandem")
  static let site = CountingSource(format: "nightscout", part: "AAPS")

  static func dose(
    _ units: Double, at seconds: Int64, _ source: CountingSource, subtype: String = "rapid",
    offset: Int32 = 0, form: OffsetSource = .stated,
    id: String? = nil, fields: [String: FieldValue] = [:], editedAt: Int64? = nil
  ) -> CountableItem? {
    var fields = RecordFields(fields)
    fields["units"] = .number(units)
    if !subtype.isEmpty { fields["subtype"] = .text(subtype) }
    return record(
      .insulin, fields, at: seconds, source, offset: offset, form: form, id: id, editedAt: editedAt)
  }

  static func meal(
    _ grams: Double, at seconds: Int64, _ source: CountingSource, form: OffsetSource = .stated,
    id: String? = nil
  ) -> CountableItem? {
    record(.food, RecordFields(["carbs": .number(grams)]), at: seconds, source, form: form, id: id)
  }

  static func record(
    _ kind: RecordKind, _ fields: RecordFields, at seconds: Int64, _ source: CountingSource,
    offset: Int32 = 0, form: OffsetSource = .stated,
    id: String? = nil, editedAt: Int64? = nil
  ) -> CountableItem? {
    CountableItem(
      kind, fields, id: id ?? "\(source.text) \(kind) \(seconds) \(fields.json)",
      deviceTime: DeviceTime(seconds: morning + seconds),
      placement: Placement(utcOffset: offset, source: form),
      source: source, amountEditedAt: editedAt)
  }

  static func stick(
    _ number: Double, _ unit: GlucoseUnit = .milligramsPerDecilitre, at seconds: Int64, _ device: Device,
    kind: ReadingKind = .smbg, marks: ReadingMarks = [], form: OffsetSource = .stated
  ) -> CountableItem? {
    CountableItem(
      kind, .value(Quantity(number, unit)), marks: marks, id: "\(device) \(seconds) \(number) \(form)",
      deviceTime: DeviceTime(seconds: morning + seconds), placement: Placement(utcOffset: 0, source: form),
      source: CountingSource(device))
  }

  static let meter = Device(vendor: "Ascensia", model: "Contour Next", serial: "1", format: "contour")
  static let otherMeter = Device(vendor: "LifeScan", model: "Verio", serial: "2", format: "onetouch-verio")
  static let app = Device(vendor: "mySugr", model: "mySugr", format: "mysugr")
}

/// Decides which items count, after the finders have found the copies among them.
func countedWithCopies(
  _ items: [CountableItem?], _ rules: CountingRules = CountingRules()
) -> (kept: [CountableItem], leftOut: [String: String], verdicts: [String: CountVerdict]) {
  var (copies, others, rules) = (OwnCopyFinder(rules), OtherAmountFinder(rules), rules)
  var computed = ComputedMealFinder(rules)
  for item in items.compactMap(\.self).sorted(by: { $0.instant < $1.instant }) {
    copies.add(item)
    others.add(item)
    computed.add(item)
  }
  (rules.ownCopies, rules.otherAmounts) = (copies.finish(), others.finish())
  rules.computedMeals = computed.finish()
  return counted(items, rules)
}

/// Decides which items count. The keys of `leftOut` and `verdicts` are the ids of the items.
func counted(
  _ items: [CountableItem?], _ rules: CountingRules = CountingRules()
) -> (kept: [CountableItem], leftOut: [String: String], verdicts: [String: CountVerdict]) {
  var counting = CountedOnce<Void>(rules)
  var (kept, leftOut, verdicts): ([CountableItem], [String: String], [String: CountVerdict]) = ([], [:], [:])
  func addVerdicts() {
    while let (_, item, verdict) = counting.next() {
      guard let item else { continue }
      verdicts[item.id] = verdict
      switch verdict {
      case .counts: kept.append(item)
      case .repeats(let id, _), .otherAmount(let id, _), .edited(let id, _): leftOut[item.id] = id
      case .sensorValue, .computed, .notChosen: leftOut[item.id] = ""
      }
    }
  }
  for item in items.compactMap(\.self).sorted(by: { $0.instant < $1.instant }) {
    counting.add((), item, at: item.instant)
    addVerdicts()
  }
  counting.finish()
  addVerdicts()
  return (kept, leftOut, verdicts)
}

/// The number of items that count.
func count(_ items: CountableItem?..., by rules: CountingRules = CountingRules()) -> Int {
  counted(items, rules).kept.count
}
