// SPDX-License-Identifier: Apache-2.0

/// The kind of a record, as a word of 1 to 32 lower-case letters and hyphens. Stores and servers accept every
/// such word. A kind that this program does not know comes from a newer version. Its records are stored and
/// synced, but not listed or edited.
public struct RecordKind: RawRepresentable, Hashable, Sendable {
  /// The word in exports, in stores and in the protocol.
  public let rawValue: String

  /// The kind with this word; nil for an invalid word.
  public init?(rawValue: String) {
    guard (1...32).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isPart) else { return nil }
    self.rawValue = rawValue
  }

  /// One of the kinds that this program describes. The word is not checked.
  init(known word: String) { rawValue = word }

  /// The kinds that this program knows, in the order of lists.
  public static let known = RecordKindDescription.all.map(\.kind)

  /// The known kinds that lists and views show.
  public static let listed = RecordKindDescription.all.filter(\.isListed).map(\.kind)

  /// The description of the kind; nil for a kind that this program does not know.
  public var details: RecordKindDescription? { RecordKindDescription.byKind[self] }

  /// The fields of the kind; empty for a kind that this program does not know.
  public var fields: [RecordField] { details?.fields ?? [] }

  private static func isPart(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") || byte == UInt8(ascii: "-")
  }
}

extension RecordKind: CustomStringConvertible {
  /// The word.
  public var description: String { rawValue }
}

// All kinds of records that this program knows. To add a kind, change only this file, and document the kind
// for people in glucoport-json(5).

extension RecordKind {
  /// A dose or a rate of insulin.
  public static let insulin = RecordKind(known: "insulin")
  /// What a person ate or drank.
  public static let food = RecordKind(known: "food")
  /// What a person did, and for how long.
  public static let exercise = RecordKind(known: "exercise")
  /// A text that a person wrote, as an entry or as part of another entry.
  public static let note = RecordKind(known: "note")
  /// A person's remarks on one reading.
  public static let annotation = RecordKind(known: "annotation")
  /// A file that belongs to an entry. The record only describes the file's content.
  public static let attachment = RecordKind(known: "attachment")
  /// The time zone of the logbook, of a period or of an import; see `LogbookZones`.
  public static let zone = RecordKind(known: "zone")
  /// The statement that an import, a device's readings, a reading or a record is a mistake, or is not; see
  /// `Withdrawal`.
  public static let withdrawal = RecordKind(known: "withdrawal")
  /// A decision about which items count if two sources state them; see `CountDecision`.
  public static let count = RecordKind(known: "count")
}

extension RecordKindDescription {
  /// The descriptions of all known kinds, in the order of lists.
  public static let all = [insulin, food, exercise, note, annotation, attachment, zone, withdrawal, count]

  private static let text = RecordField("text", .text, treatment: "notes")

  private static let insulin = RecordKindDescription(
    .insulin, .amounts, treatment: "Correction Bolus",
    fields: [
      RecordField(
        "units", .number(PlausibleAmounts.units), .unit("U"), typed: [.init("U"), .init("IU")],
        treatment: "insulin"),
      RecordField(
        "rate", .number(PlausibleAmounts.unitsPerHour), .unit("U/h"), typed: [.init("U/h")],
        treatment: "absolute"),
      RecordField("minutes", .number(PlausibleAmounts.minutes), .unit("min"), treatment: "duration"),
      RecordField("extended", .number(PlausibleAmounts.units), .name),
      RecordField("subtype", .choice(["rapid", "long", "basal", "mix"])),
      RecordField("automatic", .flag, isSettable: false),
      text,
    ])

  private static let food = RecordKindDescription(
    .food, .amounts, treatment: "Carb Correction",
    fields: [
      RecordField(
        "carbs", .number(PlausibleAmounts.grams), .unit("g"), typed: [.init("g")], treatment: "carbs"),
      RecordField(
        "servings", .number(PlausibleAmounts.servings), .count(one: "serving", many: "servings"),
        typed: [.init("servings")]),
      RecordField("fat", .number(PlausibleAmounts.grams), .name, treatment: "fat"),
      RecordField("protein", .number(PlausibleAmounts.grams), .name, treatment: "protein"),
      RecordField("energy", .number(PlausibleAmounts.kilocalories), .name, typed: [.init("kcal")]),
      text,
    ])

  private static let exercise = RecordKindDescription(
    .exercise, .amounts, treatment: "Exercise",
    fields: [
      RecordField(
        "minutes", .number(PlausibleAmounts.minutes), .unit("min"),
        typed: [.init("min"), .init("h", times: 60)], treatment: "duration"),
      RecordField("steps", .number(PlausibleAmounts.steps), .name, typed: [.init("steps")]),
      RecordField("intensity", .text, .name),
      text,
    ])

  private static let note = RecordKindDescription(
    .note, .text(field: "text"), treatment: "Note",
    fields: [
      RecordField("subtype", .choice(["health", "announcement"])),
      text,
      RecordField("tags", .words),
    ])

