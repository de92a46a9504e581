// SPDX-License-Identifier: Apache-2.0

/// A person's decision about which items count in totals: the content of a record of kind `count`. To
/// withdraw a decision, a person sets its choice to `rule`, and the record is not deleted. So two stores with
/// the same decision always write the same record.
package struct CountDecision: Hashable, Sendable {
  /// What the person decided.
  package enum Choice: String, CaseIterable, Sendable {
    /// The items of the two sources, or the two items, describe the same doses, meals or measurements. Each
    /// of these counts once.
    case once
    /// The items describe different doses, meals or measurements, and all of them count.
    case both
    /// Only the items of the source in `source` count.
    case only
    /// No decision: the rule of `CountedOnce` applies.
    case rule
  }

  /// The subject of a decision.
  package enum Subject: Hashable, Sendable {
    /// All items of two sources, given by the names of the sources.
    case sources(String, String)
    /// Two items, given by their ids.
    case items(String, String)
    /// All items of one kind with a shown time from `since` up to, but not including, `until`.
    case range(CountableItem.Kind, since: DeviceTime?, until: DeviceTime?)
  }

  package let subject: Subject
  package let choice: Choice
  /// The name of the source whose items count if the choice is `only`; empty for every other choice.
  package let source: String

  /// The maximum length in bytes of a source's name or an item's id. The longest possible identity of a
  /// reading is shorter.
  package static let maxNameBytes = 2048

  /// A decision. The two names or ids of a pair are sorted, so that their order in a command makes no
  /// difference.
  package init(_ subject: Subject, _ choice: Choice, source: String = "") {
    self.subject = subject.inOrder
    self.choice = choice
    self.source = source
  }

  /// The id of the record with this decision. It depends only on the subject, so every store has one record
  /// per subject.
  package var guid: String {
    switch subject {
    case .sources(let first, let second): Digest.uuid(of: ["count", "sources", first, second])
    case .items(let first, let second): Digest.uuid(of: ["count", "items", first, second])
    case .range(let kind, let since, let until):
      Digest.uuid(of: ["count", "range", kind.rawValue, since?.text ?? "", until?.text ?? ""])
    }
  }
}

extension CountDecision.Subject {
  fileprivate var inOrder: Self {
    switch self {
    case .sources(let first, let second) where second < first: .sources(second, first)
    case .items(let first, let second) where second < first: .items(second, first)
    default: self
    }
  }
}

// MARK: - The record

extension CountDecision {
  private enum FieldName {
    static let (choice, first, second, source) = ("choice", "first", "second", "source")
    static let (subtype, kind, since, until) = ("subtype", "kind", "since", "until")
  }

  /// The fields of the record, as glucoport-json(5) documents them.
  package var fields: RecordFields {
    var fields = RecordFields([FieldName.choice: .text(choice.rawValue)])
    switch subject {
    case .sources(let first, let second):
      fields[FieldName.subtype] = .text("sources")
      (fields[FieldName.first], fields[FieldName.second]) = (.text(first), .text(second))
    case .items(let first, let second):
      fields[FieldName.subtype] = .text("items")
      (fields[FieldName.first], fields[FieldName.second]) = (.text(first), .text(second))
    case .range(let kind, let since, let until):
      fields[FieldName.subtype] = .text("range")
      fields[FieldName.kind] = .text(kind.rawValue)
      fields[FieldName.since] = since.map { .text($0.text) }
      fields[FieldName.until] = until.map { .text($0.text) }
      if !source.isEmpty { fields[FieldName.source] = .text(source) }
    }
    return fields
  }

  /// The content of the record. Its device time is the same for all decisions, so that two stores with the
  /// same decision write equal records.
  package func state(editedAt: Int64?) -> RecordState {
    RecordState(
      kind: .count, entryGuid: nil, deviceTime: LogbookZones.baseTime,
      placement: Placement(utcOffset: 0, source: .stated), fields: fields, isDeleted: false,
      editedAt: editedAt)
  }

  /// Parses a decision from the fields of a record; nil if this program does not understand them. A record
  /// with such fields has no effect.
  package init?(fields: RecordFields) {
    func text(_ name: String) -> String? {
      guard case .text(let text)? = fields[name], text.utf8.count <= Self.maxNameBytes else { return nil }
      return text
    }
    guard let choice = text(FieldName.choice).flatMap(Choice.init) else { return nil }
    switch text(FieldName.subtype) {
    case "sources":
      guard let first = text(FieldName.first), let second = text(FieldName.second), choice != .only else {
        return nil
      }
      self.init(.sources(first, second), choice)
    case "items":
      guard let first = text(FieldName.first), let second = text(FieldName.second), first != second,
        choice != .only
      else { return nil }
      self.init(.items(first, second), choice)
    case "range":
      let limits = (since: text(FieldName.since), until: text(FieldName.until))
      let (since, until) = (
        limits.since.flatMap { DeviceTime(text: $0) }, limits.until.flatMap { DeviceTime(text: $0) }
      )
      // If a limit of the range is present but unreadable, the record is invalid. If the limit were ignored,
      // the range would be longer than the person stated.
      guard let kind = text(FieldName.kind).flatMap(CountableItem.Kind.init),
        (since == nil) == (fields[FieldName.since] == nil), (until == nil) == (fields[FieldName.until] == nil)
      else { return nil }
      let source = text(FieldName.source) ?? ""
      guard choice == .rule || choice == .only && !source.isEmpty else { return nil }
      self.init(.range(kind, since: since, until: until), choice, source: source)
    default: return nil
    }
  }

  /// Merges a local and a remote edit of the same decision. A decision about totals never becomes a conflict:
  /// if two people decided differently, the rule of `CountedOnce` applies on every store.
  package static func merged(
    _ local: RecordFields, _ remote: RecordFields, base: RecordFields?
  ) -> RecordFields {
    if local == remote || base == remote { return local }
    if base == local { return remote }
    var merged = [local, remote].max { $0.json < $1.json } ?? local
    merged[FieldName.choice] = .text(Choice.rule.rawValue)
    return merged
  }
}
