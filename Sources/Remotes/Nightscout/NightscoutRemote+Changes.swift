// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Fetches changes of others. The history has those of API v3. A sweep over event times finds changes without marks,
/// such as those of API v1 and the web page.
extension NightscoutRemote {
  private static let latestPath = "/api/v3/lastModified"
  /// The number of requests without changes after which the caller is asked whether it still has time.
  private static let maxSteps = 4
  /// The maximum number of records missing from sweeps that one run looks up individually.
  private static let maxSought = 50

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(ServiceError) -> ChangePage? {
    let known = cursor.map(NightscoutCursor.init)
    if case .some(.none) = known { throw .positionUnknown }
    let before = known ?? nil
    var now = if let before, before.round != nil { before } else { try await begin(before) }
    now.window.seen.merge(NightscoutCursor.sent(run.lastSeenPosition)) { seen, _ in seen }
    var page = NightscoutPage(writer: NightscoutWriter(run))
    try await countUnfound(&now, &page)
    for _ in 0..<Self.maxSteps where page.isEmpty && now.round != nil {
      try await step(&now, limit, &page, mayRepair: run.mayRepair)
    }
    // A sweep without changes leaves the cursor as it was.
    if page.isEmpty, now == before { return nil }
    var changes = ChangePage(
      readings: page.readings, foreign: page.foreign, records: page.records, cursor: now.text,
      hasMore: now.round != nil)
    changes.notTaken = page.notTaken
    return changes
  }

  /// Counts entries whose `date` is not a number of milliseconds, which no search by time finds. The search is repeated
  /// every few hours, and each entry is counted once.
  private func countUnfound(
    _ cursor: inout NightscoutCursor, _ page: inout NightscoutPage
  ) async throws(ServiceError) {
    let due = (cursor.unfoundAsked ?? 0) + NightscoutCursor.unfoundWait
    guard let round = cursor.round, round.asked > due else { return }
    var count = 0
    for (name, value) in [("date$lt", String(NightscoutTime.minMilliseconds)), ("date$re", ".")] {
      let found = try await list(Self.path(.entries), [(name, value)], limit: Self.maxDocuments).items
      count += found.compactMap(NightscoutDocument.init).count { reading($0, of: .entries) != nil }
    }
    page.refuse(NightscoutRefusal.dateIsNoNumber, count - (cursor.unfound ?? 0))
    (cursor.unfoundAsked, cursor.unfound) = (round.asked, max(count, cursor.unfound ?? 0))
  }

  /// The first step of a round. A round without changes needs only two further requests. The history is read every few
  /// hours, if a latest time changed, or if it is meaningless because an event is in the future.
  private func begin(_ before: NightscoutCursor?) async throws(ServiceError) -> NightscoutCursor {
    let latest = try await latestTimes()
    let asked = try await session.now()
    guard var cursor = before else {
      var cursor = NightscoutCursor(asked: asked, latest: latest)
      cursor.round = NightscoutRound(
        asked: asked, latest: latest,
        steps: [
          .init(task: .history, walk: .everything(of: .entries)),
          .init(task: .history, walk: .everything(of: .treatments)),
        ],
        readsHistory: true)
      return cursor
    }
    // A server whose clock was set back stamps writes below earlier ones.
    let start = min(cursor.complete, asked - NightscoutCursor.overlap)
    let isUnchanged = latest == cursor.latest && latest.count == 2
    // Everything up to here is pulled, now or in the next round that is late enough to see all writes.
    let isComplete = latest.values.allSatisfy { $0 <= cursor.complete }
    let canWait =
      latest.values.allSatisfy { $0 <= cursor.asked + NightscoutCursor.slack }
      && asked <= cursor.asked + NightscoutCursor.unfoundWait
    let isSetBack = asked < cursor.asked - NightscoutCursor.slack
    let readsHistory = isSetBack || !(isUnchanged && (isComplete || canWait))
    var steps: [NightscoutRound.Step] = []
    if readsHistory {
      steps += [
        .init(task: .history, walk: .history(of: .entries, from: start)),
        .init(task: .history, walk: .history(of: .treatments, from: start)),
      ]
    }
    // Deletions on the web page change neither marks nor latest times; only a sweep notices them.
    let from = cursor.window.start
    steps += [
      .init(task: .sweep, walk: .events(of: .entries, from: from)),
      .init(task: .sweep, walk: .events(of: .treatments, from: from)),
    ]
    cursor.round = NightscoutRound(asked: asked, latest: latest, steps: steps, readsHistory: readsHistory)
    return cursor
  }

