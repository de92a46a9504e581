// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A field of a record as people type it: its name in glucoport-json(5), and what it holds.
struct RecordField {
  enum Shape {
    case number
    case text
    /// One of these words.
    case choice([String])
    /// Words with commas between them.
    case words
  }

  /// Far more than a person types, and what a remote still takes.
  static let maxTextBytes = 64 * 1024
  /// Numbers beyond it are slips of the finger in any unit of any field.
  static let largestNumber = 1_000_000.0

  let name: String
  let shape: Shape

  init(_ name: String, _ shape: Shape) {
    self.name = name
    self.shape = shape
  }

  /// The value that a text stands for; nil for the empty text, which takes the field away.
  ///
  /// - Throws: `Failure` of category `usage`.
  func value(_ text: String) throws -> FieldValue? {
    guard text.utf8.count <= Self.maxTextBytes else {
      throw Failure(.usage, "\(name): the text is longer than 64 KiB")
    }
    guard !text.utf8.contains(0) else { throw Failure(.usage, "\(name): the text holds a zero byte") }
    if text.isEmpty { return nil }
    switch shape {
    case .number: return .number(try Self.number(text, name))
    case .text: return .text(text)
    case .choice(let words):
      guard words.contains(text) else {
        throw Failure(.usage, "\(name) is \(words.joined(separator: ", ")), not '\(displayed(text))'")
      }
      return .text(text)
    case .words:
      return .words(Set(text.split(separator: ",").map(String.init)).sorted())
    }
  }

  /// Digits with or without a point and more digits: no signs, exponents or other words for numbers.
  static func number(_ text: String, _ name: String) throws -> Double {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain =
      (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }
    guard isPlain, let number = Double(text), number <= largestNumber else {
      throw Failure(
        .usage,
        "\(name): '\(displayed(text))' is no number from 0 to \(plainNumber(largestNumber)), such as 4.5")
    }
    return number
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

/// A unit in which people type an amount, and the field that takes it.
struct AmountUnit {
  let word: String
  let field: String
  let factor: Double

  init(_ word: String, _ field: String, times factor: Double = 1) {
    self.word = word
    self.field = field
    self.factor = factor
  }
}

extension RecordKind {
  /// The fields that a person may set.
  var fields: [RecordField] {
    switch self {
    case .insulin:
      [
        RecordField("subtype", .choice(["rapid", "long", "basal", "mix"])), RecordField("units", .number),
        RecordField("rate", .number), RecordField("minutes", .number), RecordField("extended", .number),
        RecordField("text", .text),
      ]
    case .food:
      ["carbs", "servings", "fat", "protein", "energy"].map { RecordField($0, .number) }
        + [RecordField("text", .text)]
    case .exercise:
      [
        RecordField("minutes", .number), RecordField("intensity", .text), RecordField("steps", .number),
        RecordField("text", .text),
      ]
    case .note:
      [
        RecordField("subtype", .choice(["health", "announcement"])), RecordField("tags", .words),
        RecordField("text", .text),
      ]
    case .annotation, .attachment: [RecordField("text", .text)]
    }
  }

  /// The units of its amounts; the first one where a person gives none.
  var amountUnits: [AmountUnit] {
    switch self {
    case .insulin: [AmountUnit("U", "units"), AmountUnit("IU", "units"), AmountUnit("U/h", "rate")]
    case .food: [AmountUnit("g", "carbs"), AmountUnit("kcal", "energy"), AmountUnit("servings", "servings")]
    case .exercise:
      [AmountUnit("min", "minutes"), AmountUnit("h", "minutes", times: 60), AmountUnit("steps", "steps")]
    case .note, .annotation, .attachment: []
    }
  }
}
