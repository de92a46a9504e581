// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A service of which only some ports are used besides its core.
public struct ChosenPorts: LogbookService {
  /// Its own, or none.
  public let parts: (any PartService)?
  /// Its own, or none.
  public let digests: (any DigestService)?
  /// Its own, or none.
  public let attachments: (any AttachmentService)?
  private let service: any LogbookService

  /// The core of a service, with these ports.
  public init(
    _ service: any LogbookService, parts: (any PartService)? = nil, digests: (any DigestService)? = nil,
    attachments: (any AttachmentService)? = nil
  ) {
    self.service = service
    self.parts = parts
    self.digests = digests
    self.attachments = attachments
  }

  /// Those of the service.
  public var batchLimits: BatchLimits { service.batchLimits }

  /// What the login gives access to.
  public func logbook() async throws(ServiceError) -> RemoteLogbook { try await service.logbook() }

  /// Stores readings.
  public func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await service.store(batch, run)
  }

  /// Applies changes of records.
  public func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await service.apply(changes, run)
  }

  /// What others changed after the cursor.
  public func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    try await service.changes(after: cursor, limit: limit, run)
  }

  /// Digests over the readings.
  public func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await service.readingDigests(run)
  }
}
