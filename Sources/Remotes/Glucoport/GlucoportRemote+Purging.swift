// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

extension GlucoportRemote: PurgeService {
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError) {
    var headers = headers(nil)
    headers.add(name: "Content-Type", value: "application/json")
    let request = ExchangeRequest(
      method: .DELETE, path: Wire.logbookPath, headers: headers,
      body: Bodies.writePurge(logbook: logbook.id, name: logbook.name))
    try await send(request) { (body) throws(JSONError) in
      // Nothing is in it but that it is the server's.
      try JSONScanner.read(body) { (reader) throws(JSONError) in try reader.object { _, _ in false } }
    }
  }
}
