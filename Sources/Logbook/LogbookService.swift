// SPDX-License-Identifier: Apache-2.0

/// The maximum number of items in one request.
package struct BatchLimits: Hashable, Sendable {
  /// Readings in one request.
  package var readings: Int
  /// Changes of records in one request.
  package var records: Int

  /// Limits of at least one item each. By default there are none.
  package init(readings: Int = .max, records: Int = .max) {
    self.readings = readings
    self.records = records
  }
}

/// The service of one logbook for a login: a server's storage provides one, and a remote provides one over HTTP.
///
/// Requests are safe to repeat, and the service itself repeats none. Optional services of a logbook are properties with
/// a separate protocol, which can be nil. `ServiceConformance` checks these rules for every service.
package protocol LogbookService: Sendable {
  /// The maximum number of items in one request. Items that are sent together are acknowledged together.
  var batchLimits: BatchLimits { get }
  /// The logbook to which the login gives access.
  func logbook() async throws(ServiceError) -> RemoteLogbook
  /// Stores the readings that the service lacks.
  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer
  /// Applies changes of records. Each has a separate answer.
  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer
  /// The changes after the cursor, without the own changes of the run's node; nil if there are none.
  ///
  /// - Parameter limit: the maximum number of items on the page.
  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage?
  /// Digests over the identities of all readings, for a client that does not know what is stored.
  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests

  /// The same login with the zones that the store has now, for a logbook that only holds instants.
  func placing(in zone: LogbookZone) -> any LogbookService
  /// Parts of the logbook, by range or by record.
  var parts: (any PartService)? { get }
  /// Comparison with traffic that grows with the differences.
  var digests: (any DigestService)? { get }
  /// All items, for a logbook without `digests`.
  var snapshots: (any SnapshotService)? { get }
  /// The content of attachments.
  var attachments: (any AttachmentService)? { get }
  /// Removal of the logbook.
  var purging: (any PurgeService)? { get }
  /// Removal of withdrawn items where others would show them. Such a logbook only holds visible items.
  var removal: (any RemovalService)? { get }
  /// Moving of sent items, for a logbook that only has instants.
  var moving: (any MovingService)? { get }
  /// Links to pages for a browser.
  var pages: (any PageService)? { get }
}

extension LogbookService {
  /// No limit.
  package var batchLimits: BatchLimits { BatchLimits() }
  /// The same service: it holds shown times.
  package func placing(in zone: LogbookZone) -> any LogbookService { self }
  package var parts: (any PartService)? { nil }
  package var digests: (any DigestService)? { nil }
  package var snapshots: (any SnapshotService)? { nil }
  package var attachments: (any AttachmentService)? { nil }
  package var purging: (any PurgeService)? { nil }
  package var removal: (any RemovalService)? { nil }
  package var moving: (any MovingService)? { nil }
  package var pages: (any PageService)? { nil }
}

/// Removal of items from a logbook for other programs, which know no withdrawals.
package protocol RemovalService: Sendable {
  /// Removes these readings. A missing reading counts as removed.
  ///
  /// - Returns: whether the login may do this. If not, nothing is removed.
  func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool
  /// Removes a record without deleting it: other stores keep it, and sending it again restores it. Content of another
  /// program stays.
  ///
  /// - Parameter change: the record in the state that the remote should have.
  func remove(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError)
}

/// Moving of items in a logbook that other programs read by their instants. When derived offsets change, sent items are
/// at the wrong time.
package protocol MovingService: Sendable {
  /// For each of these readings the instants in UTC seconds at which it is stored with its own identity. There is none
  /// if it is missing, and more than one if it is duplicated.
  func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]]
  /// Moves a record to the instant of its state, unless it is already there.
  ///
  /// - Parameter change: the record as it is on the remote.
  /// - Returns: `accepted` with the new revision; `conflict` if others changed or deleted it; `refused` if it cannot be
  ///   moved.
  func move(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) -> RecordVerdict
}

