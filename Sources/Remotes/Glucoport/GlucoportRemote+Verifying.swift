// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

extension GlucoportRemote: DigestService {
  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await send(get("\(WireProtocol.digestsPath)?\(WireCodec.queryForRecordDigests)", run)) {
      (body) throws(JSONError) in
      try WireCodec.readDigests(body)
    }
  }

  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch {
    let received = try await send(
      get("\(WireProtocol.digestsPath)?\(WireCodec.queryForReadings(in: buckets))", run)
    ) {
      (body) throws(JSONError) in
      try WireCodec.readReadings(body)
    }
    if let refused = received.refused.first {
      throw exchange.violation("it returned an invalid reading: \(exchange.sanitised(refused.reason))")
    }
    return received.batch
  }

  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage {
    let query = WireCodec.queryForRecords(in: buckets, after: guid)
    let page = try await send(get("\(WireProtocol.digestsPath)?\(query)", run)) { (body) throws(JSONError) in
      try WireCodec.readRecordPage(body)
    }
    // Ids must ascend, or the requests could loop.
    let guids = (guid.map { [$0] } ?? []) + page.records.map(\.guid)
    guard zip(guids, guids.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw exchange.violation("it returned records that are not in order")
    }
    return page
  }
}
