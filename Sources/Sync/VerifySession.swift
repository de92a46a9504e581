// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Compares a store with its remote: digests over buckets first, then the items of those buckets that differ; all items
/// where the remote has no digests. What is pending to be sent, and what others changed since the last pull, is no
/// difference.
///
/// It asks under the last run of the store, so that nothing is written, here or there, before `fix`.
package final class VerifySession {
  /// What was found and done so far.
  package internal(set) var summary = VerifySummary()

  /// Receives how many of the readings of differing buckets the remote has sent, and how many there are.
  package var onProgress: ((_ done: Int, _ total: Int) -> Void)?
  /// How many readings of the store are compared at one time.
  var maxHeld = 200_000

  let store: Store
  let remote: any LogbookService
  private let basis: Basis
  let remoteName: String
  var run = RunStamp(node: "", number: 0, id: "")
  /// Readings that the remote lacks.
  var missingThere: [HeldReading] = []
  /// Readings that the store lacks, by their identities, each with its device.
  var missingHere: [[UInt8]: FoundReading] = [:]
  /// Records that the remote lacks.
  var recordsMissingThere: [SyncRecord] = []
  /// Records that the store lacks.
  var recordsMissingHere: [String: RemoteRecord] = [:]
  /// Records of which the remote has other content.
  var recordsDiffering: [String: RemoteRecord] = [:]
  /// Records that another program changed here without raising their version.
  var recordsAltered: [SyncRecord] = []

  /// The most items of one request.
  static let maxItems = 10_000

  /// What the store is compared with.
  private enum Basis {
    case digests(any DigestService)
    case snapshot(any SnapshotService)
  }

  /// A reading that the remote has.
  struct FoundReading {
    let reading: Reading
    let device: Device
    /// Whether a document of another program holds it.
    var isForeign = false
  }

  /// A comparison; nil for a remote that gives neither digests nor all that it holds.
  ///
  /// - Parameters:
  ///   - store: opened as `sync` where differences are fixed, under the lock of uploads.
  ///   - remoteName: the source that the ingest of fetched readings names.
  package init?(_ store: Store, _ remote: any LogbookService, named remoteName: String) {
    if let digests = remote.digests {
      basis = .digests(digests)
    } else if let snapshots = remote.snapshots {
      basis = .snapshot(snapshots)
    } else {
      return nil
    }
    self.store = store
    self.remote = remote
    self.remoteName = remoteName
  }

  /// Finds the differences.
  ///
  /// - Throws: `ServiceError`, and `Failure`: `temporary` for a store that was never uploaded.
  package func compare() async throws {
    run = try store.compare { try $0.currentRun() }
    guard !run.id.isEmpty else {
      throw Failure(
        .temporary,
        "\(store.path): no upload has run yet, so there is nothing to compare; run 'glucoport upload' first"
      )
    }
    run.mayRepair = false
    switch basis {
    case .digests(let digests):
      // A remote that was restored from a backup does not know the position. What it lacks is what is asked for.
      run.lastSeenPosition = nil
      try await compareReadings(digests)
      try await compareRecords(digests)
    case .snapshot(let snapshots): try await compareAll(snapshots)
    }
    try await leaveOutUnpulled()
    recordsAltered = try store.compare { try $0.alteredRecords() }
    // Each record is one difference. What is altered is sent, so that the remote's other content becomes a conflict.
    for record in recordsAltered { recordsDiffering[record.guid] = nil }
    reportDifferences()
  }
}

// MARK: - Comparison

