// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

extension GlucoportRemote: PurgeService {
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError) {
    var headers = headers(nil)
    headers.add(name: "Content-Type", value: "application/json")
    let request = ExchangeRequest(
      method: .DELETE, path: WireProtocol.logbookPath, headers: headers,
      body: WireCodec.writePurge(logbook: logbook.id, name: logbook.name))
    try await send(request) { (body) throws(JSONError) in
      // The answer must be a JSON object, as proof that it is the server's; its content does not matter.
      try JSONScanner.read(body) { (reader) throws(JSONError) in try reader.object { _, _ in false } }
    }
  }
}
