// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A service that offers the core functions of another service and only some of its ports.
package struct ChosenPorts: LogbookService {
  /// The port `parts` of the service; nil if it is not offered.
  package let parts: (any PartService)?
  /// The port `digests` of the service; nil if it is not offered.
  package let digests: (any DigestService)?
  /// The port `attachments` of the service; nil if it is not offered.
  package let attachments: (any AttachmentService)?
  /// The port `removal` of the service; nil if it is not offered.
  package let removal: (any RemovalService)?
  /// The port `moving` of the service; nil if it is not offered.
  package let moving: (any MovingService)?
  private let service: any LogbookService

  /// Offers the core functions of `service` and these ports.
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

  /// The limits of the underlying service for one request.
  package var batchLimits: BatchLimits { service.batchLimits }

  /// A copy of this service in which `zone` determines the shown times.
  package func convertingTimes(in zone: LogbookZone) -> any LogbookService {
    ChosenPorts(
      service.convertingTimes(in: zone), parts: parts, digests: digests, attachments: attachments,
      removal: removal,
      moving: moving)
  }

  /// The logbook, and the rights of the login.
  package func logbook() async throws(ServiceError) -> RemoteLogbook { try await service.logbook() }

  /// Sends readings to the service.
  package func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await service.store(batch, run)
  }

  /// Sends changes of records to the service.
  package func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await service.apply(changes, run)
  }

  /// The changes of other nodes after the cursor.
  package func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    try await service.changes(after: cursor, limit: limit, run)
  }

  /// The digests of the readings in the logbook.
  package func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await service.readingDigests(run)
  }
}
