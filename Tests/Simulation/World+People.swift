// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// Simulates what people do with records.
extension World {
  func add(_ node: SimulatedNode) throws {
    let guid = random.uuid()
    let entries = try node.records().values.filter {
      !$0.state.isDeleted && $0.state.entryGuid == nil && $0.state.kind.details?.isListed == true
    }
    .sorted { $0.guid < $1.guid }
    // If a site had two documents of one dose, it would count the insulin twice. `checkDoses` checks that
    // each dose has one document.
    let isDose = kind == .site && random.once(in: 2)
    var fields = RecordFields(["a": .text(ledger.word(for: guid))])
    if isDose {
      fields["subtype"] = .text("rapid")
      fields["units"] = .number(Double(Int.random(in: 1...9, using: &random)))
    }
    var draft = RecordDraft(
      kind: isDose ? .insulin : .note, at: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .zone), fields: fields)
    if !isDose, random.once(in: 2) { draft.entryGuid = entries.randomElement(using: &random)?.guid }
    log("\(node.name) adds \(guid.prefix(4)) to \(draft.entryGuid?.prefix(4) ?? "-")")
    _ = try node.editor().add(draft, guid: guid)
    addedHere.insert(guid)
  }

  private func liveRecord(of node: SimulatedNode) throws -> SyncRecord? {
    try node.records().values.filter { !$0.state.isDeleted && $0.state.kind.details?.isListed == true }
      .sorted { $0.guid < $1.guid }.randomElement(using: &random)
  }

  func edit(_ node: SimulatedNode) throws {
    guard let record = try liveRecord(of: node) else { return }
    try edit(record, node)
  }

  func edit(_ record: SyncRecord, _ node: SimulatedNode) throws {
    // Programs of a site show only the field `text`.
    let field = ["a", "b", kind == .site ? "text" : "c"].randomElement(using: &random) ?? "a"
    if case .text(let old)? = record.state.fields[field] { ledger.retire([old]) }
    let word = ledger.word(for: record.guid)
    let time = drawTime(of: record)
    log("\(node.name) edits \(record.guid.prefix(4)) \(field)=\(word)\(time == nil ? "" : " and its time")")
    _ = try node.editor().edit(record.guid) { draft in
      draft.fields[field] = .text(word)
      if let time { draft.deviceTime = time }
    }
  }

  /// Sometimes returns another time for a record, so that a site must move its document; otherwise nil.
  /// Records of other programs keep their time, as the manual page states.
  private func drawTime(of record: SyncRecord) -> DeviceTime? {
    guard kind == .site, addedHere.contains(record.guid), random.once(in: 8) else { return nil }
    return DeviceTime(seconds: 1_700_000_000 + 600 * Int64.random(in: 0..<4, using: &random))
  }

  /// Requests a download, or cancels a requested download.
  func queue(_ node: SimulatedNode) throws {
    guard node.asksForParts else { return }
    let store = try node.connections.store(.editor)
    if random.once(in: 3), let download = try store.downloads().randomElement(using: &random),
      // Only requested downloads are cancelled. If all records were cancelled, the store would stay
      // incomplete.
      download.priority == .waiting, download.subject != .records
    {
      log("\(node.name) cancels \(download.subject)")
      return try store.cancelDownloads([download.id])
    }
    var subjects: [DownloadSubject] = [
      .records, .changes, .readings(from: 1_700_000_000, until: .max),
      .readings(from: .min, until: 1_700_000_000 + 600 * Int64.random(in: 0..<8, using: &random)),
    ]
    subjects += try node.attachments().map { .attachment($0.digest) }
    if let guid = try liveRecord(of: node)?.guid { subjects.append(.record(guid)) }
    let subject = subjects.randomElement(using: &random) ?? .changes
    log("\(node.name) wants \(subject)")
    try store.queueDownload(subject, .waiting, at: node.clock)
  }

  func delete(_ node: SimulatedNode) throws {
    guard let record = try liveRecord(of: node) else { return }
    let all = try node.records().values.filter {
      $0.guid == record.guid || $0.state.entryGuid == record.guid
    }
    for gone in all { ledger.retire(gone.state.words) }
    log("\(node.name) deletes \(record.guid.prefix(4))")
    _ = try node.editor().delete(record.guid)
  }

  /// Undoes or redoes the last action on a node.
  func step(_ node: SimulatedNode) throws {
    let direction: UndoDirection = random.once(in: 3) ? .redo : .undo
    let store = try node.editing()
    guard case .action(let action)? = try store.nextStep(direction) else { return }
    let earlier = try node.records()
    let outcome = try store.apply(direction, to: action, at: node.clock)
    node.forgetRead()
    log("\(node.name) \(direction)es \(action.kind) of \(outcome.changed.map { $0.prefix(4) })")
    let later = try node.records()
    for guid in outcome.changed {
      guard let old = earlier[guid], let new = later[guid] else { continue }
      ledger.retire(old.state.words)
      if old.state.isDeleted, !new.state.isDeleted { markRestored(guid) }
    }
  }

  func resolve(_ node: SimulatedNode) throws {
    let conflicts = try node.conflicts()
    guard let conflict = conflicts.randomElement(using: &random) else { return }
    try resolve(conflict, node)
  }

  /// Notes that a person has restored a record. The server still has its deletion.
  private func markRestored(_ guid: String) {
    tombstones.remove(guid)
    broughtBack.insert(guid)
  }

  /// Marks the `Ledger` words of an entry's records as removed, because an entry that stays deleted deletes
  /// its records, too.
  private func retireChildren(of guid: String, _ node: SimulatedNode) throws {
    for child in try node.records().values where child.state.entryGuid == guid {
      ledger.retire(child.state.words)
    }
  }

  func resolve(_ conflict: RecordConflict, _ node: SimulatedNode) throws {
    if conflict.cause == .edited, conflict.mine.agrees(with: conflict.theirs) {
      throw Broken("\(node.name): the conflict of \(conflict.guid) has no difference")
    }
    let both = conflict.mine.words.union(conflict.theirs.words)
    let canKeepBoth =
      !conflict.mine.isDeleted && !conflict.theirs.isDeleted && conflict.guid != LogbookZones.baseGuid
    switch Int.random(in: 0..<(canKeepBoth ? 3 : 2), using: &random) {
    case 0:
      log("\(node.name) keeps mine of \(conflict.guid.prefix(4)) (\(conflict.cause))")
      ledger.retire(both.subtracting(conflict.mine.words))
      if conflict.mine.isDeleted { try retireChildren(of: conflict.guid, node) }
      try node.resolver().resolve(conflict, .mine, at: node.clock)
    case 1:
      log("\(node.name) keeps theirs of \(conflict.guid.prefix(4)) (\(conflict.cause))")
      ledger.retire(both.subtracting(conflict.theirs.words))
      if conflict.theirs.isDeleted {
        try retireChildren(of: conflict.guid, node)
      } else {
        markRestored(conflict.guid)
      }
      try node.resolver().resolve(conflict, .theirs, at: node.clock)
    default:
      let copy = random.uuid()
      log("\(node.name) keeps both of \(conflict.guid.prefix(4)), the other as \(copy.prefix(4))")
      ledger.move(conflict.theirs.words.subtracting(conflict.mine.words), from: conflict.guid, to: copy)
      try node.resolver().resolve(conflict, .both(guid: copy), at: node.clock)
    }
    if !conflict.mine.isDeleted { markRestored(conflict.guid) }
  }
}
