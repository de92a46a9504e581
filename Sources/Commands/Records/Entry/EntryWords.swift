// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Logbook

/// Reads the words of an entry. A number with a unit is an amount, a number without one is glucose, and all
/// other words are text.
struct EntryWords {
  /// A reading that the words state.
  struct TypedValue: Hashable {
    let kind: ReadingKind
    let measurement: Measurement
  }

  /// The kinds of records that have amounts. They are stored in this order, so food precedes its insulin.
  static let recordKinds: [RecordKind] = [.food, .insulin, .exercise]

  private static let ketoneWords = ["ketones", "ketone"]
  private static let glucoseUnits: [String: GlucoseUnit] = [
    "mmol": .millimolesPerLitre, "mmol/l": .millimolesPerLitre, "mg/dl": .milligramsPerDecilitre,
    "mgdl": .milligramsPerDecilitre,
  ]

  private(set) var readings: [TypedValue] = []
  /// The fields that the words set, for each kind of record.
  private(set) var changes: [RecordKind: FieldChanges] = [:]
  /// The text of the entry; nil if there is none.
  private(set) var text: String?
  /// The subtype of the note; nil if none is given.
  private(set) var noteSubtype: String?
  private let unit: GlucoseUnit?
  private let isForced: Bool
  private let kind: ReadingKind
  /// The words that were read as text so far.
  private var texts: [String] = []
  /// The last word, unless it was an amount. It may name the next number, as in 'insulin 4'.
  private var wordBefore: String?

  /// - Parameter unit: the glucose unit of the settings; nil if none is set.
  /// - Throws: `Failure` of category `usage` if a word has no meaning, or if it can have two.
  init(_ options: EntryOptions, unit: GlucoseUnit?) throws {
    (self.unit, isForced) = (unit, options.force)
    kind = options.kind.flatMap { ReadingKind(name: $0) } ?? .smbg
    // An argument such as '4.5 U' is split at the blank, since it begins with a number. Other arguments are
    // texts and keep their blanks.
    var rest = options.words.map(Self.trimmed).flatMap { word in
      Self.beginsNumber(word[...]) ? word.split(separator: " ").map(String.init) : [word]
    }[...]
    while let word = rest.popFirst() {
      if Self.beginsNumber(word[...]) {
        try add(amount: word, &rest)
        wordBefore = nil
      } else if RecordKind.insulin.details?.subtypes.contains(word.lowercased()) == true {
        try change(.insulin, "subtype", to: .text(word.lowercased()))
        wordBefore = word
      } else if word == "LO" || word == "HI" {
        let unit = rest.first.flatMap { Self.glucoseUnits[$0.lowercased()] }
        if unit != nil { rest.removeFirst() }
        try add(extreme: word, unit)
      } else if Self.ketoneWords.contains(word.lowercased()), let next = rest.first,
        Self.beginsNumber(next[...])
      {
        let (number, unit) = Self.parts(of: rest.removeFirst())
        if !unit.isEmpty { rest.insert(unit, at: rest.startIndex) }
        if let next = rest.first, Self.glucoseUnits[next.lowercased()] != nil { rest.removeFirst() }
        try add(ketones: number)
        wordBefore = nil
      } else if Self.isUnreadableNumber(word) {
        throw Failure(
          .usage,
          "'\(displayed(word))' is not an amount: amounts have the digits 0 to 9 and no sign; for a text write --note"
        )
      } else {
        texts.append(word)
        wordBefore = word
      }
    }
    try requireText(options)
    text = try Self.text(texts, options.note)
    try apply(options)
  }

  /// Sets the subtype of a dose by the name of its insulin in the text: `12U Lantus`.
  private mutating func addSubtypeOfName() throws {
    guard let dose = changes[.insulin]?.values, dose["units"] != nil, dose["subtype"] == nil else { return }
    // The name is at the start of the text, and may have a letter: `Humulin N`. In `4U forgot lantus`, the
    // name follows other words, so it may not be that of the dose.
    let names = texts.prefix(texts.dropFirst().first.map { $0.count <= 2 } == true ? 2 : 1)
    guard let first = names.first?.lowercased(),
      !["slow", "lento", "lenta", "lente", "lang", "background"].contains(first),
      let subtype = InsulinName.subtype(names.joined(separator: " "))
    else { return }
    try change(.insulin, "subtype", to: .text(subtype))
  }

