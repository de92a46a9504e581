// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Sync

extension World {
  /// Checks that a node's content still exists after a step that was not its own. Only a person who saw it
  /// may remove it.
  func checkNothingOverwritten(_ node: SimulatedNode) throws {
    let after = try node.records()
    for (guid, old) in before {
      guard let record = after[guid] else { throw Broken("\(node.name): the record \(guid) is gone") }
      let lost = old.state.words.intersection(ledger.requiredWords(of: guid)).subtracting(record.state.words)
      guard lost.isEmpty else { throw Broken("\(node.name): the edits \(lost) of \(guid) were overwritten") }
      if old.state.isDeleted, !record.state.isDeleted, tombstones.contains(guid) {
        throw Broken("\(node.name): the deleted record \(guid) came back")
      }
      if record.version < old.version
        || record.version == old.version && record.versionSynced < old.versionSynced,
        // The base zone counts as sent until a remote was asked.
        !isServerRestored, !old.isUnjoinedBase
      {
        throw Broken("\(node.name): the versions of \(guid) went back")
      }
    }
  }

  /// Checks that deleted records stay deleted, and that records that a node considers synced are there.
  func checkServer() async throws {
    try await forgetItemsLostByRestore()
    guard random.once(in: 4) else { return }
    let held = try await server.everything()
    if kind == .site { try noteDeletions(held.records) }
    for record in held.records {
      if record.state.isDeleted {
        if !broughtBack.contains(record.guid) { tombstones.insert(record.guid) }
      } else if tombstones.contains(record.guid) {
        throw Broken("server: the deleted record \(record.guid) came back")
      } else if try !hasPendingRestoration(record.guid) {
        broughtBack.remove(record.guid)
      }
    }
    guard !isServerRestored else { return }
    let theirs = Dictionary(uniqueKeysWithValues: held.records.map { ($0.guid, $0) })
    let readings = try await server.digests()
    for node in nodes {
      for record in try node.records().values where record.versionSynced > 0 && !record.isUnjoinedBase {
        try checkSynced(record, theirs[record.guid], node)
      }
      try checkUploaded(node, readings)
      try await checkUploadedContents(node)
    }
  }

  /// A site shows deletions only by missing documents. A node that has not sent a record yet, or imports its
  /// row later, makes it again if API v1 left no trace of it. The manual page documents this.
  private func noteDeletions(_ records: [RemoteRecord]) throws {
    let live = Set(records.map(\.guid))
    for guid in heldBefore.subtracting(live) where addedHere.contains(guid) && !broughtBack.contains(guid) {
      if let site, site.hasWithdrawn(guid) { continue }
      let isAnswered = try nodes.allSatisfy { try $0.records()[guid].map { $0.versionSynced > 0 } ?? true }
      if isAnswered { tombstones.insert(guid) }
    }
    heldBefore = live
  }

  /// Two people may restore one record: the second decision may arrive after another deletion.
  private func hasPendingRestoration(_ guid: String) throws -> Bool {
    try nodes.contains { node in
      try node.records()[guid].map { $0.isPending && !$0.state.isDeleted } ?? false
    }
  }

  /// Checks that synced records are on the server, in this state or a later one.
  private func checkSynced(_ record: SyncRecord, _ theirs: RemoteRecord?, _ node: SimulatedNode) throws {
    guard let theirs else {
      // On a site, another program or node may have deleted the record.
      if kind == .site { return }
      throw Broken("\(node.name): \(record.guid) counts as synced, and the server does not have it")
    }
    if kind == .server {
      guard let mine = record.revision.flatMap(Self.place), let last = Self.place(theirs.revision) else {
        return
      }
      guard mine <= last else {
        throw Broken("\(node.name): \(record.guid) is ahead of the server")
      }
    }
    guard record.revision == theirs.revision else { return }
    guard let base = record.base, agree(base, theirs.state) else {
      throw Broken("\(node.name): the base of \(record.guid) is not what the server has")
    }
    guard record.isPending || agree(record.state, theirs.state) else {
      throw Broken("\(node.name): \(record.guid) counts as synced, and the server has another state")
    }
  }

  /// A store shows a treatment of another program in the zone at the time of the fetch. Only the instant is
  /// from that program.
  private func agree(_ mine: RecordState, _ theirs: RecordState) -> Bool {
    if mine.agrees(with: theirs) { return true }
    guard kind == .site, let offset = mine.statedOffset, let other = theirs.statedOffset else { return false }
    return mine.kind == theirs.kind && mine.isDeleted == theirs.isDeleted && mine.fields == theirs.fields
      && mine.deviceTime.seconds - Int64(offset) == theirs.deviceTime.seconds - Int64(other)
  }

  private static func place(_ revision: String) -> Int64? {
    revision.split(separator: ".").first.flatMap { Int64($0) }
  }