extension VerifySession {
  private func compareReadings(_ digests: any DigestService) async throws {
    let (known, mine) = try store.compare { try $0.heldBuckets() }
    let theirs = try await remote.readingDigests(run)
    let buckets = known.differing(from: theirs)
    let total = buckets.reduce(0) { $0 + min(theirs.counts[$1], Int(Int32.max)) }
    // Where all of two million differ, those of one portion take 60 MB, and those of all ten times as much.
    let portions = BucketGroups(
      buckets, counts: zip(mine.counts, theirs.counts).map(max), maxItems: maxHeld,
      maxBuckets: IdentityDigests.bucketCount)
    var done = 0
    for portion in portions.groups.map(Set.init) {
      var held = try store.compare { try $0.heldReadings(in: portion, by: mine) }
      for group in BucketGroups(portion, counts: theirs.counts, maxItems: Self.maxItems).groups {
        let batch = try await readings(in: group, digests)
        compare(batch, with: &held, portion)
        done += batch.readings.count
        onProgress?(done, total)
      }
      missingThere += held.values.filter(\.isUploaded)
    }
    missingThere.sort { $0.deviceTime.seconds < $1.deviceTime.seconds }
  }

  /// Takes what both sides have out of what the store holds in some buckets.
  private func compare(_ batch: ReadingBatch, with held: inout [[UInt8]: HeldReading], _ buckets: Set<Int>) {
    for reading in batch.readings {
      let device = batch.devices[Int(reading.device.number)]
      let identity = ReadingIdentity(reading, device).key
      if buckets.contains(IdentityDigests.bucket(of: identity)), held.removeValue(forKey: identity) == nil {
        note(missing: FoundReading(reading: reading, device: device), identity)
      }
    }
  }

  /// Notes a reading that the store lacks, unless no pull takes it.
  func note(missing found: FoundReading, _ identity: [UInt8]) {
    if PullGate.fault(of: found.reading) == nil { missingHere[identity] = found }
  }

  /// The readings in these buckets, in as many requests as it takes.
  private func readings(
    in buckets: [Int], _ digests: any DigestService
  ) async throws(ServiceError) -> ReadingBatch {
    do throws(ServiceError) {
      return try await digests.readings(in: buckets, run)
    } catch {
      guard error == .tooLarge, buckets.count > 1 else { throw error }
    }
    let first = try await readings(in: Array(buckets.prefix(buckets.count / 2)), digests)
    let second = try await readings(in: Array(buckets.dropFirst(buckets.count / 2)), digests)
    var batch = first
    batch.devices += second.devices
    for var reading in second.readings {
      reading.device = DeviceIndex(reading.device.number + Int32(first.devices.count))
      batch.readings.append(reading)
    }
    return batch
  }

  private func compareRecords(_ digests: any DigestService) async throws {
    let known = try store.compare { try $0.knownRecordDigests() }
    let theirs = try await digests.recordDigests(run)
    let buckets = known.differing(from: theirs)
    guard !buckets.isEmpty else { return }
    var held = try store.compare { try $0.heldRecords(in: buckets) }
    var pages = 0
    for group in BucketGroups(buckets, counts: theirs.counts, maxItems: 1_000_000).groups {
      var page = RecordPage(records: [], hasMore: true)
      while page.hasMore {
        page = try await digests.records(in: group, after: page.records.last?.guid, run)
        pages += 1
        guard !page.hasMore || (!page.records.isEmpty && pages < PullProgress.maxPages) else {
          throw ServiceError.protocolViolation("\(remoteName): its list of records does not end")
        }
        for record in page.records { compare(record, with: held.removeValue(forKey: record.guid), buckets) }
      }
    }
    recordsMissingThere = held.values.filter(\.isSettled).sorted { $0.guid < $1.guid }
  }

  func compare(_ incoming: RemoteRecord, with record: SyncRecord?, _ buckets: Set<Int>) {
    guard buckets.contains(IdentityDigests.bucket(ofRecord: incoming.guid)) else { return }
    // What no pull takes is no difference.
    guard PullGate.fault(of: incoming.state, known: record?.state) == nil else { return }
    guard let record else {
      recordsMissingHere[incoming.guid] = incoming
      return
    }
    guard record.isSettled, record.lastSyncedState?.agrees(with: incoming.state) != true else { return }
    recordsDiffering[incoming.guid] = incoming
  }

