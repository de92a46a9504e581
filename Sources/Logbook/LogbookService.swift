// SPDX-License-Identifier: Apache-2.0

/// The maximum number of items in one request.
package struct BatchLimits: Hashable, Sendable {
  /// Readings in one request.
  package var readings: Int
  /// Changes of records in one request.
  package var records: Int

  /// Limits of at least one item each. By default there is no limit.
  package init(readings: Int = .max, records: Int = .max) {
    self.readings = readings
    self.records = records
  }
}

/// The operations on one logbook with one login. The storage of a server implements this protocol, and so
/// does the client of a remote, over HTTP.
///
/// A caller can safely repeat every request; the service itself repeats none. Optional operations are in
/// separate protocols. This protocol has a property for each of them, which is nil if the service does not
/// support it. `ServiceConformance` tests these rules for every service.
package protocol LogbookService: Sendable {
  /// The maximum number of items in one request. All items of one request are acknowledged together.
  var batchLimits: BatchLimits { get }
  /// The logbook that the login may use.
  func logbook() async throws(ServiceError) -> RemoteLogbook
  /// Stores the readings of the batch that the service does not have.
  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer
  /// Applies changes of records. The answer has one verdict for each change.
  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer
  /// The changes after the cursor, without those that the run's node made itself; nil if there are none.
  ///
  /// - Parameter limit: the maximum number of items on the page.
  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage?
  /// Digests over the identities of all readings. A client compares them with its own to find out what the
  /// service has stored.
  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests

  /// The same service with the current zones of the store. A service that holds only instants needs them to
  /// convert from and to shown times.
  func convertingTimes(in zone: LogbookZone) -> any LogbookService
  /// Requests for parts of the logbook by range or by record; nil if unsupported.
  var parts: (any PartService)? { get }
  /// A comparison whose traffic grows only with the differences; nil if unsupported.
  var digests: (any DigestService)? { get }
  /// A list of all items, for a comparison with a logbook without `digests`; nil if unsupported.
  var snapshots: (any SnapshotService)? { get }
  /// Transfer of the content of attachments; nil if unsupported.
  var attachments: (any AttachmentService)? { get }
  /// Removal of the whole logbook; nil if unsupported.
  var purging: (any PurgeService)? { get }
  /// Removal of withdrawn items, for a logbook that other programs show; nil for a logbook that keeps
  /// withdrawals. A logbook from which items can be removed holds only visible items.
  var removal: (any RemovalService)? { get }
  /// Correction of the instants of sent items, for a logbook that holds instants without shown times; nil for
  /// other logbooks.
  var moving: (any MovingService)? { get }
  /// Creation of links to pages for a browser; nil if unsupported.
  var pages: (any PageService)? { get }
}

extension LogbookService {
  /// No limit.
  package var batchLimits: BatchLimits { BatchLimits() }
  /// By default the same service, since it holds shown times and needs no zones.
  package func convertingTimes(in zone: LogbookZone) -> any LogbookService { self }
  package var parts: (any PartService)? { nil }
  package var digests: (any DigestService)? { nil }
  package var snapshots: (any SnapshotService)? { nil }
  package var attachments: (any AttachmentService)? { nil }
  package var purging: (any PurgeService)? { nil }
  package var removal: (any RemovalService)? { nil }
  package var moving: (any MovingService)? { nil }
  package var pages: (any PageService)? { nil }
}

/// Removal of items from a logbook that other programs read. These programs do not know withdrawals, and
/// would show the items.
package protocol RemovalService: Sendable {
  /// Removes these readings. A reading that the logbook does not have counts as removed.
  ///
  /// - Returns: whether the login may remove readings. If it may not, nothing is removed.
  func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool
  /// Removes a record from the logbook without a tombstone: other stores keep it, and sending it again
  /// restores it. Content that another program wrote stays.
  ///
  /// - Parameter change: the record in the state that the remote should have.
  func remove(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError)
}

