// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The records that together withdraw one import. They share a `group`.
struct WithdrawalGroup {
  let group: String
  private let database: Database
  private let now: Int64

  init(_ group: String, _ database: Database, at now: Int64) {
    (self.group, self.database, self.now) = (group, database, now)
  }

  /// The valid withdrawals of imports, each with the guid of its record. A withdrawal that a person ended is
  /// left out.
  static func validWithdrawals(_ database: Database) throws -> [(guid: String, input: WithdrawnInput)] {
    try WithdrawalChanges.items(database).compactMap { item in
      guard case .input(let input) = item.withdrawal.subject, item.withdrawal.isHidden else { return nil }
      return (item.guid, input)
    }
  }

  /// The time of records that must be equal in all copies of a store, in UTC seconds: 2000-01-02T00:00Z.
  private static let commonTime: Int64 = 946_771_200

  /// Adds the records for these items.
  ///
  /// - Parameter asBrought: whether the records state visible items (`Withdrawal.Subject.brought`). If a copy
  ///   of the store has already added an equal record, it is kept.
  func insert(_ whole: WithdrawnInput, asBrought: Bool = false) throws {
    for (index, part) in whole.parts.enumerated() {
      let guid = Digest.uuid(of: ["withdrawal", group, String(index)])
      if asBrought, try RecordEditor.exists(guid, database) { continue }
      let state = RecordState(
        kind: .withdrawal, entryGuid: nil,
        deviceTime: DeviceTime(seconds: asBrought ? Self.commonTime : now),
        placement: Placement(utcOffset: 0, source: .stated),
        fields: Withdrawal(asBrought ? .brought(part) : .input(part), isHidden: !asBrought).fields,
        isDeleted: false, editedAt: now)
      try RecordEditor.insert(state, guid, database)
    }
  }

  /// Ends these withdrawals, so that they hide nothing.
  ///
  /// - Returns: the changes of records which the imports had made.
  static func end(
    _ ended: [(guid: String, input: WithdrawnInput)], _ database: Database, at now: Int64
  ) throws -> [RecordRevision] {
    for (guid, _) in ended {
      var draft = try RecordDraft(RecordEditor.require(guid, database))
      guard var withdrawal = Withdrawal(fields: draft.fields) else { continue }
      withdrawal.isHidden = false
      draft.fields = withdrawal.fields
      try RecordEditor.write(draft.state(editedAt: now), to: guid, database)
    }
    return ended.flatMap(\.input.changes)
  }
}

extension WithdrawnInput {
  /// The items in parts that each fit into one record. Even without items, there is one part: its record
  /// states that the import is undone.
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
        // A record has at most one list of points for a series, so the next list begins another record.
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

  private var empty: WithdrawnInput { WithdrawnInput(group: group, input: input, importID: importID) }
}