  /// Takes out what is pending to be fetched or was left out, and what others changed since the last pull, which the
  /// next upload fetches anyway. What this node wrote itself is not among the changes, and stays a difference.
  private func leaveOutUnpulled() async throws {
    let found = unpulledCount
    guard found > 0 else { return }
    let unfetched = try store.compare { try $0.unfetched() }
    missingHere = missingHere.filter { !unfetched.includesReading(at: $0.value.reading.deviceTime.seconds) }
    if unfetched.includesRecords { (recordsMissingHere, recordsDiffering) = ([:], [:]) }
    if var cursor = try store.compare({ try $0.cursor() }) {
      var progress = PullProgress()
      while let page = try await changes(after: cursor) {
        if let fault = progress.fault(of: page, after: cursor, in: 0) {
          throw ServiceError.protocolViolation("\(remoteName): \(fault)")
        }
        leaveOut(page)
        progress.note(page, in: 0)
        guard page.hasMore, !progress.isExhausted else { break }
        cursor = page.cursor
      }
    } else {
      (missingHere, recordsMissingHere, recordsDiffering) = ([:], [:], [:])
    }
    summary.notPulled = found - unpulledCount
  }

  /// Whether a record that was deleted there is still compared.
  var keepsTombstones: Bool {
    if case .digests = basis { true } else { false }
  }

  /// Differences that others may have made since the last pull.
  private var unpulledCount: Int {
    (keepsTombstones ? 0 : recordsMissingThere.count) + missingHere.count + recordsMissingHere.count
      + recordsDiffering.count
  }

  /// A page of changes; nil, too, of a remote that was restored from a backup and does not know the cursor: then nobody
  /// can know what is new, so that all of it is reported.
  private func changes(after cursor: String) async throws(ServiceError) -> ChangePage? {
    do throws(ServiceError) {
      return try await remote.changes(after: cursor, limit: Self.maxItems, run)
    } catch {
      guard error == .positionUnknown else { throw error }
      return nil
    }
  }

  private func leaveOut(_ page: ChangePage) {
    for reading in page.readings.readings {
      let identity = ReadingIdentity(
        device: page.readings.devices[Int(reading.device.number)], kind: reading.kind,
        positionKind: reading.positionKind,
        position: reading.position, valueBucket: reading.valueBucket, occurrence: Int64(reading.occurrence))
      missingHere[identity.key] = nil
    }
    for record in page.records {
      recordsMissingHere[record.guid] = nil
      recordsDiffering[record.guid] = nil
    }
    let deleted = Set(page.records.filter(\.state.isDeleted).map(\.guid))
    recordsMissingThere.removeAll { deleted.contains($0.guid) }
  }

  private func reportDifferences() {
    for reading in missingThere {
      summary.note(
        FoundDifference(kind: .missingThere, item: .reading(reading.kind, reading.device, reading.deviceTime))
      )
    }
    let here = missingHere.values.sorted { $0.reading.deviceTime.seconds < $1.reading.deviceTime.seconds }
    for found in here {
      summary.note(
        FoundDifference(
          kind: .missingHere, item: .reading(found.reading.kind, found.device, found.reading.deviceTime)))
    }
    for record in recordsMissingThere { note(record.guid, record.state, .missingThere) }
    for record in recordsAltered { note(record.guid, record.state, .altered) }
    for (records, kind) in [
      (recordsMissingHere, FoundDifference.Kind.missingHere), (recordsDiffering, .different),
    ] {
      for record in records.values.sorted(by: { $0.guid < $1.guid }) { note(record.guid, record.state, kind) }
    }
  }

  private func note(_ guid: String, _ state: RecordState, _ kind: FoundDifference.Kind) {
    summary.note(FoundDifference(kind: kind, item: .record(state.kind, guid: guid, state.deviceTime)))
  }
}