  /// Whether the words state neither a reading, nor an amount, nor a text.
  var isEmpty: Bool { readings.isEmpty && changes.isEmpty && text == nil }

  /// Refuses words that would be stored as text, although a person probably means a value or a mark.
  private func requireText(_ options: EntryOptions) throws {
    if let word = texts.first?.lowercased(), ["lo", "hi"].contains(word) {
      throw Failure(
        .usage,
        "'\(word)' may be a value beyond the range of the meter or a text; write \(word.uppercased()), or --note for a text"
      )
    }
    if !readings.isEmpty || !changes.isEmpty { try TypedTime.requireNow(texts) }
    if let values = changes[.exercise]?.values, values["minutes"] != nil, values["steps"] == nil,
      texts.isEmpty,
      options.note == nil, !readings.isEmpty || changes.count > 1
    {
      throw Failure(
        .usage,
        "a duration next to a value or an amount may be a time; write the exercise in a separate entry, or with a word such as walk"
      )
    }
    let text = texts.joined(separator: " ").lowercased()
    if !readings.isEmpty, EntryOptions.marks.names.contains(text) {
      throw Failure(.usage, "'\(text)' is a mark; write --mark \(text), or --note \(text) for a text")
    }
  }

  private static func text(_ words: [String], _ note: String?) throws -> String? {
    if words.isEmpty { return note }
    let text = words.joined(separator: " ")
    guard note == nil else {
      throw Failure(.usage, "'\(displayed(text))' is a text, and --note is another one; give one of them")
    }
    return text
  }

  private static func beginsNumber(_ word: Substring) -> Bool {
    guard let first = word.utf8.first else { return false }
    let isSign = first == UInt8(ascii: ".") || first == UInt8(ascii: ",")
    return isDigit(first) || isSign && word.utf8.dropFirst().first.map(isDigit) == true
  }

  /// Whether a word is a number in a notation that is refused: with a sign, in digits of another script, or
  /// as a fraction character.
  private static func isUnreadableNumber(_ word: String) -> Bool {
    let scalars = word.unicodeScalars.drop { "+-\u{2212}\u{2013}".unicodeScalars.contains($0) }
    let category = scalars.first?.properties.generalCategory
    return category == .decimalNumber || category == .otherNumber
  }

  private static func trimmed(_ word: String) -> String {
    let tail = word.drop(while: \.isWhitespace)
    guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(tail[...last])
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  /// Splits a word into the number at its start, and the rest as its unit.
  private static func parts(of word: String) -> (number: String, unit: String) {
    let number = word.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }
    return (String(number), String(word.dropFirst(number.count)))
  }
}

// MARK: - Amounts

extension EntryWords {
  /// For each unit of records, by its name in lower case: the kind of record and the field that it sets.
  private static let recordUnits:
    [String: (kind: RecordKind, unit: RecordField.TypedUnit, field: RecordField)] =
      recordKinds.reduce(into: [:]) { units, kind in
        for field in kind.fields {
          for unit in field.units { units[unit.word.lowercased()] = (kind, unit, field) }
        }
      }

  private static func isUnit(_ word: String) -> Bool {
    let word = word.lowercased()
    return recordUnits[word] != nil || glucoseUnits[word] != nil || ketoneWords.contains(word)
  }

