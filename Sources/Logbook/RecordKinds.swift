// SPDX-License-Identifier: Apache-2.0

// Every kind of record that this program knows. A new one is only added in this file; glucoport-json(5) documents it
// for people.

extension RecordKind {
  /// A dose or a rate of insulin.
  public static let insulin = RecordKind(known: "insulin")
  /// What a person ate or drank.
  public static let food = RecordKind(known: "food")
  /// What a person did, and for how long.
  public static let exercise = RecordKind(known: "exercise")
  /// A text, separate or in an entry.
  public static let note = RecordKind(known: "note")
  /// A person's annotation of one reading.
  public static let annotation = RecordKind(known: "annotation")
  /// A file that belongs to an entry.
  public static let attachment = RecordKind(known: "attachment")
  /// The time zone of the logbook, or of a period.
  public static let zone = RecordKind(known: "zone")
  /// Whether an import, a device's readings, a reading or a record was a mistake.
  public static let withdrawal = RecordKind(known: "withdrawal")
  /// Which items count if two sources state them.
  public static let count = RecordKind(known: "count")
}

extension RecordKindDescription {
  /// The descriptions, in the order of lists.
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

  /// `Withdrawal` reads and writes its fields.
  private static let withdrawal = RecordKindDescription(
    .withdrawal, .statement, treatment: "Withdrawal",
    fields: [
      text,
      RecordField("hidden", .flag, isSettable: false),
      RecordField("subtype", .text, isSettable: false),
    ])

  /// `CountDecision` reads and writes its fields.
  private static let count = RecordKindDescription(
    .count, .statement, treatment: "Counting",
    fields: [
      RecordField("choice", .choice(CountDecision.Choice.allCases.map(\.rawValue)), isSettable: false)
    ]
      + ["subtype", "first", "second", "kind", "since", "until", "source"].map { name in
        RecordField(name, .text, isSettable: false)
      })
}
