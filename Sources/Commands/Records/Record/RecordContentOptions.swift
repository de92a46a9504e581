// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook
import LogbookStore

/// The options for the content of a record. `record add` and `record edit` share them.
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

  /// Whether none of the options is given.
  var isEmpty: Bool {
    at == nil && note == nil && subtype == nil && set.isEmpty && entry == nil
  }

  /// The changes that the words and options make to the fields of a record of this kind.
  func changes(_ kind: RecordKind, words: [String]) throws -> FieldChanges {
    var changes = FieldChanges(kind)
    try changes.set(words: words)
    if let subtype { try changes.set("subtype", to: subtype) }
    if let note { try changes.set("text", to: note) }
    for assignment in set { try changes.set(assignment) }
    if !force { try Self.requirePlausible(changes, kind) }
    return changes
  }

  /// The help for `--subtype`: `Insulin: rapid, long, basal or mix; note: health or announcement.`
  private static var subtypeHelp: String {
    let kinds = RecordKindDescription.all.filter { !$0.subtypes.isEmpty }
    let text = kinds.map { "\($0.kind.rawValue): \(alternatives($0.subtypes))" }.joined(separator: "; ")
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  /// Refuses an amount outside the plausible range of its field, since it is probably a typing error.
  package static func requirePlausible(_ changes: FieldChanges, _ kind: RecordKind) throws {
    for case (let name, .number(let number)?) in changes.values.sorted(by: { $0.key < $1.key }) {
      guard let range = kind.details?.field(name)?.plausibleRange, !range.contains(number) else { continue }
      throw Failure(
        .usage,
        "\(name): \(plainNumber(number)) is more than the \(plainNumber(range.upperBound)) that is plausible for \(kind.rawValue); correct it, or add --force"
      )
    }
  }

  /// Refuses an implausible time, unless `--force` is given. The check runs before the store is created, so
  /// that a refused record creates no store.
  func checkTime(_ storeOptions: StoreOptions, _ output: Output) throws {
    guard !force else { return }
    try Self.requirePlausible(at, storeOptions, output)
  }

  /// Refuses an implausible time; nil is accepted. The zone is that of the selected store.
  static func requirePlausible(_ at: TimeArgument?, _ storeOptions: StoreOptions, _ output: Output) throws {
    guard let at else { return }
    try requirePlausible(at, in: storeOptions.existing(), zone: storeOptions.zone(), output)
  }

  /// Refuses an implausible time; nil is accepted. `store` is nil if it does not exist yet.
  static func requirePlausible(
    _ at: TimeArgument?, in store: Store?, zone: LogbookZone, _ output: Output
  ) throws {
    guard let at else { return }
    let trusted = TrustedClock.now(after: try store?.lastSuccess(), output)
    let objection = Self.objection(to: at, zone: zone, now: Host.now(), trusted: trusted)
    if let objection { throw Failure(.usage, "--at: \(objection)") }
  }

  /// How many seconds a typed time may be ahead of this computer's clock, since clocks differ by some
  /// minutes.
  private static let maxLeadSeconds: Int64 = 300

  /// Why a typed time is implausible; nil if it is plausible.
  ///
  /// - Parameter trusted: the present time. A typed time more than `maxLeadSeconds` after it is refused. It
  ///   is nil if the clock is wrong.
  static func objection(
    to at: TimeArgument, zone: LogbookZone, now: Int64, trusted: Int64?
  ) -> String? {
    let instant = at.instant(zone: zone, now: now)
    let shown = at.placedTime(zone: zone, now: now).time.text.replacing("T", with: " ")
    if let trusted, instant > trusted + maxLeadSeconds {
      let meant = at.timeOfDay.map { "did you mean 'yesterday \($0)'? Otherwise " } ?? ""
      return "\(shown) is in the future; \(meant)correct it, or add --force"
    }
    guard !PlausibleTimes(now: nil).contains(instant) else { return nil }
    return "\(shown) is before 1990; correct it, or add --force"
  }

  /// Sets the time and the entry of a record, if the options state them.
  func setTimeAndEntry(of draft: inout RecordDraft, in store: Store, zone: LogbookZone) throws {
    if let at { (draft.deviceTime, draft.placement) = at.placedTime(zone: zone, now: Host.now()) }
    if let entry { draft.entryGuid = entry == "none" ? nil : try store.record(named: entry).guid }
  }
}

