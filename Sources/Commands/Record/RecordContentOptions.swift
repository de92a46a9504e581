// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook
import LogbookStore

/// The options for the content of a record, the same for `record add` and `record edit`.
struct RecordContentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "When: 18:30, 'yesterday 18:30', 2026-05-06T18:30, 90m (ago), or RFC 3339 with an offset.",
      valueName: "time"), transform: TimeArgument.parse)
  var at: TimeArgument?

  @Option(help: ArgumentHelp("A text, for any kind of record.", valueName: "text"))
  var note: String?

  @Option(help: ArgumentHelp(subtypeHelp, valueName: "subtype"), completion: .subtypes)
  var subtype: String?

  @Option(
    help: ArgumentHelp(
      "Set any field of glucoport-json(5); an empty value removes it.", valueName: "field=value"))
  var set: [String] = []

  @Option(help: ArgumentHelp("The entry that it belongs to, or 'none'.", valueName: "id"))
  var entry: String?

  @Flag(help: "Accept unusually large amounts and unusual times.")
  var force = false

  /// Whether none of them is given.
  var isEmpty: Bool {
    at == nil && note == nil && subtype == nil && set.isEmpty && entry == nil
  }

  /// The changes of the fields from the words and these options, for a record of this kind.
  func changes(_ kind: RecordKind, words: [String]) throws -> FieldChanges {
    var changes = FieldChanges(kind)
    try changes.set(words: words)
    if let subtype { try changes.set("subtype", to: subtype) }
    if let note { try changes.set("text", to: note) }
    for assignment in set { try changes.set(assignment) }
    if !force { try Self.requirePlausible(changes, kind) }
    return changes
  }

  /// `Insulin: rapid, long, basal or mix; note: health or announcement.`
  private static var subtypeHelp: String {
    let kinds = RecordKindDescription.all.filter { !$0.subtypes.isEmpty }
    let text = kinds.map { "\($0.kind.rawValue): \(alternatives($0.subtypes))" }.joined(separator: "; ")
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  /// Refuses amounts that are probably typing errors.
  package static func requirePlausible(_ changes: FieldChanges, _ kind: RecordKind) throws {
    for case (let name, .number(let number)?) in changes.values.sorted(by: { $0.key < $1.key }) {
      guard let range = kind.details?.field(name)?.plausibleRange, !range.contains(number) else { continue }
      throw Failure(
        .usage,
        "\(name): \(plainNumber(number)) is more than the \(plainNumber(range.upperBound)) that is plausible for \(kind.rawValue); correct it, or add --force"
      )
    }
  }

  /// Refuses a time that cannot be right, unless `--force` is given, before a store is created.
  func checkTime(_ storeOptions: StoreOptions, _ output: Output) throws {
    guard !force else { return }
    try Self.requirePlausible(at, storeOptions, output)
  }

  /// The same for a time from other options; nil for none.
  static func requirePlausible(_ at: TimeArgument?, _ storeOptions: StoreOptions, _ output: Output) throws {
    guard let at else { return }
    try requirePlausible(at, in: storeOptions.existing(), zone: storeOptions.zone(), output)
  }

  /// The same for a store that is open; nil for one that does not exist yet.
  static func requirePlausible(
    _ at: TimeArgument?, in store: Store?, zone: LogbookZone, _ output: Output
  ) throws {
    guard let at else { return }
    let trusted = TrustedClock.now(after: try store?.lastSuccess(), output)
    let objection = Self.objection(to: at, zone: zone, now: Host.now(), trusted: trusted)
    if let objection { throw Failure(.usage, "--at: \(objection)") }
  }

  /// The maximum lead of a record over this computer's clock: clocks differ by some minutes.
  private static let maxLeadSeconds: Int64 = 300

  /// Why a typed time cannot be right; nil if it can.
  ///
  /// - Parameter trusted: the clock against which the future is checked; nil if it is wrong.
  static func objection(
    to at: TimeArgument, zone: LogbookZone, now: Int64, trusted: Int64?
  ) -> String? {
    let instant = at.instant(zone: zone, now: now)
    let shown = at.placed(zone: zone, now: now).time.text.replacing("T", with: " ")
    if let trusted, instant > trusted + maxLeadSeconds {
      let meant = at.timeOfDay.map { "did you mean 'yesterday \($0)'? Otherwise " } ?? ""
      return "\(shown) is in the future; \(meant)correct it, or add --force"
    }
    guard !PlausibleTimes(now: nil).contains(instant) else { return nil }
    return "\(shown) is before 1990; correct it, or add --force"
  }

  /// Sets the time and the entry of a record from the options, if they are given.
  func place(_ draft: inout RecordDraft, in store: Store, zone: LogbookZone) throws {
    if let at { (draft.deviceTime, draft.placement) = at.placed(zone: zone, now: Host.now()) }
    if let entry { draft.entryGuid = entry == "none" ? nil : try store.record(named: entry).guid }
  }
}

/// A typed field of a record.
extension RecordField {
  /// Far more than a person types, and little enough for every remote.
  private static let maxTextBytes = 64 * 1024
  /// A larger number is a typing error in any unit of any field.
  private static let largestNumber = 1_000_000.0

