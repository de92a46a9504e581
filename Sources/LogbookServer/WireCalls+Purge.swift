// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

extension WireCalls {
  /// `DELETE /v1/logbook`: permanently removes the logbook of the login. The request must state its name.
  func purge(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> HTTPAnswer {
    try await body.read(incoming.request) { bytes in
      let named = try WireCodec.readPurge(bytes)
      guard let purging = service.purging else { throw Refusal(.notFound, "this server removes no logbooks") }
      try await purging.purge(
        RemoteLogbook(
          id: named.logbook, name: named.name, isWritable: true, maxReadings: WireProtocol.maxReadings,
          maxRecords: WireProtocol.maxRecords))
      return HTTPAnswer(body: Array("{}".utf8))
    }
  }
}
