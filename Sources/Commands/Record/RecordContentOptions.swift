// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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
  static func requirePlausible(_ changes: FieldChanges, _ kind: RecordKind) throws {
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
