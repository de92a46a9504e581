// SPDX-License-Identifier: Apache-2.0

package import Logbook
import LogbookAPI
package import LogbookStore

/// Compares a store with its remote. First, digests over the buckets of `IdentityDigests` are compared, then
/// the items of buckets that differ. If the remote has no digests, all items are compared. Pending items are
/// not differences, and neither are changes that other nodes made since the last pull.
///
/// Requests use the number and id of the store's last upload. So neither the store nor the remote writes
/// anything before `fix`.
package final class VerifySession {
  /// The results so far.
  package internal(set) var summary = VerifySummary()

  /// Receives how many readings were downloaded, and how many there are in all buckets that differ.
  package var onProgress: ((_ done: Int, _ total: Int) -> Void)?
  /// The maximum number of the store's readings that are compared at the same time. A dictionary with more
  /// than 196,608 entries (three quarters of a power of two) would take twice the memory.
  var maxHeld = 190_000

  let store: Store
  let remote: any LogbookService
  private let basis: Basis
  let remoteName: String
  var run = RunStamp(node: "", number: 0, id: "")
  /// The readings that the remote lacks.
  var missingOnRemote: [HeldReading] = []
  /// The readings that the store lacks, by identity, each with its device.
  var missingLocally: [[UInt8]: FoundReading] = [:]
  /// The records that the remote lacks.
  var recordsMissingOnRemote: [SyncRecord] = []
  /// The records that the store lacks, by guid.
  var recordsMissingLocally: [String: RemoteRecord] = [:]
  /// The remote's states of records whose content differs, by guid.
  var recordsDiffering: [String: RemoteRecord] = [:]
  /// The guids of pending records with contents of undone imports. A site never gets these records, so that
  /// other content there is a difference. Empty for a remote that gets hidden records.
  private var undoneRecords: Set<String> = []
  /// The records whose content another program changed in this store without raising the version.
  var recordsAltered: [SyncRecord] = []

  /// The maximum number of items in one request.
  static let maxItems = 10_000

  /// The service of the remote that is used for the comparison.
  private enum Basis {
    case digests(any DigestService)
    case snapshot(any SnapshotService)
  }

  /// A reading that the remote has.
  struct FoundReading {
    let reading: Reading
    let device: Device
    /// Whether the reading is in a document of another program.
    var isForeign = false
  }

  /// Nil if the remote provides neither digests nor snapshots.
  ///
  /// - Parameters:
  ///   - store: the store. To correct differences, it must be opened as `sync`, and the lock of uploads must
  ///     be held.
  ///   - remoteName: the name of the remote, which is stored with the ingest of downloaded readings.
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

  /// Finds all differences.
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
      // If the remote was restored from a backup, it does not know the position. The comparison then finds
      // the lost items.
      run.lastSeenPosition = nil
      try await compareReadings(digests)
      try await compareRecords(digests)
    case .snapshot(let snapshots): try await compareAll(snapshots)
    }
    try await leaveOutUnpulled()
    recordsAltered = try store.compare { try $0.alteredRecords() }
    // Each record is counted as one difference. An altered record is sent. If the remote has different
    // content, this leads to a conflict.
    for record in recordsAltered { recordsDiffering[record.guid] = nil }
    reportDifferences()
  }
}

// MARK: - Comparison

