// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

extension GlucoportRemote: PageService {
  func makePageLink(seconds: Int?) async throws(ServiceError) -> PageLink? {
    let query = seconds.map { "?seconds=\($0)" } ?? ""
    let answer = try await exchange.send(
      ExchangeRequest(method: .POST, path: Wire.pageLinksPath + query, headers: headers(nil)))
    // A server without pages, or one that does not know them.
    if answer.status == 404 { return nil }
    return try read(answer) { (body) throws(JSONError) in try Bodies.readPageLink(body) }
  }
}
