// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

extension WireCalls {
  /// `DELETE /v1/logbook`: removes the logbook of the login permanently, when the request names it.
  func purge(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> Answer {
    try await body.read(incoming.request) { bytes in
      let named = try Bodies.readPurge(bytes)
      guard let purging = service.purging else { throw Refusal(.notFound, "this server removes no logbooks") }
      try await purging.purge(
        RemoteLogbook(
          id: named.logbook, name: named.name, isWritable: true, maxReadings: Wire.maxReadings,
          maxRecords: Wire.maxRecords))
      return Answer(body: Array("{}".utf8))
    }
  }
}
