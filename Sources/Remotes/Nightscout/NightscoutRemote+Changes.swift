// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Pulls the changes of other programs and nodes. The history contains changes by API v3. A sweep over the
/// events of the last days finds changes by API v1 and the web page, which do not change `srvModified`.
extension NightscoutRemote {
  private static let latestPath = "/api/v3/lastModified"
  /// The maximum number of steps without changes in one call. After them, the call returns, so that the
  /// caller can check its time limit.
  private static let maxSteps = 4
  /// The maximum number of records that one run looks up because a sweep did not find them.
  private static let maxLookedUp = 50

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
    // If a sweep found no changes, the cursor is the same as before. In this case, the result is nil: there
    // are no changes.
    if page.isEmpty, now == before { return nil }
    var changes = ChangePage(
      readings: page.readings, foreign: page.foreign, records: page.records, cursor: try now.text,
      hasMore: now.round != nil)
    changes.notTaken = page.notTaken
    return changes
  }

  /// Counts entries that no search by time finds, since their `date` is not a number of milliseconds. They
  /// are counted every few hours, and only the increase is reported.
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

  /// Begins a round with one request. A round without changes needs only two further requests. The history is
  /// read if a latest time has changed, or if the server's clock was set back. If writes may be missing that
  /// became visible late, the history is also read every few hours. It is always read if an event is in the
  /// future, since the latest times then do not show changes.
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
    // If the clock of the server was set back, writes get earlier times than documents that are already
    // stored. So the history is read from `complete` or from the clock's time on, whichever is earlier.
    let start = min(cursor.complete, asked - NightscoutCursor.overlap)
    let isUnchanged = latest == cursor.latest && latest.count == 2
    // Whether all documents up to the latest times were pulled, including writes that became visible late.
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
    // Deletions on the web page change neither `srvModified` nor the latest times. Only a sweep notices them.
    let from = cursor.window.start
    steps += [
      .init(task: .sweep, walk: .events(of: .entries, from: from)),
      .init(task: .sweep, walk: .events(of: .treatments, from: from)),
    ]
    cursor.round = NightscoutRound(asked: asked, latest: latest, steps: steps, readsHistory: readsHistory)
    return cursor
  }

  /// The latest time in each collection, either of a change or of an event. If an event is in the future, its
  /// time is returned, even if documents change later.
  private func latestTimes() async throws(ServiceError) -> [String: Int64] {
    let answer = try await session.send(.GET, Self.latestPath)
    guard answer.status == 200, let result = NightscoutAnswer.value(answer)?["result"],
      let collections = result["collections"]
    else { throw await session.serviceError(for: answer) }
    var latest: [String: Int64] = [:]
    for collection in [NightscoutCollection.entries, .treatments] {
      // The site states no time for an empty collection.
      latest[collection.rawValue] = collections[collection.rawValue]?.integer ?? 0
    }
    return latest
  }

  /// Performs one step of a round, usually with one request, and adds the result to the page.
  private func step(
    _ cursor: inout NightscoutCursor, _ limit: Int, _ page: inout NightscoutPage, mayRepair: Bool
  ) async throws(ServiceError) {
    guard var round = cursor.round, var step = round.steps.first else { return finish(&cursor) }
    // Entries that this run wrote are excluded. Otherwise reading the history would return all of them.
    let isWritten = step.task == .history && step.walk.collection == .entries
    let documents = try await next(&step.walk, limit: limit, without: isWritten ? page.writer.run : nil)
    if mayRepair, step.walk.collection == .treatments {
      try await removeDoubles(among: documents, page.writer)
    }
    switch (step.task, step.walk.collection) {
    case (.sweep, .entries): sweepEntries(documents, step, &cursor, round.asked, &page)
    case (.sweep, .treatments): try await sweepTreatments(documents, &step, &cursor, round.asked, &page)
    case (.history, _):
      for document in documents where !wasCreatedAndDeleted(document, since: cursor.asked) {
        add(document, step, &cursor, to: &page)
        rememberSeen(document, step, &cursor)
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

  /// Whether another program created and deleted the document since the last round. Only its tombstone is
  /// left, and no store needs it.
  private func wasCreatedAndDeleted(_ document: NightscoutDocument, since asked: Int64) -> Bool {
    document.isDeleted && document.own == nil && (document["srvCreated"]?.integer ?? 0) > asked
  }

  /// Remembers the records found in the history as if a sweep had found them. If API v1 then deletes their
  /// documents, the next sweep notices this.
  private func rememberSeen(
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
    if document.isDeleted, document["app"]?.text == NightscoutDocument.app, document.countsOnSite,
      cursor.countsRefused(document)
    {
      page.refuse([NightscoutRefusal.actsAlthoughDeleted])
    }
  }

  /// Counts a document that was rejected completely or in part. A document that an earlier call has counted
  /// is not counted again.
  private func refuse(
    _ document: NightscoutDocument, _ contents: NightscoutContents, _ cursor: inout NightscoutCursor,
    _ page: inout NightscoutPage
  ) {
    guard !contents.rejections.isEmpty, !document.isDeleted, cursor.countsRefused(document) else { return }
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
    for (guid, old) in try await recordsDeletedOnSite(missing, &seen) { page.add(tombstoneOf: guid, old) }
    let start = cursor.nextStart(at: asked)
    if start != cursor.window.start {
      cursor.window.start = start
      seen = seen.filter { $0.value.milliseconds > start }
      cursor.window.refused = cursor.window.refused.filter { $0.value > start }
      cursor.window.digest = NightscoutCursor.digest([])
    }
    cursor.window.seen = seen
  }

  /// Returns those records of `missing` that were deleted on the site. A sweep did not find the records in
  /// `missing`. The site's autoprune removes old documents, which is not a deletion.
  private func recordsDeletedOnSite(
    _ missing: [String: NightscoutCursor.Seen], _ seen: inout [String: NightscoutCursor.Seen]
  ) async throws(ServiceError) -> [(String, NightscoutCursor.Seen)] {
    var gone: [(String, NightscoutCursor.Seen)] = []
    for (place, item) in missing.sorted(by: { $0.key < $1.key }).enumerated() {
      guard place < Self.maxLookedUp else {
        seen[item.key] = item.value
        continue
      }
      let path = NightscoutRevision(item.value.revision, guid: item.key).path
      switch try await find(.treatments, path) {
      case .document(let document):
        // The document still exists. If it still contains the record, only the time of its event has changed,
        // so that the sweep does not read it.
        let records = NightscoutTreatment.records(document, zone)
        if !document.isMoved, !document.isWithdrawn, !records.contains(where: { $0.guid == item.key }) {
          gone.append((item.key, item.value))
        }
      // The record may be in another document, since its time was changed, or it may be withdrawn. In both
      // cases, it was not deleted.
      case .deleted:
        if try await undeletedDocument(item.key) == nil, try await withdrawnKey(path) == nil {
          gone.append((item.key, item.value))
        }
      case .absent:
        if try await hasTreatments(before: item.value.milliseconds) { gone.append((item.key, item.value)) }
      }
    }
    return gone
  }
}

/// Reads all documents of a site for a comparison. A site provides no digests, so every valid document is
/// read once, in the order of events.
extension NightscoutRemote: SnapshotService {
  func snapshot(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    guard var walk = NightscoutWalk(snapshotAfter: cursor) else { throw .positionUnknown }
    let documents = try await next(&walk, limit: limit)
    // This writer matches no run, so that the page also includes documents that this store wrote.
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
  /// The collection and the position at which the next page begins.
  fileprivate var snapshotCursor: String { "\(collection.rawValue) \(position)" }

  /// Parses the collection and the position in a text of `snapshotCursor`, where the walk continues; nil for
  /// an invalid text.
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