/// Parts of a logbook, such as its latest readings or one record, before all other changes.
package protocol PartService: Sendable {
  /// The changes of others in this part: readings in the order of their changes, or a record's current state.
  ///
  /// - Parameters:
  ///   - cursor: the cursor of the last page; nil for the first. It is only valid for this part.
  ///   - limit: the maximum number of items on the page.
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage
}

/// Comparison of a logbook with a store beyond `LogbookService.readingDigests`: by digests over buckets, and by the
/// items of differing buckets.
package protocol DigestService: Sendable {
  /// Digests over the contents of all records, with tombstones.
  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests
  /// The readings in these buckets; `tooLarge` if they are more than one batch.
  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch
  /// The records in these buckets, ordered by id, after this one.
  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage
}

/// All items of a logbook without digests, for a comparison.
package protocol SnapshotService: Sendable {
  /// All readings and records that exist, from any writer, in their current state. Deleted records are left out, and an
  /// item can be on two pages.
  ///
  /// - Parameters:
  ///   - cursor: the cursor of the last page; nil for the first.
  ///   - limit: the maximum number of items on the page.
  func snapshot(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage
}

/// The content of attachments by its SHA-256, separate from the records that describe it. A content grows at its end
/// until it is whole, and never changes after that.
package protocol AttachmentService: Sendable {
  /// How much of a content is held.
  func held(_ digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent
  /// Appends a part, which must begin where the held content ends. A part from the first byte on, with another size
  /// than the held content, replaces it.
  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer
  /// A part of a whole content; nil while the content is incomplete.
  ///
  /// - Parameter limit: the maximum number of bytes of the part.
  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart?
}

/// Removal of a whole logbook.
package protocol PurgeService: Sendable {
  /// Removes the logbook with all its data except the id, permanently. After that, every request of any node fails with
  /// `ServiceError.purged`.
  ///
  /// - Parameter logbook: the logbook of the login. Another id or name is refused.
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError)
}

/// The identity of one run of an upload, which it sends to a service with every request.
package struct RunStamp: Hashable, Sendable {
  /// The id of this installation, a random UUID.
  package var node: String
  /// A number that each run of the node increases by one.
  package var number: Int64
  /// A random UUID of this run, by which a service distinguishes two copies of a store.
  package var id: String
  /// The logbook that the store was synced with; nil before the first answer.
  package var logbook: String?
  /// The latest position of the service that this store has seen; nil before the first answer.
  ///
  /// If the node wrote something after it, a copy of the store did, or an answer was lost. A service does not return a
  /// node's own changes to it, so the node needs another id to see them.
  package var lastSeenPosition: String?
  /// Whether a request that reads may also repair data on the service. It may not in a run that only fetches or compares.
  package var mayRepair: Bool

  /// A run of a node.
  package init(
    node: String, number: Int64, id: String, logbook: String? = nil, lastSeenPosition: String? = nil,
    mayRepair: Bool = true
  ) {
    self.node = node
    self.number = number
    self.id = id
    self.logbook = logbook
    self.lastSeenPosition = lastSeenPosition
    self.mayRepair = mayRepair
  }
}

/// A service's report about the logbook of a login.
package struct RemoteLogbook: Hashable, Sendable {
  /// The logbook's id, a UUID that no other logbook has.
  package var id: String
  /// The name for people.
  package var name: String
  /// Whether this login may change the logbook.
  package var isWritable: Bool
  /// The maximum number of readings in one request.
  package var maxReadings: Int
  /// The maximum number of records in one request.
  package var maxRecords: Int
  /// Permissions for an upload that the login lacks, in the service's words; empty if none is missing or they are
  /// unknown.
  package var missingPermissions: [String]
  /// The service's latest position.
  package var position: String?
  /// The service's clock in UTC seconds; nil if it has none.
  package var time: Int64?

  /// The logbook of a login.
  package init(
    id: String, name: String, isWritable: Bool, maxReadings: Int, maxRecords: Int,
    missingPermissions: [String] = [], position: String? = nil, time: Int64? = nil
  ) {
    self.id = id
    self.name = name
    self.isWritable = isWritable
    self.maxReadings = maxReadings
    self.maxRecords = maxRecords
    self.missingPermissions = missingPermissions
    self.position = position
    self.time = time
  }
}