extension VerifySession {
  private func compareReadings(_ digests: any DigestService) async throws {
    // The store and the remote hash all readings at the same time. The remote is asked only after the store's
    // transaction no longer sees changes. Otherwise, readings that an upload sends in the meantime would seem
    // to be missing.
    let (isFixed, fixed) = AsyncStream<Never>.makeStream()
    let (remote, run) = (remote, run)
    async let answer = Self.digests(of: remote, run, after: isFixed)
    defer { fixed.finish() }
    let (known, mine) = try store.compare { try $0.heldBuckets { fixed.finish() } }
    let theirs = try await answer
    let buckets = known.differing(from: theirs)
    let total = buckets.reduce(0) { $0 + min(theirs.counts[$1], Int(Int32.max)) }
    // If all of two million readings differ, a portion takes 60 MB of memory. To compare all at once would
    // take ten times as much.
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
      missingOnRemote += held.values.filter(\.isUploaded)
    }
    missingOnRemote.sort { $0.deviceTime.seconds < $1.deviceTime.seconds }
  }

  private static func digests(
    of remote: any LogbookService, _ run: RunStamp, after isFixed: AsyncStream<Never>
  ) async throws -> IdentityDigests {
    for await _ in isFixed {}
    try Task.checkCancellation()
    return try await remote.readingDigests(run)
  }

  /// Removes from `held` the readings that the remote also has. After all batches, `held` contains the
  /// readings that the remote lacks.
  private func compare(_ batch: ReadingBatch, with held: inout [[UInt8]: HeldReading], _ buckets: Set<Int>) {
    var keys = ReadingKeys()
    for reading in batch.readings {
      let device = batch.devices[Int(reading.device.number)]
      let identity = keys.key(of: reading, device)
      if buckets.contains(IdentityDigests.bucket(of: identity)), held.removeValue(forKey: identity) == nil {
        add(missing: FoundReading(reading: reading, device: device), identity)
      }
    }
  }

  /// Adds a reading to `missingLocally`, unless a pull would reject the reading.
  func add(missing found: FoundReading, _ identity: [UInt8]) {
    if PullGate.fault(of: found.reading) == nil { missingLocally[identity] = found }
  }

  /// The remote's readings in these buckets of `IdentityDigests`. If they are too large for one request, the
  /// buckets are divided.
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
    recordsMissingOnRemote = held.values.filter(\.isUpToDate).sorted { $0.guid < $1.guid }
  }

  func compare(_ incoming: RemoteRecord, with record: SyncRecord?, _ buckets: Set<Int>) {
    guard buckets.contains(IdentityDigests.bucket(ofRecord: incoming.guid)) else { return }
    // An item that a pull would reject does not count as a difference.
    guard PullGate.fault(of: incoming.state, known: record?.state) == nil else { return }
    guard let record else {
      recordsMissingLocally[incoming.guid] = incoming
      return
    }
    let isUndone = undoneRecords.contains(record.guid)
    let known = isUndone ? record.state : record.lastSyncedState
    guard record.isUpToDate || isUndone, known?.agrees(with: incoming.state) != true else { return }
    recordsDiffering[incoming.guid] = incoming
  }

  /// Removes differences that the next upload downloads anyway: queued or omitted downloads, and changes that
  /// other nodes made since the last pull. Changes by this node itself are not pulled, so they stay
  /// differences.
  private func leaveOutUnpulled() async throws {
    let found = unpulledCount
    guard found > 0 else { return }
    let unfetched = try store.compare { try $0.unfetched() }
    missingLocally = missingLocally.filter {
      !unfetched.includesReading(at: $0.value.reading.deviceTime.seconds)
    }
    if unfetched.includesRecords { (recordsMissingLocally, recordsDiffering) = ([:], [:]) }
    if var cursor = try store.compare({ try $0.cursor() }) {
      var progress = PullProgress()
      while let page = try await changes(after: cursor) {
        if let fault = progress.fault(of: page, after: cursor, in: 0) {
          throw ServiceError.protocolViolation("\(remoteName): \(fault)")
        }
        leaveOut(page)
        progress.count(page, in: 0)
        guard page.hasMore, !progress.isExhausted else { break }
        cursor = page.cursor
      }
    } else {
      (missingLocally, recordsMissingLocally, recordsDiffering) = ([:], [:], [:])
    }
    summary.notPulled = found - unpulledCount
  }

  /// Whether deleted records of the remote are included in the comparison.
  var keepsTombstones: Bool {
    if case .digests = basis { true } else { false }
  }

  /// The number of differences that changes of other nodes since the last pull can explain.
  private var unpulledCount: Int {
    (keepsTombstones ? 0 : recordsMissingOnRemote.count) + missingLocally.count + recordsMissingLocally.count
      + recordsDiffering.count
  }

  /// The page of changes after a cursor; nil if there are none. It is also nil if the remote was restored
  /// from a backup and does not know the cursor. It is then unknown what changed, so all differences are
  /// reported.
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
      missingLocally[identity.key] = nil
    }
    for record in page.records {
      recordsMissingLocally[record.guid] = nil
      recordsDiffering[record.guid] = nil
    }
    let deleted = Set(page.records.filter(\.state.isDeleted).map(\.guid))
    recordsMissingOnRemote.removeAll { deleted.contains($0.guid) }
  }

  private func reportDifferences() {
    for reading in missingOnRemote {
      summary.count(
        FoundDifference(
          kind: .missingOnRemote, item: .reading(reading.kind, reading.device, reading.deviceTime))
      )
    }
    let here = missingLocally.values.sorted { $0.reading.deviceTime.seconds < $1.reading.deviceTime.seconds }
    for found in here {
      summary.count(
        FoundDifference(
          kind: .missingLocally, item: .reading(found.reading.kind, found.device, found.reading.deviceTime)))
    }
    for record in recordsMissingOnRemote { count(record.guid, record.state, .missingOnRemote) }
    for record in recordsAltered { count(record.guid, record.state, .altered) }
    for (records, kind) in [
      (recordsMissingLocally, FoundDifference.DifferenceKind.missingLocally), (recordsDiffering, .different),
    ] {
      for record in records.values.sorted(by: { $0.guid < $1.guid }) {
        count(record.guid, record.state, kind)
      }
    }
  }

  private func count(_ guid: String, _ state: RecordState, _ kind: FoundDifference.DifferenceKind) {
    summary.count(FoundDifference(kind: kind, item: .record(state.kind, guid: guid, state.deviceTime)))
  }
}