  /// The latest time in each collection, of a change or of an event. It proves nothing by itself: an event in the
  /// future keeps it constant.
  private func latestTimes() async throws(ServiceError) -> [String: Int64] {
    let answer = try await session.send(.GET, Self.latestPath)
    guard answer.status == 200, let result = NightscoutAnswer.value(answer)?["result"],
      let collections = result["collections"]
    else { throw await session.serviceError(for: answer) }
    var latest: [String: Int64] = [:]
    for collection in [NightscoutCollection.entries, .treatments] {
      // An empty collection has no time.
      latest[collection.rawValue] = collections[collection.rawValue]?.integer ?? 0
    }
    return latest
  }

  /// Performs one request of a round, and adds its result to the page.
  private func step(
    _ cursor: inout NightscoutCursor, _ limit: Int, _ page: inout NightscoutPage, mayRepair: Bool
  ) async throws(ServiceError) {
    guard var round = cursor.round, var step = round.steps.first else { return finish(&cursor) }
    // Entries of this run are excluded: the walk through the history would return all of them.
    let isWritten = step.task == .history && step.walk.collection == .entries
    let documents = try await next(&step.walk, limit: limit, without: isWritten ? page.writer.run : nil)
    if mayRepair, step.walk.collection == .treatments {
      try await removeDoubles(among: documents, page.writer)
    }
    switch (step.task, step.walk.collection) {
    case (.sweep, .entries): sweepEntries(documents, step, &cursor, round.asked, &page)
    case (.sweep, .treatments): try await sweepTreatments(documents, &step, &cursor, round.asked, &page)
    case (.history, _):
      for document in documents where !cameAndWent(document, since: cursor.asked) {
        add(document, step, &cursor, to: &page)
        noteSeen(document, step, &cursor)
      }
    }
    if step.walk.isAtEnd {
      round.steps.removeFirst()
    } else {
      step.isSplit = true
      round.steps[0] = step
    }
    cursor.round = round
    if round.steps.isEmpty { finish(&cursor) }
  }

  /// Whether it is a tombstone of another program's document that was created and deleted since the last round.
  private func cameAndWent(_ document: NightscoutDocument, since asked: Int64) -> Bool {
    document.isDeleted && document.own == nil && (document["srvCreated"]?.integer ?? 0) > asked
  }

  /// Remembers records in the history, since API v1 may delete them before the next sweep.
  private func noteSeen(
    _ document: NightscoutDocument, _ step: NightscoutRound.Step, _ cursor: inout NightscoutCursor
  ) {
    guard step.walk.collection == .treatments else { return }
    for record in NightscoutTreatment.records(document, zone) {
      let seen = NightscoutCursor.Seen(record)
      let isSwept = !record.state.isDeleted && seen.milliseconds > cursor.window.start
      cursor.window.seen[record.guid] = isSwept ? seen : nil
    }
  }

  private func finish(_ cursor: inout NightscoutCursor) {
    guard let round = cursor.round else { return }
    if round.readsHistory {
      (cursor.asked, cursor.latest) = (round.asked, round.latest)
      cursor.complete = round.asked - NightscoutCursor.overlap
    }
    cursor.round = nil
  }

  private func add(
    _ document: NightscoutDocument, _ step: NightscoutRound.Step, _ cursor: inout NightscoutCursor,
    to page: inout NightscoutPage
  ) {
    let contents = document.contents(of: step.walk.collection, zone)
    if !document.isDeleted, let (reading, device) = contents.reading {
      page.add(reading, device, of: document)
    }
    for record in contents.records { page.add(record, of: document) }
    refuse(document, contents, &cursor, &page)
    if document.isDeleted, document["app"]?.text == NightscoutDocument.app, document.acts,
      cursor.notesRefused(document)
    {
      page.refuse([NightscoutRefusal.actsAlthoughDeleted])
    }
  }

  /// Counts a rejected or partly rejected document.
  private func refuse(
    _ document: NightscoutDocument, _ contents: NightscoutContents, _ cursor: inout NightscoutCursor,
    _ page: inout NightscoutPage
  ) {
    guard !contents.rejections.isEmpty, !document.isDeleted, cursor.notesRefused(document) else { return }
    page.refuse(contents.rejections)
  }

  // MARK: Sweeps

  private func sweepEntries(
    _ documents: [NightscoutDocument], _ step: NightscoutRound.Step, _ cursor: inout NightscoutCursor,
    _ asked: Int64,
    _ page: inout NightscoutPage
  ) {
    let isWhole = step.walk.isAtEnd && !step.isSplit
    guard !isWhole || NightscoutCursor.digest(documents) != cursor.window.digest else { return }
    for document in documents { add(document, step, &cursor, to: &page) }
    cursor.window.digest = NightscoutCursor.digest(isWhole ? documents : [])
  }