  private static let annotation = RecordKindDescription(
    .annotation, .reading, treatment: "Annotation",
    fields: [
      text,
      RecordField("reading", .text, .name, isSettable: false),
    ])

  private static let attachment = RecordKindDescription(
    .attachment, .command, treatment: "Attachment",
    fields: [
      RecordField("name", .text, .name, isSettable: false, isRequired: true),
      RecordField("type", .text, .name, isSettable: false, isRequired: true),
      RecordField("size", .byteCount, .name, isSettable: false, isRequired: true),
      RecordField("sha256", .digest, .name, isSettable: false, isRequired: true),
      text,
    ])

  private static let zone = RecordKindDescription(
    .zone, .statement, treatment: "Time Zone",
    fields: [
      RecordField("zone", .text, .name, isSettable: false, isRequired: true),
      RecordField("origin", .choice(["given", "system"]), .name, isSettable: false),
      RecordField("from", .text, .name, isSettable: false),
      RecordField("until", .text, .name, isSettable: false),
      RecordField("devices", .words, .name, isSettable: false),
      RecordField("group", .text, .name, isSettable: false),
      RecordField("points", .text, .name, isSettable: false),
      RecordField("records", .text, .name, isSettable: false),
    ])

  /// The kind of withdrawals. The type `Withdrawal` reads and writes its fields.
  private static let withdrawal = RecordKindDescription(
    .withdrawal, .statement, treatment: "Withdrawal",
    fields: [
      text,
      RecordField("hidden", .flag, isSettable: false),
      RecordField("subtype", .text, isSettable: false),
    ])

  /// The kind of decisions about counting. The type `CountDecision` reads and writes its fields.
  private static let count = RecordKindDescription(
    .count, .statement, treatment: "Counting",
    fields: [
      RecordField("choice", .choice(CountDecision.Choice.allCases.map(\.rawValue)), isSettable: false)
    ]
      + ["subtype", "first", "second", "kind", "since", "until", "source"].map { name in
        RecordField(name, .text, isSettable: false)
      })
}

/// The description of one kind of record. It determines what people can type, the ranges of amounts, the
/// order and units in lists, and the members of a Nightscout treatment.
public struct RecordKindDescription: Sendable {
  /// What a person types after the kind in `record add` and `record edit`.
  public enum Typing: Sendable {
    /// Amounts with the units of the kind's fields.
    case amounts
    /// A text, which becomes the value of this field.
    case text(field: String)
    /// The id of a reading, if the record is new.
    case reading
    /// Nothing, since a separate command creates records of this kind.
    case command
    /// Nothing: a separate command creates records of this kind. Such records state something about other
    /// items, and lists leave them out.
    case statement
  }

  /// The kind that the other properties describe.
  public let kind: RecordKind
  /// What a person types to create or change a record of this kind.
  public let typing: Typing
  /// The event type of a Nightscout treatment of this kind.
  package let treatmentEvent: String
  /// The fields in the order in which lists show them.
  public let fields: [RecordField]

  init(_ kind: RecordKind, _ typing: Typing, treatment event: String, fields: [RecordField]) {
    self.kind = kind
    self.typing = typing
    treatmentEvent = event
    self.fields = fields
  }

  /// The field with this name; nil if the kind has no such field.
  public func field(_ name: String) -> RecordField? { fields.first { $0.name == name } }

  /// The words allowed in the field `subtype`; empty if the kind has no such field.
  public var subtypes: [String] {
    if case .choice(let words)? = field("subtype")?.content { words } else { [] }
  }

  /// Whether `record add` accepts the kind.
  package var isTyped: Bool {
    switch typing {
    case .amounts, .text, .reading: true
    case .command, .statement: false
    }
  }

  /// Whether lists and views show records of this kind. Statements about other items are only synced and
  /// exported.
  public var isListed: Bool { if case .statement = typing { false } else { true } }

  /// Why these fields are invalid for a record of this kind, because a required field is missing or has
  /// another type. Nil if they are valid. Fields that are not required may have any content, since other
  /// programs write them.
  package func fault(in fields: RecordFields) -> String? {
    for field in self.fields where field.isRequired {
      if let value = fields[field.name], field.holds(value) { continue }
      return "the '\(field.name)' of an \(kind.rawValue) that is \(field.content.absence)"
    }
    return nil
  }

  static let byKind = Dictionary(uniqueKeysWithValues: all.map { ($0.kind, $0) })
}

extension RecordField.Content {
  /// The end of the message for a field whose value does not have this type.
  fileprivate var absence: String {
    switch self {
    case .number: "no number"
    case .text: "no text"
    case .choice(let words): "none of \(words.joined(separator: ", "))"
    case .words: "no list of words"
    case .flag: "neither true nor false"
    case .byteCount: "no whole number of bytes"
    case .digest: "no SHA-256 in 64 lower-case hexadecimal digits"
    }
  }
}
