// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The records that withdraw one import, and what taking them back does to all others.
struct WithdrawalGroup {
  let group: String
  private let database: Database
  private let now: Int64

  init(_ group: String, _ database: Database, at now: Int64) {
    (self.group, self.database, self.now) = (group, database, now)
  }

  /// Every record of an import's withdrawal that holds.
  static func held(_ database: Database) throws -> [(guid: String, input: WithdrawnInput)] {
    try WithdrawalChanges.items(database).compactMap { item in
      guard case .input(let input) = item.withdrawal.subject, item.withdrawal.isHidden else { return nil }
      return (item.guid, input)
    }
  }

  /// Adds the records.
  func insert(_ whole: WithdrawnInput) throws {
    for (index, part) in whole.parts.enumerated() {
      try insert(part, Digest.uuid(of: ["withdrawal", group, String(index)]))
    }
  }

  private func insert(_ part: WithdrawnInput, _ guid: String) throws {
    let state = RecordState(
      kind: .withdrawal, entryGuid: nil, deviceTime: DeviceTime(seconds: now),
      placement: Placement(utcOffset: 0, source: .stated),
      fields: Withdrawal(.input(part), isHidden: true).fields, isDeleted: false, editedAt: now)
    try RecordEditor.insert(state, guid, database)
  }

  /// Takes the group back: what it lists is shown again, whatever else lists it. What others are to lose beside that is
  /// `further`, by group.
  ///
  /// - Returns: the changes of records that the import had made.
  @discardableResult
  func end(further: [String: Removal] = [:]) throws -> [RecordRevision] {
    var (own, changes) = (Removal(), [RecordRevision]())
    let held = try Self.held(database)
    for (guid, input) in held where input.group == group {
      own.add(input)
      changes += input.changes
      try edit(guid) { $0.isHidden = false }
    }
    for (guid, input) in held where input.group != group {
      let removals = [own, further[input.group]].compactMap(\.self)
      try Self.remove(removals, from: input, guid: guid, database, at: now)
    }
    return changes
  }

  /// Takes readings and records out of a record of a withdrawal; returns how many readings.
  @discardableResult
  static func remove(
    _ removals: [Removal], from input: WithdrawnInput, guid: String, _ database: Database, at now: Int64
  ) throws -> Int {
    var rest = input
    for removal in removals { removal.apply(to: &rest) }
    guard rest.pointCount != input.pointCount || rest.records.count != input.records.count else { return 0 }
    // Fewer points may take more bytes: a run that lost every third is as many runs as it lost points.
    let (group, parts) = (WithdrawalGroup(input.group, database, at: now), rest.parts)
    try group.edit(guid) { $0.subject = .input(parts[0]) }
    for part in parts.dropFirst() {
      let content = Withdrawal(.input(part), isHidden: true).fields.json
      try group.insert(part, Digest.uuid(of: ["withdrawal", guid, content]))
    }
    return Int(input.pointCount - rest.pointCount)
  }

  private func edit(_ guid: String, _ change: (inout Withdrawal) -> Void) throws {
    var draft = try RecordDraft(RecordEditor.require(guid, database))
    guard var withdrawal = Withdrawal(fields: draft.fields) else { return }
    change(&withdrawal)
    draft.fields = withdrawal.fields
    try RecordEditor.write(draft.state(editedAt: now), to: guid, database)
  }
}

/// What is taken out of withdrawals.
struct Removal {
  private var points: [SeriesName: [PointRuns]] = [:]
  private var records: Set<String> = []

  mutating func add(_ input: WithdrawnInput) {
    for (series, runs) in input.points { points[series, default: []].append(runs) }
    records.formUnion(input.records.keys)
  }

  func apply(to input: inout WithdrawnInput) {
    for (series, runs) in input.points {
      guard let removed = points[series] else { continue }
      let rest = removed.reduce(runs) { $0.subtracting($1) }
      if rest.count < runs.count { input.points[series] = rest.isEmpty ? nil : rest }
    }
    for guid in records { input.records[guid] = nil }
  }
}

extension WithdrawnInput {
  fileprivate var pointCount: Int64 { points.values.reduce(0) { $0 + $1.count } }

  /// The same in parts that a record can hold; at least one, since its group says that the import is undone.
  var parts: [WithdrawnInput] {
    var (parts, part, size, count) = ([WithdrawnInput](), empty, 0, Int64(0))
    func end() {
      if size > 0 { parts.append(part) }
      (part, size, count) = (empty, 0, 0)
    }
    func add(_ bytes: Int, _ change: (inout WithdrawnInput) -> Void) {
      if size + bytes > Withdrawal.maxListBytes { end() }
      change(&part)
      size += bytes
    }
    for (series, runs) in points.sorted(by: { $0.key.text < $1.key.text }) {
      for piece in runs.parts(ofBytes: Withdrawal.maxListBytes / 2) {
        // A part holds one piece of a series.
        if part.points[series] != nil || count + piece.count > Withdrawal.maxPoints { end() }
        add(piece.textBytes + series.text.utf8.count + 2) { $0.points[series] = piece }
        count += piece.count
      }
    }
    for (guid, digest) in records.sorted(by: { $0.key < $1.key }) {
      add(guid.utf8.count + digest.utf8.count + 3) { $0.records[guid] = digest }
    }
    for change in changes { add(change.listBytes) { $0.changes.append(change) } }
    return parts + (size > 0 || parts.isEmpty ? [part] : [])
  }

  private var empty: WithdrawnInput { WithdrawnInput(group: group, input: input) }
}
