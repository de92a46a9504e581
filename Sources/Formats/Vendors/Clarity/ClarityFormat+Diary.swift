// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Items that a person entered: insulin, carbohydrates, exercise, health and notes.
extension ClarityFormat {
  private static let maxUnits = PlausibleAmounts.units.upperBound
  private static let maxGrams = PlausibleAmounts.grams.upperBound

  mutating func readDiary(
    _ row: Row, _ event: ClarityEvent, at shown: ShownTime, into out: inout BatchBuilder
  ) {
    switch event {
    case .insulin: readInsulin(row, at: shown, into: &out)
    case .carbs: readCarbs(row, at: shown, into: &out)
    case .exercise: readExercise(row, at: shown, into: &out)
    case .health:
      add(
        .note, ["subtype": .text("health"), "text": .text(row[columns.subtype].text)], row, at: shown,
        into: &out)
    default: readNote(row, at: shown, into: &out)
    }
  }

  private mutating func readInsulin(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    guard let units = number(row[columns.insulin]), (0...Self.maxUnits).contains(units) else {
      return out.reject(row, "the insulin dose is not a number of units")
    }
    var fields: [String: FieldValue] = ["units": .number(units)]
    if let subtype = InsulinWord.subtype(row[columns.subtype].folded) { fields["subtype"] = .text(subtype) }
    add(.insulin, fields, row, at: shown, into: &out)
  }

  private mutating func readCarbs(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    guard let amount = number(row[columns.carbs]), (0...Self.maxGrams).contains(amount) else {
      return out.reject(row, "the carbohydrates are not a number from 0 to \(plainNumber(Self.maxGrams))")
    }
    add(.food, [columns.carbUnit.field: .number(amount)], row, at: shown, into: &out)
  }

  private func readExercise(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    let intensity = row[columns.subtype].folded
    if !intensity.isEmpty { fields["intensity"] = .text(Self.intensities[intensity] ?? intensity) }
    let duration = row[columns.duration]
    if !duration.isEmpty {
      guard let minutes = Self.minutes(duration) else {
        return out.reject(row, "the duration is not written as hh:mm:ss")
      }
      fields["minutes"] = .number(minutes)
    }
    if fields.isEmpty { return out.skip("exercise without content") }
    add(.exercise, fields, row, at: shown, into: &out)
  }

  /// Adds a note. Clarity has no column for the text of a note. The text is in the first of three columns
  /// that is not empty.
  private func readNote(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    let places = [columns.subtype, columns.patientInfo, columns.deviceInfo]
    guard let place = places.first(where: { !row[$0].trimmed.isEmpty }) else {
      return out.skip("note without text")
    }
    add(.note, ["text": .text(row[place].trimmed.text)], row, at: shown, into: &out)
  }

  private func add(
    _ kind: RecordKind, _ fields: [String: FieldValue], _ row: Row, at shown: ShownTime,
    into out: inout BatchBuilder
  ) {
    out.add(kind, at: shown, owner: row[columns.sourceDevice].trimmed.text, line: row.line, fields)
  }

  private static let intensities = [
    "light": "light", "leicht": "light", "ligero": "light", "ligera": "light", "leve": "light",
    "leggero": "light",
    "leggera": "light", "léger": "light", "légère": "light", "licht": "light",
    "medium": "medium", "mittel": "medium", "medio": "medium", "media": "medium", "moderado": "medium",
    "moderato": "medium", "moyen": "medium", "moyenne": "medium", "modéré": "medium", "gemiddeld": "medium",
    "heavy": "heavy", "schwer": "heavy", "intensiv": "heavy", "intenso": "heavy", "intensa": "heavy",
    "fuerte": "heavy", "intense": "heavy", "pesante": "heavy", "zwaar": "heavy",
    "軽い": "light", "ミディアム": "medium",
  ]

  /// The minutes in a duration `hh:mm:ss` of up to 99 hours; nil for other text.
  private static func minutes(_ field: Field) -> Double? {
    let parts = field.trimmed.text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.count <= 2 ? UInt8($0) : nil }
    guard parts.count == 3, numbers.count == 3, numbers[1] < 60, numbers[2] < 60 else { return nil }
    return Double(Int(numbers[0]) * 60 + Int(numbers[1])) + Double(numbers[2]) / 60
  }
}

/// The kind of a row of Clarity.
enum ClarityEvent {
  case estimate, calibration
  /// A value that a person typed, for example a fasting value.
  case fingerStick
  case insulin, carbs, exercise, health, note, unknown

  private static let words: [ClarityEvent: Set<String>] = [
    .estimate: ["egv", "niveles estimados de glucosa", "nivel estimado de glucosa"],
    .calibration: [
      "calibration", "kalibrierung", "calibración", "calibrazione", "étalonnage", "calibrage", "kalibratie",
      "calibração", "kalibrering",
    ],
    .fingerStick: ["空腹時グルコース"],
    .insulin: ["insulin", "insulina", "insuline"],
    .carbs: [
      "carbs", "carbohydrates", "kohlenhydrate", "kohlenh.", "carbohidratos", "carboidrati", "glucides",
      "koolhydraten", "hidratos de carbono", "kolhydrater", "kulhydrater", "karbohydrater",
      "食事",
    ],
    .exercise: [
      "exercise", "training", "bewegung", "sport", "ejercicio", "esercizio", "exercice", "lichaamsbeweging",
      "exercício", "motion", "träning", "活動",
    ],
    .health: [
      "health", "gesundheit", "salud", "salute", "santé", "gezondheid", "saúde", "hälsa", "sundhed", "helse",
    ],
    .note: [
      "note", "notes", "notiz", "notizen", "hinweis", "nota", "notas", "remarque", "remarques", "notities",
      "notitie",
      "anteckning", "noter",
    ],
  ]

  /// Parts of the words for "estimated" in Clarity's languages. A translated event type that contains one is
  /// a sensor reading.
  private static let estimated = ["estimad", "estimé", "stimat", "geschätzt", "geschat", "estimated"]

  /// The event with this name, in lower case.
  init(_ name: String) {
    if let known = Self.words.first(where: { $0.value.contains(name) })?.key {
      self = known
    } else {
      self = Self.estimated.contains(where: name.contains) ? .estimate : .unknown
    }
  }
}

/// The event types in an input so far, so that each is parsed once.
struct ClarityEventTypes {
  /// The maximum number of types to remember, more than Clarity has. Further unknown types are all counted as
  /// "other event".
  private static let maxKnown = 32

  private var known: [(name: [UInt8], event: ClarityEvent)] = []

  @inline(__always) mutating func event(_ type: Field) -> ClarityEvent {
    type.equals("EGV") ? .estimate : find(type)
  }

  private mutating func find(_ type: Field) -> ClarityEvent {
    for (name, event) in known where type.hasSameBytes(as: name) { return event }
    let event = ClarityEvent(type.folded)
    if known.count < Self.maxKnown { known.append((Array(type.bytes), event)) }
    return event
  }

  /// The name by which events of an unknown type are counted. It must not contain text of a damaged row.
  func countedName(_ type: Field) -> String {
    let isName = type.count > 0 && type.count <= 40 && known.contains { type.hasSameBytes(as: $0.name) }
    return isName ? type.text : "other event"
  }
}
