// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI

/// Answers the calls of the protocol, for the logbook of the request's login.
struct WireCalls: Sendable {
  var body: IncomingBody
  let clock: @Sendable () -> Int64
  let metrics: ServerMetrics

  /// Answers `GET /v1/logbook`.
  func logbook(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> HTTPAnswer {
    var logbook = try await service.logbook()
    logbook.time = clock()
    return HTTPAnswer(body: WireCodec.write(logbook))
  }

  /// Answers `POST /v1/readings`.
  func readings(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> HTTPAnswer {
    let run = try incoming.run()
    return try await body.read(incoming.request) { bytes in
      let received = try WireCodec.readReadings(bytes)
      try Task.checkCancellation()
      var answer = try await service.store(received.batch, run)
      answer.differing = received.items(of: answer.differing)
      answer.refused = received.refused
      await metrics.readingsStored(answer.stored)
      return HTTPAnswer(body: WireCodec.write(answer))
    }
  }

  /// Answers `POST /v1/records`.
  func records(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> HTTPAnswer {
    let run = try incoming.run()
    return try await body.read(incoming.request) { bytes in
      let received = try WireCodec.readChanges(bytes)
      try Task.checkCancellation()
      let changes = received.compactMap { if case .change(let change) = $0 { change } else { nil } }
      let applied = try await service.apply(changes, run)
      var verdicts = applied.verdicts.makeIterator()
      let answer = RecordAnswer(
        verdicts: received.compactMap { item in
          if case .refused(let reason) = item { .refused(reason: reason) } else { verdicts.next() }
        }, position: applied.position)
      await metrics.recordsAccepted(answer.verdicts.count { if case .accepted = $0 { true } else { false } })
      return HTTPAnswer(body: WireCodec.write(answer))
    }
  }

  /// Answers `GET /v1/changes`.
  func changes(_ incoming: IncomingRequest, _ service: any LogbookService) async throws -> HTTPAnswer {
    let run = try incoming.run()
    let after = try incoming.parameter("after").flatMap { $0.isEmpty ? nil : $0 }
    let limitText = try incoming.parameter("limit")
    guard let limit = limitText.map({ Int($0) }) ?? WireProtocol.maxReadings, limit > 0 else {
      throw Refusal(.badRequest, "the parameter limit must be a number from 1")
    }
    if let part = try Self.part(incoming) {
      guard let parts = service.parts else {
        throw Refusal(.notFound, "this server has no parts of logbooks")
      }
      return HTTPAnswer(
        body: WireCodec.write(try await parts.changes(of: part, after: after, limit: limit, run)))
    }
    guard let page = try await service.changes(after: after, limit: limit, run) else {
      return HTTPAnswer(status: .notModified)
    }
    return HTTPAnswer(body: WireCodec.write(page))
  }
}

extension WireCalls {
  /// The part of the logbook that the request asks for; nil if it asks for all changes.
  private static func part(_ incoming: IncomingRequest) throws(Refusal) -> ChangePart? {
    let guid = try incoming.parameter("guid")
    let only = try incoming.parameter("only")
    let from = try incoming.parameter("from")
    let until = try incoming.parameter("until")
    switch (guid, only, from, until) {
    case (nil, nil, nil, nil): return nil
    case (let guid?, nil, nil, nil):
      guard Guid.isValid(guid) else { break }
      return .record(guid)
    case (nil, "records", nil, nil): return .records
    case (nil, nil, _, _):
      guard let first = time(from, else: .min), let last = time(until, else: .max) else { break }
      return .readings(from: first, until: last)
    default: break
    }
    throw Refusal(
      .badRequest,
      "a part must be a guid, only=records, or readings from and until a shown time such as 2026-05-06T18:30:00"
    )
  }

  private static func time(_ text: String?, else open: Int64) -> Int64? {
    guard let text else { return open }
    return DeviceTime(text: text)?.seconds
  }
}

extension WireCalls {
  /// Answers `GET /v1/digests` with digests over readings or records, or with the items of some buckets.
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

extension WireCalls {
  /// Answers `DELETE /v1/logbook`: removes the logbook of the login permanently. The request must state the
  /// name and the id of the logbook.
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
