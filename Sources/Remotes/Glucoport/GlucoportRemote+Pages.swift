// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

extension GlucoportRemote: PageService {
  func makePageLink(seconds: Int?) async throws(ServiceError) -> PageLink? {
    let query = seconds.map { "?seconds=\($0)" } ?? ""
    let answer = try await exchange.send(
      ExchangeRequest(method: .POST, path: WireProtocol.pageLinksPath + query, headers: headers(nil)))
    // The server has no pages, or does not know them.
    if answer.status == 404 { return nil }
    return try read(answer) { (body) throws(JSONError) in try WireCodec.readPageLink(body) }
  }
}