  private mutating func add(amount word: String, _ rest: inout ArraySlice<String>) throws {
    var (number, unit) = Self.parts(of: word)
    if unit.isEmpty, let next = rest.first, Self.isUnit(next) { unit = rest.removeFirst() }
    let name = unit.lowercased()
    if name.isEmpty {
      try requireUnnamed(number)
      if let next = rest.first, Self.mayBeOne(number, next) {
        throw Failure(
          .usage,
          "'\(displayed("\(number) \(next)"))' may be one number or two; write it without the blank, or the unit of \(number), such as \(Self.asGlucose(number))"
        )
      }
      if kind == .ketone { return try add(ketones: number) }
      if let next = rest.first, Self.mayCount(number, next) || Self.maybeUnit(next) {
        throw Failure(
          .usage,
          "'\(displayed("\(number) \(next)"))' may be a glucose value and a text, or a text; write \(Self.asGlucose(number)) for glucose, or --note for a text"
        )
      }
      // The word after the number may name another measure. Two words are examined only after 'blood', as in
      // '140 blood pressure': otherwise, '6.1 before exercise' would be refused.
      let named = rest.first?.lowercased() == "blood" ? 2 : 1
      let following = rest.prefix { !Self.beginsNumber($0[...]) }.prefix(named)
      if let measure = following.first(where: OtherMeasure.isNamed) { throw Self.unclear(number, measure) }
      try add(bare: number)
    } else if Self.ketoneWords.contains(name) {
      try add(ketones: number)
    } else if let glucose = Self.glucoseUnits[name] {
      if glucose == .millimolesPerLitre, let next = rest.first, Self.ketoneWords.contains(next.lowercased()) {
        rest.removeFirst()
        try add(ketones: number)
      } else if kind == .ketone, glucose == .millimolesPerLitre {
        try add(ketones: number)
      } else {
        try add(glucose: Self.number(number), glucose)
      }
    } else if let known = Self.recordUnits[name] {
      if Self.groupedFields.contains(known.field.name) { try Self.requireUngrouped(number) }
      if known.kind == .exercise, known.field.name == "minutes" {
        try TypedTime.requireExercise(number + unit, wordBefore, rest)
      }
      let amount = try known.field.number(Self.pointed(number))
      let name = known.field.name == "carbs" ? try fieldOfGrams(number + unit, &rest) : known.field.name
      try change(known.kind, name, to: .number(amount * known.unit.factor))
    } else {
      throw Failure(.usage, Self.refusal(ofUnit: unit, in: word))
    }
  }

  /// The field of food for an amount in grams, by the word next to it: `20g protein` states protein.
  private func fieldOfGrams(_ amount: String, _ rest: inout ArraySlice<String>) throws -> String {
    let isBefore = wordBefore.map { TypedFood.field(of: $0) != nil || TypedFood.isOther($0) } ?? false
    guard let word = isBefore ? wordBefore : rest.first else { return "carbs" }
    if !isBefore, TypedFood.field(of: word) == nil, let second = rest.dropFirst().first,
      TypedFood.field(of: second) == "protein"
    {
      throw Failure(
        .usage,
        "'\(displayed("\(amount) \(word) \(second)"))' may be protein or carbohydrates; write \(displayed(amount)) protein alone, or --note for the text"
      )
    }
    guard let field = TypedFood.field(of: word) else {
      if !TypedFood.isOther(word) { return "carbs" }
      throw Failure(
        .usage,
        "'\(displayed("\(amount) \(word)"))' is not an amount of carbohydrates, which 'g' means; write --note for a text"
      )
    }
    // Another word may follow, as in '20g protein bar'. Such food has carbohydrates as well, so the amount is
    // ambiguous.
    let after = isBefore ? rest.first : rest.dropFirst().first
    if isBefore || (after.map { !Self.beginsNumber($0[...]) } ?? false) {
      throw Failure(
        .usage,
        "'\(displayed("\(amount) \(word)"))' may be \(field) or carbohydrates; write \(displayed(amount)) \(field) alone, or --note for the text"
      )
    }
    rest.removeFirst()
    return field
  }

  /// Refuses a number without a unit if words before it may name it: 'insulin 4' is a dose, and not glucose.
  private func requireUnnamed(_ number: String) throws {
    if let wordBefore, !isSubtypeOfDose { throw Self.unclear(number, wordBefore) }
    if let measure = texts.first(where: OtherMeasure.isNamed) { throw Self.unclear(number, measure) }
  }

  private static func unclear(_ number: String, _ word: String) -> Failure {
    Failure(
      .usage,
      "\(displayed(number)) may belong to '\(displayed(word))'; write the unit at a number, such as 4U or 6.1mmol, or --note for a text"
    )
  }

  /// The number with a glucose unit that fits it, for the advice in a message.
  private static func asGlucose(_ number: String) -> String {
    let isMillimoles = Double(number.replacing(",", with: ".")).map(typedMillimoles.contains) ?? true
    return number + (isMillimoles ? "mmol" : "mg/dL")
  }

  /// Whether the last word is the subtype of a dose that was already read, as in '4.5U rapid 6.1'.
  private var isSubtypeOfDose: Bool {
    guard let wordBefore, let values = changes[.insulin]?.values else { return false }
    return RecordKind.insulin.details?.subtypes.contains(wordBefore.lowercased()) == true
      && (values["units"] != nil || values["rate"] != nil)
  }