/// Correction of instants in a logbook that other programs read by instant. After a change of derived
/// offsets, the items sent earlier have wrong instants.
package protocol MovingService: Sendable {
  /// For each reading, the instants in UTC seconds at which the logbook holds an item with the identity of
  /// the reading. The list is empty if the reading is missing, and has several instants if it is duplicated.
  func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]]
  /// Moves a record to the instant of its state. A record that is already at this instant stays unchanged.
  ///
  /// - Parameter change: the record as it is on the remote.
  /// - Returns: `accepted` with the new revision; `conflict` if another node or program changed or deleted
  ///   it; `refused` if it cannot be moved.
  func move(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) -> RecordVerdict
}

/// Requests for a part of a logbook, such as its latest readings or one record, without the other changes.
package protocol PartService: Sendable {
  /// The changes that other nodes or programs made in this part: readings in the order of their changes, or a
  /// record's current state.
  ///
  /// - Parameters:
  ///   - cursor: the cursor of the last page; nil for the first. It is only valid for this part.
  ///   - limit: the maximum number of items on the page.
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage
}

/// Comparison of a logbook with a store in two steps: digests over buckets show which buckets differ, then
/// the items of these buckets are listed.
package protocol DigestService: Sendable {
  /// Digests over the contents of all records, including tombstones.
  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests
  /// The readings in these buckets. Throws `tooLarge` if they do not fit in one batch.
  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch
  /// A page of the records in these buckets, ordered by id. It begins after the record `guid`.
  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage
}

/// A list of all items of a logbook without digests, for a comparison.
package protocol SnapshotService: Sendable {
  /// A page of the readings and records that exist, from any writer, in their current state. Deleted records
  /// are left out, and an item can be on two pages.
  ///
  /// - Parameters:
  ///   - cursor: the cursor of the last page; nil for the first.
  ///   - limit: the maximum number of items on the page.
  func snapshot(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage
}

/// Transfer of the content of attachments, identified by its SHA-256. The records that describe attachments
/// travel separately. A content grows at its end until it is whole, and never changes after that.
package protocol AttachmentService: Sendable {
  /// How many bytes of an attachment's content the service holds.
  func heldContent(of digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent
  /// Appends a part, which must begin where the held content ends. If a part begins at the first byte and
  /// states another size than the held content, it replaces that content.
  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer
  /// A part of an attachment's content; nil while the service does not have the whole content.
  ///
  /// - Parameter limit: the maximum number of bytes of the part.
  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart?
}

/// Removal of a whole logbook.
package protocol PurgeService: Sendable {
  /// Removes the logbook with all its data except the id, permanently. After that, every request of any node
  /// fails with `ServiceError.purged`.
  ///
  /// - Parameter logbook: the logbook of the login. Another id or name is refused.
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError)
}

/// The identity of one run of `upload`. The run sends it to a service with every request.
package struct RunStamp: Hashable, Sendable {
  /// The id of this installation, a random UUID.
  package var node: String
  /// A number that each run of the node increases by one.
  package var number: Int64
  /// A random UUID of this run. With it a service recognises two copies of a store that use the same run
  /// number.
  package var id: String
  /// The logbook that the store was synced with; nil before the first answer.
  package var logbook: String?
  /// The latest position in the service's list of changes that this store has seen; nil before the first
  /// answer.
  ///
  /// If the service has changes of this node after this position, a copy of the store sent them, or an answer
  /// was lost. A service never returns a node's own changes to this node. To receive them, the store must use
  /// another node id.
  package var lastSeenPosition: String?
  /// Whether requests that read may also repair data on the service. They may not in a run that only fetches
  /// or compares.
  package var mayRepair: Bool

  /// The stamp of one run of `upload` by a node.
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

/// What a service reports about the logbook of a login.
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
  /// The permissions for an upload that the login lacks, in the service's words. Empty if none is missing or
  /// the service does not report them.
  package var missingPermissions: [String]
  /// The latest position in the service's list of changes; nil if the service has no positions.
  package var position: String?
  /// The service's clock in UTC seconds; nil if the service does not report it.
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