extension ReadingKeys {
  /// The 16 bytes of the identity of a reading in a batch. Series in a batch have no ids, so a number is
  /// composed from the device, the kind and the position kind.
  fileprivate mutating func key(of reading: Reading, _ device: Device) -> [UInt8] {
    let series =
      Int64(reading.device.number) << 16 | Int64(reading.kind.rawValue) << 8
      | Int64(reading.positionKind.rawValue)
    return key(
      of: series, position: reading.position, valueBucket: reading.valueBucket,
      occurrence: Int64(reading.occurrence)
    ) { (device, reading.kind, reading.positionKind) }
  }
}

/// The comparison with a remote that has no digests.
extension VerifySession {
  /// Compares the store with all items of the remote. A reading counts as present under its own identity, and
  /// under the identity of another program's document that is known to contain it. A deleted record has no
  /// document.
  func compareAll(_ snapshots: any SnapshotService) async throws {
    let all = Set(0..<IdentityDigests.bucketCount)
    var held = try store.compare {
      (readings: try $0.heldReadings(in: all), records: try $0.heldRecords(in: all))
    }
    // Hidden records have no documents on a site.
    let hidden = try store.compare { try $0.hiddenRecords() }
    if remote.removal != nil { undoneRecords = try store.compare { try $0.pendingRecordsOfUndoneImports() } }
    var found: Set<ReadingKey> = []
    var records: [String: RemoteRecord] = [:]
    var cursor: String?
    while true {
      let page = try await snapshots.snapshot(after: cursor, limit: Self.maxItems, run)
      for (place, reading) in page.readings.readings.enumerated() {
        let device = page.readings.devices[Int(reading.device.number)]
        let identity = ReadingIdentity(reading, device).key
        if let known = held.readings[identity] {
          found.insert(known.key)
        } else {
          add(
            missing: FoundReading(reading: reading, device: device, isForeign: page.foreign.contains(place)),
            identity)
        }
      }
      for record in page.records { records[record.guid] = record }
      guard page.hasMore, page.cursor != cursor else { break }
      cursor = page.cursor
    }
    missingOnRemote = Set(held.readings.values).filter { $0.isUploaded && !found.contains($0.key) }
      .sorted { $0.deviceTime.seconds < $1.deviceTime.seconds }
    for record in records.values { compare(record, with: held.records.removeValue(forKey: record.guid), all) }
    recordsMissingOnRemote = held.records.values
      .filter { $0.isUpToDate && $0.lastSyncedState?.isDeleted == false && !hidden.contains($0.guid) }
      .sorted { $0.guid < $1.guid }
  }
}

/// Divides buckets of `IdentityDigests` into groups. One request is made for each group, whose items must fit
/// in one response.
struct BucketGroups {
  let groups: [[Int]]

  /// - Parameters:
  ///   - counts: the number of items in each bucket. Empty buckets are left out.
  ///   - maxItems: the maximum number of items in a group, unless a single bucket has more.
  ///   - maxBuckets: the maximum number of buckets in a group.
  init(_ buckets: Set<Int>, counts: [Int], maxItems: Int, maxBuckets: Int = WireProtocol.maxBuckets) {
    var (groups, group, items) = ([[Int]](), [Int](), 0)
    for bucket in buckets.sorted() where counts[bucket] > 0 {
      // The count is limited, since a remote may report any number.
      let count = min(counts[bucket], maxItems)
      if !group.isEmpty, items + count > maxItems || group.count == maxBuckets {
        groups.append(group)
        (group, items) = ([], 0)
      }
      group.append(bucket)
      items += count
    }
    self.groups = group.isEmpty ? groups : groups + [group]
  }
}