  private func sweepTreatments(
    _ documents: [NightscoutDocument], _ step: inout NightscoutRound.Step, _ cursor: inout NightscoutCursor,
    _ asked: Int64, _ page: inout NightscoutPage
  ) async throws(ServiceError) {
    var seen = step.seen
    for document in documents {
      let contents = document.contents(of: .treatments, zone)
      for record in contents.records {
        seen[record.guid] = NightscoutCursor.Seen(record)
        if cursor.window.seen[record.guid]?.revision != record.revision { page.add(record, of: document) }
      }
      refuse(document, contents, &cursor, &page)
      guard let (reading, device) = contents.reading else { continue }
      let key = ReadingIdentity(reading, device).uuid
      seen[key] = NightscoutCursor.Seen(reading)
      if cursor.window.seen[key] == nil { page.add(reading, device, of: document) }
    }
    guard step.walk.isAtEnd else {
      step.seen = seen
      return
    }
    let missing = cursor.window.seen.filter { seen[$0.key] == nil && $0.value.isRecord }
    for (guid, old) in try await gone(missing, &seen) { page.add(tombstoneOf: guid, old) }
    let start = cursor.nextStart(at: asked)
    if start != cursor.window.start {
      cursor.window.start = start
      seen = seen.filter { $0.value.milliseconds > start }
      cursor.window.refused = cursor.window.refused.filter { $0.value > start }
      cursor.window.digest = NightscoutCursor.digest([])
    }
    cursor.window.seen = seen
  }

  /// Of the records that a sweep no longer finds, those that were deleted. Autoprune removes others without a deletion.
  private func gone(
    _ missing: [String: NightscoutCursor.Seen], _ seen: inout [String: NightscoutCursor.Seen]
  ) async throws(ServiceError) -> [(String, NightscoutCursor.Seen)] {
    var gone: [(String, NightscoutCursor.Seen)] = []
    for (place, item) in missing.sorted(by: { $0.key < $1.key }).enumerated() {
      guard place < Self.maxSought else {
        seen[item.key] = item.value
        continue
      }
      let path = NightscoutRevision(item.value.revision, guid: item.key).path
      switch try await find(.treatments, path) {
      case .document(let document):
        // It moved out of the period, or now belongs to another program.
        let records = NightscoutTreatment.records(document, zone)
        if !document.isMoved, !document.isWithdrawn, !records.contains(where: { $0.guid == item.key }) {
          gone.append((item.key, item.value))
        }
      // It may have been moved in time out of the period, or withdrawn.
      case .deleted:
        if try await live(item.key) == nil, try await withdrawnKey(path) == nil {
          gone.append((item.key, item.value))
        }
      case .absent:
        if try await keeps(item.value.milliseconds) { gone.append((item.key, item.value)) }
      }
    }
    return gone
  }
}

/// Compares a store with a site, which has no digests: every valid document is read once, in the order of events.
extension NightscoutRemote: SnapshotService {
  func snapshot(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    guard var walk = NightscoutWalk(snapshotAfter: cursor) else { throw .positionUnknown }
    let documents = try await next(&walk, limit: limit)
    // Written by no run, so that this store's own documents are included.
    var page = NightscoutPage(writer: NightscoutWriter(RunStamp(node: "", number: 0, id: "")))
    for document in documents {
      let contents = document.contents(of: walk.collection, zone)
      if let (reading, device) = contents.reading { page.add(reading, device, of: document) }
      for record in contents.records where !record.state.isDeleted { page.add(record, of: document) }
    }
    let hasMore = !walk.isAtEnd || walk.collection == .entries
    if walk.isAtEnd { walk = .everything(of: .treatments) }
    return ChangePage(
      readings: page.readings, foreign: page.foreign, records: page.records, cursor: walk.snapshotCursor,
      hasMore: hasMore)
  }
}

extension NightscoutWalk {
  /// The collection and the position of the next page.
  fileprivate var snapshotCursor: String { "\(collection.rawValue) \(position)" }

  /// The walk that continues there; nil for an invalid position.
  fileprivate init?(snapshotAfter cursor: String?) {
    guard let cursor else {
      self = .everything(of: .entries)
      return
    }
    let parts = cursor.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2, let collection = NightscoutCollection(rawValue: parts[0]) else { return nil }
    self = .everything(of: collection)
    position = parts[1]
  }
}