  /// Whether a number and the next word may be one number that was typed with a blank. Examples are '1 000
  /// steps' for 1000 steps, and '4 5U' for 4.5 U.
  private static func mayBeOne(_ number: String, _ next: String) -> Bool {
    guard beginsNumber(next[...]), number.utf8.allSatisfy(isDigit) else { return false }
    let digits = next.utf8.prefix(while: isDigit)
    return digits.count == 3 || digits.count > 1 && digits.first == UInt8(ascii: "0")
      || Double(number).map(typedMillimoles.contains) == true
  }

  /// The fields whose amounts can exceed a thousand, so that a point in the number may be a thousands
  /// separator.
  private static let groupedFields: Set<String> = ["steps", "energy"]

  private static func requireUngrouped(_ text: String) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 3, !text.contains(",") else { return }
    throw ambiguousGroups(text, parts)
  }

  private static func ambiguousGroups(_ text: String, _ parts: [Substring]) -> Failure {
    let remedy =
      text.contains(".") && text.contains(",")
      ? "it without the mark of thousands" : "\(parts.joined()) or \(parts.joined(separator: "."))0"
    return Failure(
      .usage, "'\(displayed(text))' may be a number with thousands or a decimal one; write \(remedy)")
  }

  /// Whether a number may be a count of what the next word names, as in '2 rolls'.
  private static func mayCount(_ number: String, _ next: String) -> Bool {
    let isText =
      !beginsNumber(next[...]) && RecordKind.insulin.details?.subtypes.contains(next.lowercased()) != true
    return isText && number.utf8.allSatisfy(isDigit) && number.utf8.count <= 2
  }

  /// Whether the word after a number may be an unknown unit. If so, the number is not read as glucose: '4.5
  /// IE' is a dose.
  private static func maybeUnit(_ word: String) -> Bool {
    if word.isEmpty || beginsNumber(word[...]) { return false }
    // A letter can have another length in UTF-8 after `lowercased`, so an index of `small` is not valid in
    // `word`.
    let small = word.lowercased()
    let end = small.lastIndex { !".,;:".contains($0) }
    let name = small.prefix(through: end ?? small.startIndex)
    return name.count <= 2 && name.allSatisfy(\.isLetter) || name.contains("/")
      || ["%", "‰", "°"].contains(name)
      || foreignUnits.contains(String(name))
      || name != small && isUnit(String(name))
  }

  /// Words for units that this command does not read, in several languages.
  private static let foreignUnits: Set<String> = [
    "unit", "units", "einheit", "einheiten", "unité", "unités", "unites", "unidad", "unidades", "bolus",
    "basal",
    "khe", "gram", "grams", "gramm", "gramme", "grammes", "gramo", "gramos", "carb", "carbs", "kohlenhydrate",
    "calories", "cal", "minute", "minutes", "minuten", "minutos", "hour", "hours", "serving", "portion",
    "portionen",
    "exchanges", "exchange",
  ]

  private static func refusal(ofUnit unit: String, in word: String) -> String {
    if unit.hasPrefix(":") || unit.hasPrefix("-") {
      return "'\(displayed(word))' is not an amount; a time is given with --at, a text with --note"
    }
    let words = recordKinds.flatMap { $0.fields.flatMap { $0.units.map(\.word) } }
    let units = ["mmol/L", "mg/dL"] + words
    let near = NearestWord.of(unit, among: units).map { "did you mean \($0)? " } ?? ""
    return
      "'\(displayed(unit))' in '\(displayed(word))' is not a unit. \(near)Units are \(alternatives(units)); for a text write --note \(word.shellWord)"
  }

  /// The number with a decimal point instead of a decimal comma.
  private static func pointed(_ text: String) throws -> String {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return text }
    guard parts[1].count != 3, !text.contains(".") else { throw ambiguousGroups(text, parts) }
    return parts.joined(separator: ".")
  }

  private static func number(_ text: String) throws -> Double {
    try RecordField.number(pointed(text), of: "glucose")
  }

  private mutating func change(_ kind: RecordKind, _ name: String, to value: FieldValue) throws {
    try changes[kind, default: FieldChanges(kind)].set(name, to: value)
  }
}

// MARK: - Readings

extension EntryWords {
  /// The range of values in mg/dL that can be typed. Meters show LO below it, and HI above it.
  private static let typedMilligrams = 20.0...600
  private static let typedMillimoles = 1.0...33.3

