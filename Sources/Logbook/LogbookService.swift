// SPDX-License-Identifier: Apache-2.0

/// The maximum number of items in one request.
package struct BatchLimits: Hashable, Sendable {
  /// Readings in one request.
  package var readings: Int
  /// Changes of records in one request.
  package var records: Int

  /// Limits of at least one item each; without arguments none that a store comes near.
  package init(readings: Int = .max, records: Int = .max) {
    self.readings = readings
    self.records = records
  }
}

/// What one logbook offers to a login: a server's storage returns one, and a remote is one behind HTTP.
///
/// Requests are safe to repeat; none is repeated by the service itself. What not every logbook offers is a property
/// with its own port, or nil. `ServiceConformance` holds every service to this.
package protocol LogbookService: Sendable {
  /// How many items one request may hold; what is sent together is acknowledged together.
  var batchLimits: BatchLimits { get }
  /// What the login gives access to.
  func logbook() async throws(ServiceError) -> RemoteLogbook
  /// Stores the readings that the service lacks.
  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer
  /// Applies changes of records, each answered on its own.
  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer
  /// What changed after the cursor, without what the run's node wrote itself; nil when nothing changed at all.
  ///
  /// - Parameter limit: the maximum number of items on the page.
  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage?
  /// Digests over the identities of all readings: what a client compares that no longer knows what is stored.
  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests

  /// The same login by the zones that the store has by now, for a logbook that holds instants alone.
  func placing(in zone: LogbookZone) -> any LogbookService
  /// Parts of the logbook, by range or by record.
  var parts: (any PartService)? { get }
  /// Comparison in traffic that grows with the differences.
  var digests: (any DigestService)? { get }
  /// All that is there, for a logbook without `digests`.
  var snapshots: (any SnapshotService)? { get }
  /// The content of attachments.
  var attachments: (any AttachmentService)? { get }
  /// Removal of the whole logbook.
  var purging: (any PurgeService)? { get }
  /// Removal of what is withdrawn, where others would show it: such a logbook holds only what counts.
  var removal: (any RemovalService)? { get }
  /// Moving of what was sent, for a logbook that knows only instants.
  var moving: (any MovingService)? { get }
  /// Links to pages for a browser.
  var pages: (any PageService)? { get }
}

extension LogbookService {
  /// No limit but the caller's.
  package var batchLimits: BatchLimits { BatchLimits() }
  /// The service as it is: it holds shown times.
  package func placing(in zone: LogbookZone) -> any LogbookService { self }
  /// None.
  package var parts: (any PartService)? { nil }
  /// None.
  package var digests: (any DigestService)? { nil }
  /// None.
  package var snapshots: (any SnapshotService)? { nil }
  /// None.
  package var attachments: (any AttachmentService)? { nil }
  /// None.
  package var purging: (any PurgeService)? { nil }
  /// None.
  package var removal: (any RemovalService)? { nil }
  /// None.
  package var moving: (any MovingService)? { nil }
  /// None.
  package var pages: (any PageService)? { nil }
}

/// Removal of items from a logbook that other programs read, which know no withdrawals.
package protocol RemovalService: Sendable {
  /// Removes these readings. One that is not there counts as removed.
  ///
  /// - Returns: whether the login may do so; where it may not, nothing is removed.
  func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool
  /// Removes a record without deleting it: other stores keep it, and sending it again brings it back. What belongs to
  /// another program stays.
  ///
  /// - Parameter change: the record as the remote should have it.
  func remove(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError)
}

/// Moving of items in a logbook that other programs read by their instants: where derived offsets change, what was sent
/// stands at the wrong time.
package protocol MovingService: Sendable {
  /// For each of these readings the instants in UTC seconds at which it stands under its own identity: none where it is
  /// not there, more than one where it is there twice.
  func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]]
  /// Moves a record to the instant of its state, unless it stands there.
  ///
  /// - Parameter change: the record as the remote has it.
  /// - Returns: `accepted` with the revision from then on; `conflict` where others changed or deleted it; `refused`
  ///   where it cannot be moved.
  func move(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) -> RecordVerdict
}

/// Parts of a logbook, such as its latest readings or one record, before everything else that changed.
package protocol PartService: Sendable {
  /// What others wrote of this part: readings in the order of their changes, or a record's current state.
  ///
  /// - Parameters:
  ///   - cursor: that of the page before; nil for the first. It belongs to this part alone.
  ///   - limit: the maximum number of items on the page.
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage
}

/// Comparison of a logbook with a store, beyond `LogbookService.readingDigests`: by digests over buckets, and by the
/// items of those buckets alone that differ.
package protocol DigestService: Sendable {
  /// Digests over the contents of all records, including tombstones.
  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests
  /// The readings in these buckets; `tooLarge` where there are more than in one batch.
  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch
  /// The records in these buckets in the order of their ids, after this one.
  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage
}

/// Everything that a logbook holds, for one that gives no digests: a comparison reads it whole.
package protocol SnapshotService: Sendable {
  /// All readings and records that are there, whoever wrote them, each in its current state. Deleted records are left
  /// out, and an item can be on two pages.
  ///
  /// - Parameters:
  ///   - cursor: that of the page before; nil for the first.
  ///   - limit: the maximum number of items on the page.
  func snapshot(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage
}

/// The content of attachments by its SHA-256, beside the records that describe it. Each grows at its end until it is
/// whole, and never changes from then on.
package protocol AttachmentService: Sendable {
  /// How much of a content is held.
  func held(_ digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent
  /// Appends a part, which has to begin where the held content ends. One from the first byte on, of another size than
  /// what is held, replaces it.
  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer
  /// A part of a content that is held whole; nil while it is not.
  ///
  /// - Parameter limit: the maximum number of bytes of the part.
  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart?
}

/// Removal of a whole logbook.
package protocol PurgeService: Sendable {
  /// Removes the logbook permanently, with all that is kept of it but its id. From then on every request for it, of
  /// whichever node, ends with `ServiceError.purged`.
  ///
  /// - Parameter logbook: the logbook of the login; another id or name is refused.
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError)
}
