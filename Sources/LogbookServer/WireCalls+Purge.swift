// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

extension WireCalls {
  /// `DELETE /v1/logbook`: removes the logbook of the login for ever, when the request names it.
  func purge(_ incoming: IncomingRequest, _ login: Login) async throws -> Answer {
    try await body.read(incoming.request) { bytes in
      let named = try Bodies.readPurge(bytes)
      guard named.logbook == login.logbook else { throw StorageError.otherLogbook(id: login.logbook) }
      guard named.name == (try await storage.logbook(login)).name else {
        throw Refusal(.badRequest, "this is not the name of the logbook")
      }
      try await storage.purge(login)
      return Answer(body: Array("{}".utf8))
    }
  }
}
