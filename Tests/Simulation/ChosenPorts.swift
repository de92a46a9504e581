// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A service with its core and only some of its ports.
package struct ChosenPorts: LogbookService {
  /// The port of the service, or nil.
  package let parts: (any PartService)?
  /// The port of the service, or nil.
  package let digests: (any DigestService)?
  /// The port of the service, or nil.
  package let attachments: (any AttachmentService)?
  /// The port of the service, or nil.
  package let removal: (any RemovalService)?
  /// The port of the service, or nil.
  package let moving: (any MovingService)?
  private let service: any LogbookService

  /// The core of a service, with these ports.
  package init(
    _ service: any LogbookService, parts: (any PartService)? = nil, digests: (any DigestService)? = nil,
    attachments: (any AttachmentService)? = nil, removal: (any RemovalService)? = nil,
    moving: (any MovingService)? = nil
  ) {
    self.service = service
    self.parts = parts
    self.digests = digests
    self.attachments = attachments
    self.removal = removal
    self.moving = moving
  }

  /// The limits of the service.
  package var batchLimits: BatchLimits { service.batchLimits }

  /// The service with another placement and the same ports.
  package func placing(in zone: LogbookZone) -> any LogbookService {
    ChosenPorts(
      service.placing(in: zone), parts: parts, digests: digests, attachments: attachments, removal: removal,
      moving: moving)
  }

  /// The logbook and the rights of the login.
  package func logbook() async throws(ServiceError) -> RemoteLogbook { try await service.logbook() }

  /// Stores readings.
  package func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await service.store(batch, run)
  }

  /// Applies changes of records.
  package func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await service.apply(changes, run)
  }

  /// The changes of other stores after the cursor.
  package func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    try await service.changes(after: cursor, limit: limit, run)
  }

  /// Digests over the readings.
  package func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await service.readingDigests(run)
  }
}