  /// Reads a number without a unit as glucose. Its unit is that of the settings, or the only one in which the
  /// value is possible.
  private mutating func add(bare text: String) throws {
    let number = try Self.number(text)
    // A number with decimals is not in mg/dL, since meters show mg/dL without decimals.
    let hasDecimals = text.contains { $0 == "." || $0 == "," }
    let fits = [GlucoseUnit.millimolesPerLitre, .milligramsPerDecilitre].filter { unit in
      unit == .millimolesPerLitre
        ? Self.typedMillimoles.contains(number) : Self.typedMilligrams.contains(number) && !hasDecimals
    }
    guard fits.count <= 1 else {
      throw Failure(
        .usage,
        "\(displayed(text)) can be glucose in mmol/L and in mg/dL; write \(displayed(text))mmol or \(displayed(text))mg/dL"
      )
    }
    guard let fit = fits.first else {
      let amount = unit.map { " in \($0.name)" } ?? ""
      throw Failure(
        .usage,
        "\(displayed(text)) is not a glucose value\(amount); write the unit of an amount, such as \(displayed(text))g"
      )
    }
    guard unit == nil || unit == fit else {
      throw Failure(
        .usage,
        "\(displayed(text)) is not a glucose value in \(unit?.name ?? ""), the unit of this logbook; write \(displayed(text))\(fit == .millimolesPerLitre ? "mmol" : "mg/dL") if it is in \(fit.name)"
      )
    }
    try add(glucose: number, fit)
  }

  private mutating func add(glucose number: Double, _ unit: GlucoseUnit) throws {
    let range = isForced ? PlausibleAmounts.stated : PlausibleAmounts.glucose(unit)
    guard range.contains(number), number > 0 else {
      throw Failure(.usage, PlausibleAmounts.refusal(of: "glucose", outside: range, unit))
    }
    try add(TypedValue(kind: kind == .ketone ? .smbg : kind, measurement: .value(Quantity(number, unit))))
  }

  private mutating func add(ketones text: String) throws {
    let number = try Self.number(text)
    guard PlausibleAmounts.ketone.contains(number) else {
      throw Failure(
        .usage, PlausibleAmounts.refusal(of: "ketones", outside: PlausibleAmounts.ketone, .millimolesPerLitre)
      )
    }
    try add(TypedValue(kind: .ketone, measurement: .value(Quantity(number, .millimolesPerLitre))))
  }

  private mutating func add(extreme word: String, _ stated: GlucoseUnit?) throws {
    let unit = kind == .ketone ? .millimolesPerLitre : stated ?? unit ?? .milligramsPerDecilitre
    try add(
      TypedValue(kind: kind, measurement: word == "LO" ? .low(below: nil, unit) : .high(above: nil, unit)))
  }

  private mutating func add(_ value: TypedValue) throws {
    let isKetone = value.kind == .ketone
    guard !readings.contains(where: { ($0.kind == .ketone) == isKetone }) else {
      throw Failure(
        .usage,
        "\(isKetone ? "a ketone value" : "a glucose value") is given twice; a number without a unit is glucose, and each entry has one"
      )
    }
    readings.append(value)
  }
}

// MARK: - Options

extension EntryWords {
  private mutating func apply(_ options: EntryOptions) throws {
    if let subtype = options.subtype {
      if RecordKind.note.details?.subtypes.contains(subtype) == true, changes[.insulin] == nil {
        noteSubtype = subtype
      } else {
        guard let field = RecordKind.insulin.details?.field("subtype") else { return }
        try change(.insulin, "subtype", to: field.value(subtype) ?? .text(subtype))
      }
    }
    try addSubtypeOfName()
    if !isForced {
      for (kind, changes) in changes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        try RecordContentOptions.requirePlausible(changes, kind)
      }
    }
  }

  /// Refuses words that only a correction can have: a subtype without a dose, or a mark without a reading.
  func requireWhole(_ options: EntryOptions) throws {
    guard !isEmpty, text?.isEmpty != true || !readings.isEmpty || !changes.isEmpty else {
      throw Failure(.usage, "there is nothing to add; give an amount with its unit, such as 45g, or a text")
    }
    if changes[.insulin].map({ $0.values["units"] == nil && $0.values["rate"] == nil }) == true {
      throw Failure(.usage, "a subtype of insulin needs an amount, such as 4.5U")
    }
    if noteSubtype != nil, !readings.isEmpty || !changes.isEmpty {
      throw Failure(.usage, "--subtype \(noteSubtype ?? "") is only for an entry that is a text alone")
    }
    if readings.isEmpty, !options.mark.isEmpty || options.kind != nil {
      throw Failure(.usage, "--mark and --kind need a glucose or ketone value")
    }
  }
}
