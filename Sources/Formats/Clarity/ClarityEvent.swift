// SPDX-License-Identifier: Apache-2.0

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

  /// Parts of the words for "estimated": translated event types use this word for a sensor reading.
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
  /// More types than Clarity has: further ones are counted by one name.
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

  /// The name by which events of an unknown type are counted, which must not contain text of a damaged row.
  func countedName(_ type: Field) -> String {
    let isName = type.count > 0 && type.count <= 40 && known.contains { type.hasSameBytes(as: $0.name) }
    return isName ? type.text : "other event"
  }
}
