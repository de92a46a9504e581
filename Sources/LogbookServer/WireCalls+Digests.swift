// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

extension WireCalls {
  /// `GET /v1/digests`: digests over readings or records, or the content of some buckets.
  func digests(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> HTTPAnswer {
    let run = try incoming.run()
    guard let digests = service.digests else { throw Refusal(.notFound, "this server compares no logbooks") }
    if let buckets = try buckets("readings", incoming) {
      return HTTPAnswer(body: WireCodec.writeReadings(try await digests.readings(in: buckets.sorted(), run)))
    }
    if let buckets = try buckets("records", incoming) {
      let after = try incoming.parameter("after")
      return HTTPAnswer(
        body: WireCodec.write(try await digests.records(in: buckets.sorted(), after: after, run)))
    }
    switch try incoming.parameter("of") ?? "readings" {
    case "readings": return HTTPAnswer(body: WireCodec.write(try await service.readingDigests(run)))
    case "records": return HTTPAnswer(body: WireCodec.write(try await digests.recordDigests(run)))
    default: throw Refusal(.badRequest, "the parameter of takes readings or records")
    }
  }

  private func buckets(_ name: String, _ incoming: IncomingRequest) throws -> Set<Int>? {
    guard let text = try incoming.parameter(name) else { return nil }
    guard let buckets = WireCodec.buckets(text) else {
      throw Refusal(
        .badRequest,
        "the parameter \(name) must be up to \(WireProtocol.maxBuckets) buckets of three hexadecimal digits, separated by commas"
      )
    }
    return buckets
  }
}