/// Reads typed values of a field.
extension RecordField {
  /// The maximum length of a text in bytes. It is far more than a person types, and every remote accepts it.
  private static let maxTextBytes = 64 * 1024
  /// The largest number that is accepted in a field, in any unit. A larger one is a typing error.
  private static let largestNumber = 1_000_000.0

  /// Reads a typed value; nil for an empty text, which removes the field.
  ///
  /// - Throws: `Failure` of category `usage` for a value that is not valid.
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

  /// Reads a typed amount.
  func number(_ text: String) throws -> Double { try Self.number(text, of: name) }

  /// Reads digits, optionally with a point and decimals. Signs, exponents and other notations are refused.
  static func number(_ text: String, of name: String) throws -> Double {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain =
      (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }
    guard isPlain, let number = Double(text), number <= largestNumber else {
      throw Failure(
        .usage,
        "\(name): '\(displayed(text))' is not a number from 0 to \(plainNumber(largestNumber)), such as 4.5"
      )
    }
    return number
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

/// The changes that the command line makes to the fields of a record. The value nil removes a field.
struct FieldChanges {
  private(set) var values: [String: FieldValue?] = [:]
  private let kind: RecordKind

  init(_ kind: RecordKind) { self.kind = kind }

  /// Sets a field to a typed value.
  ///
  /// - Throws: `Failure` of category `usage` if the value is not valid, or if this kind lacks the field.
  mutating func set(_ name: String, to text: String) throws {
    let fields = kind.fields.filter(\.isSettable)
    guard let field = fields.first(where: { $0.name == name }) else {
      let names = fields.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "\(kind.rawValue) has no field '\(displayed(name))'; it has \(names)")
    }
    try set(name, to: try field.value(text))
  }

  /// Sets a field to a value that is already parsed.
  mutating func set(_ name: String, to value: FieldValue?) throws {
    guard values[name] == nil else { throw Failure(.usage, "\(name) is set twice") }
    values[name] = .some(value)
  }

  /// Sets a field from an argument of `--set`, such as `text=soup`.
  mutating func set(_ assignment: String) throws {
    guard let sign = assignment.firstIndex(of: "=") else {
      throw Failure(.usage, "--set needs field=value, not '\(displayed(assignment))'")
    }
    try set(String(assignment[..<sign]), to: String(assignment[assignment.index(after: sign)...]))
  }

  /// Sets fields from the words of the command: amounts with or without units, or the text of a note.
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
    // A quoted word such as '4.5 U' has a number and its unit, so it is split.
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

  /// The fields of a record after these changes.
  func applied(to fields: RecordFields) -> RecordFields {
    var fields = fields
    for (name, value) in values { fields[name] = value }
    return fields
  }

  /// The field that a unit sets, and the factor of the unit. An empty word means the first unit of the kind.
  private func unit(_ word: String) throws -> (field: RecordField, word: String, factor: Double) {
    let units = kind.fields.flatMap { field in
      field.units.map { (field: field, word: $0.word, factor: $0.factor) }
    }
    guard let unit = word.isEmpty ? units.first : units.first(where: { $0.word == word }) else {
      throw Failure(.usage, refusal(ofUnit: word, units: units.map(\.word)))
    }
    return unit
  }

  /// The message for an unknown unit, with what the person probably means.
  private func refusal(ofUnit word: String, units: [String]) -> String {
    if kind.details?.subtypes.contains(word) == true {
      return "'\(word)' is a subtype of \(kind.rawValue); write --subtype \(word)"
    }
    return
      "'\(displayed(word))' is not a unit of \(kind.rawValue), which has \(alternatives(units)); for a text write --note \(word.shellWord)"
  }
}
