// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Sync

extension World {
  /// Checks that the content of a node still exists after a step of sync or an import. Only a person who saw
  /// an edit may remove it.
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
        // The base zone counts as synced until the store has asked a remote for its zone.
        !isServerRestored, !old.isUnjoinedBase
      {
        throw Broken("\(node.name): the versions of \(guid) went back")
      }
    }
  }

  /// Checks that deleted records stay deleted on the server, and that the server has each record that a node
  /// considers synced.
  func checkServer() async throws {
    try await forgetItemsLostByRestore()
    guard random.once(in: 4) else { return }
    let held = try await server.everything()
    if kind == .site { try addTombstones(held.records) }
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

  /// A site does not report deletions: documents are just missing. A node may create the record again if it
  /// has not sent it yet or imports its row. The manual page documents this.
  private func addTombstones(_ records: [RemoteRecord]) throws {
    let live = Set(records.map(\.guid))
    for guid in heldBefore.subtracting(live) where addedHere.contains(guid) && !broughtBack.contains(guid) {
      if let site, site.hasWithdrawn(guid) { continue }
      let isAnswered = try nodes.allSatisfy { try $0.records()[guid].map { $0.versionSynced > 0 } ?? true }
      if isAnswered { tombstones.insert(guid) }
    }
    heldBefore = live
  }

  /// Whether a node has not yet sent a version of this record that is not deleted. If two people restore the
  /// same record, the second restoration may arrive after another deletion.
  private func hasPendingRestoration(_ guid: String) throws -> Bool {
    try nodes.contains { node in
      try node.records()[guid].map { $0.isPending && !$0.state.isDeleted } ?? false
    }
  }

  /// Checks that the server has a synced record in the node's version or in a later one.
  private func checkSynced(_ record: SyncRecord, _ theirs: RemoteRecord?, _ node: SimulatedNode) throws {
    guard let theirs else {
      // On a site, another program or another node may have deleted the record.
      if kind == .site { return }
      throw Broken("\(node.name): \(record.guid) counts as synced, and the server does not have it")
    }
    if kind == .server {
      guard let mine = record.revision.flatMap(Self.sequenceNumber),
        let last = Self.sequenceNumber(theirs.revision)
      else { return }
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

  /// Whether two versions agree. If another program made a treatment, only its instant is compared: the store
  /// chose the shown time at the time of the fetch.
  private func agree(_ mine: RecordState, _ theirs: RecordState) -> Bool {
    if mine.agrees(with: theirs) { return true }
    guard kind == .site, let offset = mine.statedOffset, let other = theirs.statedOffset else { return false }
    return mine.kind == theirs.kind && mine.isDeleted == theirs.isDeleted && mine.fields == theirs.fields
      && mine.deviceTime.seconds - Int64(offset) == theirs.deviceTime.seconds - Int64(other)
  }

  private static func sequenceNumber(_ revision: String) -> Int64? {
    revision.split(separator: ".").first.flatMap { Int64($0) }
  }

  /// Checks that the server has every reading that a node marked as uploaded.
  private func checkUploaded(_ node: SimulatedNode, _ theirs: IdentityDigests) throws {
    let mine = try node.sync().compare { try $0.uploadedDigests() }
    // A site may lack readings that are hidden or that are being moved.
    if removesReadings { return }
    for bucket in mine.differing(from: theirs) where mine.counts[bucket] >= theirs.counts[bucket] {
      throw Broken("\(node.name): a reading in bucket \(bucket) counts as uploaded, and the server lacks it")
    }
  }

  /// Lets all nodes upload in rounds and resolve their conflicts, until two rounds change nothing.
  func syncUntilNothingChanges() async throws {
    try await forgetItemsLostByRestore()
    for node in nodes {
      await node.remote.setWeather(.calm)
      await node.remote.setPage(1000)
      await site?.network.makeReliable()
      // A running upload keeps the options with which it began, so it is completed first.
      for _ in 0..<500 where node.session != nil { _ = try await takeStep(node) }
    }
    // One round without changes is not enough. Some changes on a site leave no trace, and only the next
    // upload finds them. Also, an upload may send zones, which do not count as changes. Nodes that uploaded
    // earlier in the round do not have these zones yet.
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

  /// Resolves all conflicts of a node, as a person would. Returns whether there were any.
  private func decide(_ node: SimulatedNode) throws -> Bool {
    var decides = false
    for conflict in try node.conflicts() {
      decides = true
      // A resolution may end other conflicts, for example those of an entry's records.
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

  /// Runs an upload. Returns whether it completed and changed nothing.
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
    log("\(node.name) at rest: \(ending.map { "\($0)" } ?? "never ends")")
    return ending == .complete && summary == UploadSummary()
  }

  /// Checks that a node has exactly the records of the host. A site does not have deleted and hidden records,
  /// except for records of other programs.
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

  /// Checks that all nodes and the host have the same content, and that it contains every edit that no person
  /// removed.
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
        // A deleted record does not receive a provenance.
        guard mine.state.isDeleted || mine.state.provenance == record.state.provenance else {
          throw Broken("\(node.name): \(record.guid) does not come from where the server says")
        }
      }
    }
    try compareVisible()
    try compareSite()
    try checkNoReadingIsLost()
    var words = held.records.reduce(into: Set<String>()) { $0.formUnion($1.state.words) }
    // A site has no hidden records, so their words are looked up in the nodes.
    if kind == .site { for node in nodes { words.formUnion(try hiddenWords(of: node)) } }
    let lost = ledger.allOwed.subtracting(words)
    guard lost.isEmpty else { throw Broken("the edits \(lost.sorted()) are lost") }
    try compareInstants()
    try await compareContents()
  }
}