  /// The value for a text; nil for the empty text, which removes the field.
  ///
  /// - Throws: `Failure` of category `usage`.
  func value(_ text: String) throws -> FieldValue? {
    guard text.utf8.count <= Self.maxTextBytes else {
      throw Failure(.usage, "\(name): the text is longer than 64 KiB")
    }
    guard !text.utf8.contains(0) else { throw Failure(.usage, "\(name): the text holds a zero byte") }
    if text.isEmpty { return nil }
    switch content {
    case .number: return .number(try number(text))
    case .choice(let words):
      guard words.contains(text) else {
        throw Failure(.usage, "\(name) is \(words.joined(separator: ", ")), not '\(displayed(text))'")
      }
      return .text(text)
    case .words:
      return .words(Set(text.split(separator: ",").map(String.init)).sorted())
    case .text: return .text(text)
    case .flag, .byteCount, .digest:
      throw Failure(.usage, "\(name): this field is not set by its name")
    }
  }

  /// The amount for a text.
  func number(_ text: String) throws -> Double { try Self.number(text, of: name) }

  /// Digits, optionally with a point and more digits: no signs, exponents or other notations.
  static func number(_ text: String, of name: String) throws -> Double {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain =
      (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }
    guard isPlain, let number = Double(text), number <= largestNumber else {
      throw Failure(
        .usage,
        "\(name): '\(displayed(text))' is no number from 0 to \(plainNumber(largestNumber)), such as 4.5"
      )
    }
    return number
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

/// The changes of a record's fields from the command line. A nil value removes the field.
struct FieldChanges {
  private(set) var values: [String: FieldValue?] = [:]
  private let kind: RecordKind

  init(_ kind: RecordKind) { self.kind = kind }

  /// Sets a field from its text.
  ///
  /// - Throws: `Failure` of category `usage`, also for a field that this kind does not have.
  mutating func set(_ name: String, to text: String) throws {
    let fields = kind.fields.filter(\.isSettable)
    guard let field = fields.first(where: { $0.name == name }) else {
      let names = fields.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "\(kind.rawValue) has no field '\(displayed(name))'; it has \(names)")
    }
    try set(name, to: try field.value(text))
  }

  /// Sets a field that has no text form.
  mutating func set(_ name: String, to value: FieldValue?) throws {
    guard values[name] == nil else { throw Failure(.usage, "\(name) is set twice") }
    values[name] = .some(value)
  }

  /// Sets fields from `field=value`.
  mutating func set(_ assignment: String) throws {
    guard let sign = assignment.firstIndex(of: "=") else {
      throw Failure(.usage, "--set needs field=value, not '\(displayed(assignment))'")
    }
    try set(String(assignment[..<sign]), to: String(assignment[assignment.index(after: sign)...]))
  }

  /// Sets fields from the words after the kind or the id: amounts with or without their units, or a note's
  /// text.
  mutating func set(words: [String]) throws {
    if words.isEmpty { return }
    switch kind.details?.typing {
    case .amounts: try set(amounts: words)
    case .text(let field): try set(field, to: words.joined(separator: " "))
    case .reading, .command, .statement, nil:
      throw Failure(
        .usage,
        "\(kind.rawValue) has no amount, so '\(displayed(words[0]))' has no meaning; use --note for a text")
    }
  }

  private mutating func set(amounts words: [String]) throws {
    // One word may have a number and its unit: '4.5 U', which the shell passes if it is quoted.
    var rest = words.flatMap { $0.split(separator: " ", omittingEmptySubsequences: false) }[...]
    while let word = rest.popFirst() {
      let number = word.prefix { $0.isNumber || $0 == "." || $0 == "," }
      let glued = word.dropFirst(number.count)
      let isUnit = glued.isEmpty && rest.first.map { $0.first?.isLetter ?? false } ?? false
      let unit = try unit(String(isUnit ? rest.removeFirst() : glued))
      let amount = try unit.field.number(String(number.isEmpty ? word : number))
      try set(unit.field.name, to: .number(amount * unit.factor))
    }
  }

  /// The fields after the changes.
  func applied(to fields: RecordFields) -> RecordFields {
    var fields = fields
    for (name, value) in values { fields[name] = value }
    return fields
  }

  /// The field and the factor of a unit; the first unit if a person gives none.
  private func unit(_ word: String) throws -> (field: RecordField, word: String, factor: Double) {
    let units = kind.fields.flatMap { field in
      field.units.map { (field: field, word: $0.word, factor: $0.factor) }
    }
    guard let unit = word.isEmpty ? units.first : units.first(where: { $0.word == word }) else {
      throw Failure(.usage, refusal(ofUnit: word, units: units.map(\.word)))
    }
    return unit
  }

  /// The error for a word that is not a unit, with its probable meaning.
  private func refusal(ofUnit word: String, units: [String]) -> String {
    if kind.details?.subtypes.contains(word) == true {
      return "'\(word)' is a subtype of \(kind.rawValue); write --subtype \(word)"
    }
    return
      "'\(displayed(word))' is not a unit of \(kind.rawValue), which has \(alternatives(units)); for a text write --note \(word.shellWord)"
  }
}
