// SPDX-License-Identifier: Apache-2.0

/// What a person decided about counting once: the content of a record of kind `count`. A decision is never deleted but set
/// back to the rule, so that two stores that decide the same write the same record.
package struct CountDecision: Hashable, Sendable {
  /// What is decided.
  package enum Choice: String, CaseIterable, Sendable {
    /// Two items are one, wherever they are.
    case once
    /// Both count.
    case both
    /// Only this source counts.
    case only
    /// Nothing: the rule holds.
    case rule
  }

  /// What it is about.
  package enum Subject: Hashable, Sendable {
    /// Two sources, by the words that name them.
    case sources(String, String)
    /// Two items, by their ids.
    case items(String, String)
    /// One kind in a range of shown times, of which one source may count.
    case range(CountableItem.Kind, since: DeviceTime?, until: DeviceTime?)
  }

  /// What it is about.
  package let subject: Subject
  /// What is decided.
  package let choice: Choice
  /// The word of the source that counts, where only one does; else empty.
  package let source: String

  /// The most that a name or an id takes, in bytes. The identity of a reading with the longest texts is below it.
  package static let maxNameBytes = 2048

  /// A decision. The two of a pair come in one order, whichever was typed first.
  package init(_ subject: Subject, _ choice: Choice, source: String = "") {
    self.subject = subject.inOrder
    self.choice = choice
    self.source = source
  }

  /// The identity of the record that states it: one for each subject, in every store.
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
  private enum Name {
    static let (choice, first, second, source) = ("choice", "first", "second", "source")
    static let (subtype, kind, since, until) = ("subtype", "kind", "since", "until")
  }

  /// The fields of the record, as glucoport-json(5) documents them.
  package var fields: RecordFields {
    var fields = RecordFields([Name.choice: .text(choice.rawValue)])
    switch subject {
    case .sources(let first, let second):
      fields[Name.subtype] = .text("sources")
      (fields[Name.first], fields[Name.second]) = (.text(first), .text(second))
    case .items(let first, let second):
      fields[Name.subtype] = .text("items")
      (fields[Name.first], fields[Name.second]) = (.text(first), .text(second))
    case .range(let kind, let since, let until):
      fields[Name.subtype] = .text("range")
      fields[Name.kind] = .text(kind.rawValue)
      fields[Name.since] = since.map { .text($0.text) }
      fields[Name.until] = until.map { .text($0.text) }
      if !source.isEmpty { fields[Name.source] = .text(source) }
    }
    return fields
  }

  /// The record. Its time is that of no decision, so that two stores that decide the same write the same.
  package func state(editedAt: Int64?) -> RecordState {
    RecordState(
      kind: .count, entryGuid: nil, deviceTime: LogbookZones.baseTime,
      placement: Placement(utcOffset: 0, source: .stated), fields: fields, isDeleted: false,
      editedAt: editedAt)
  }

  /// What such fields say; nil for what this program does not understand, which then decides nothing.
  package init?(fields: RecordFields) {
    func text(_ name: String) -> String? {
      guard case .text(let text)? = fields[name], text.utf8.count <= Self.maxNameBytes else { return nil }
      return text
    }
    guard let choice = text(Name.choice).flatMap(Choice.init) else { return nil }
    switch text(Name.subtype) {
    case "sources":
      guard let first = text(Name.first), let second = text(Name.second), choice != .only else { return nil }
      self.init(.sources(first, second), choice)
    case "items":
      guard let first = text(Name.first), let second = text(Name.second), first != second, choice != .only
      else { return nil }
      self.init(.items(first, second), choice)
    case "range":
      let limits = (since: text(Name.since), until: text(Name.until))
      let (since, until) = (
        limits.since.flatMap { DeviceTime(text: $0) }, limits.until.flatMap { DeviceTime(text: $0) }
      )
      // A limit that cannot be read would make the range longer than it says.
      guard let kind = text(Name.kind).flatMap(CountableItem.Kind.init),
        (since == nil) == (fields[Name.since] == nil), (until == nil) == (fields[Name.until] == nil)
      else { return nil }
      let source = text(Name.source) ?? ""
      guard choice == .rule || choice == .only && !source.isEmpty else { return nil }
      self.init(.range(kind, since: since, until: until), choice, source: source)
    default: return nil
    }
  }

  /// What two sides say that were edited apart. A decision about totals never waits for another one: where two people
  /// decided differently, the rule holds on every store.
  package static func merged(
    _ local: RecordFields, _ remote: RecordFields, base: RecordFields?
  ) -> RecordFields {
    if local == remote || base == remote { return local }
    if base == local { return remote }
    var merged = [local, remote].max { $0.json < $1.json } ?? local
    merged[Name.choice] = .text(Choice.rule.rawValue)
    return merged
  }
}