  /// Checks that every uploaded reading is on the server.
  private func checkUploaded(_ node: SimulatedNode, _ theirs: IdentityDigests) throws {
    let mine = try node.sync().compare { try $0.uploadedDigests() }
    // A site lacks readings that are hidden or being moved.
    if removesReadings { return }
    for bucket in mine.differing(from: theirs) where mine.counts[bucket] >= theirs.counts[bucket] {
      throw Broken("\(node.name): a reading in bucket \(bucket) counts as uploaded, and the server lacks it")
    }
  }

  /// Lets all nodes sync and decide until a whole round changes nothing.
  func syncUntilNothingChanges() async throws {
    try await forgetItemsLostByRestore()
    for node in nodes {
      await node.remote.setWeather(.calm)
      await node.remote.setPage(1000)
      await site?.network.makeReliable()
      // A started upload ends with the options with which it began.
      for _ in 0..<500 where node.session != nil { _ = try await takeStep(node) }
    }
    // After a change, the first run only reads the history of a site. The next one finds changes that leave
    // no trace there. And a run does not count the zones that it sends, which nodes before it in the round
    // then lack.
    var quietRounds = 0
    for _ in 0..<40 {
      var isQuiet = true
      for node in nodes {
        if try await !uploadFindsNothing(node) { isQuiet = false }
        if try decide(node) { isQuiet = false }
      }
      quietRounds = isQuiet ? quietRounds + 1 : 0
      if quietRounds == 2 { return }
    }
    throw Broken("the nodes do not come to rest")
  }

  /// Decides open conflicts like a person. Returns whether there were any.
  private func decide(_ node: SimulatedNode) throws -> Bool {
    var decides = false
    for conflict in try node.conflicts() {
      decides = true
      // One decision can end the next conflict, such as for an entry and its parts.
      if try node.conflicts().contains(conflict) { try resolve(conflict, node) }
    }
    let refused = try node.records().values.filter { $0.isQuarantined && !$0.isConflicted && $0.isPending }
    for record in refused.sorted(by: { $0.guid < $1.guid })
    where !record.state.isDeleted && record.state.kind.details?.isListed == true {
      decides = true
      try edit(record, node)
    }
    return decides
  }

  /// Whether an upload finds no difference.
  func uploadFindsNothing(_ node: SimulatedNode) async throws -> Bool {
    node.clock += 86_400
    site?.moveClock(by: 120_000)
    before = try node.records()
    var options = UploadOptions()
    options.joinsZones = true
    if node.isAskedForZone { options.zoneChoice = ZoneChoice.allCases.randomElement(using: &random) }
    node.isAskedForZone = false
    try node.beginUpload(options)
    var (ending, summary) = (UploadEnding?.none, UploadSummary())
    for _ in 0..<500 where node.session != nil {
      summary = node.session?.summary ?? summary
      ending = try await takeStep(node)
    }
    try checkNothingOverwritten(node)
    say("\(node.name) at rest: \(ending.map { "\($0)" } ?? "never ends")")
    return ending == .complete && summary == UploadSummary()
  }

  /// Checks that a node has the records of the host and no others. A site shows neither tombstones nor hidden
  /// records, except for records of other programs.
  private func checkSameRecords(_ node: SimulatedNode, _ theirs: Set<String>) throws {
    let records = try node.records()
    let mine = Set(records.keys)
    var shown = mine
    if kind == .site {
      let hidden = try node.sync().compare { try $0.hiddenRecords() }
      shown = try mine.filter {
        try records[$0]?.state.isDeleted == false && !hidden.contains($0) && !differsWhileHidden($0)
      }
    }
    guard shown.isSubset(of: theirs), theirs.isSubset(of: kind == .site ? mine : shown) else {
      throw Broken(
        "\(node.name): it has \(shown.count) records, the server \(theirs.count): "
          + "\(shown.symmetricDifference(theirs).sorted())")
    }
  }

  /// Checks that all sides have the same content, with every edit that no person removed.
  func compare() async throws {
    let held = try await server.everything()
    let theirs = try await server.digests()
    for node in nodes {
      try await checkNoDifference(node)
      let mine = try node.sync().compare { try $0.uploadedDigests() }
      guard kind == .site || mine.differing(from: theirs).isEmpty else {
        throw Broken("\(node.name): its readings are not those of the server")
      }
      try checkSameRecords(node, Set(held.records.map(\.guid)))
      let records = try node.records()
      for record in held.records {
        guard let mine = records[record.guid], agree(mine.state, record.state), !mine.isPending else {
          throw Broken("\(node.name): \(record.guid) is not what the server has")
        }
        // Deleted records get no further information.
        guard mine.state.isDeleted || mine.state.provenance == record.state.provenance else {
          throw Broken("\(node.name): \(record.guid) does not come from where the server says")
        }
      }
    }
    try compareVisible()
    try compareSite()
    try checkNoReadingIsLost()
    var words = held.records.reduce(into: Set<String>()) { $0.formUnion($1.state.words) }
    // A site shows no hidden items.
    if kind == .site { for node in nodes { words.formUnion(try hiddenWords(of: node)) } }
    let lost = ledger.allOwed.subtracting(words)
    guard lost.isEmpty else { throw Broken("the edits \(lost.sorted()) are lost") }
    try compareInstants()
    try await compareContents()
  }
}
