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

/// Answers the calls for the content of attachments: `HEAD`, `PATCH`, `PUT` and `GET` with its SHA-256 in the
/// path.
struct BlobCalls {
  var body: IncomingBody
  private let maxContentBytes: Int64

  init(_ body: IncomingBody, _ settings: ServerSettings) {
    var body = body
    (body.type, body.maxBytes) = ("application/octet-stream", WireProtocol.maxPartBytes)
    self.body = body
    maxContentBytes = settings.maxContentBytes
  }

  func answer(_ incoming: IncomingRequest, _ logbook: any LogbookService) async throws -> HTTPAnswer {
    let digest = String(incoming.path.dropFirst(WireProtocol.blobsPath.count))
    guard AttachmentContent.isDigest(digest) else {
      throw Refusal(
        .notFound,
        "\(WireProtocol.blobsPath) must be followed by a SHA-256 of 64 lower-case hexadecimal digits")
    }
    let run = try incoming.run()
    guard let service = logbook.attachments else {
      throw Refusal(.notFound, "this server stores no content of attachments")
    }
    switch incoming.request.method {
    case .head: return HTTPAnswer(headers: .holding(try await service.heldContent(of: digest, run)))
    case .get: return try await part(of: digest, incoming, service, run)
    case .patch:
      let offset = try number(incoming, WireProtocol.offsetHeader)
      let size = try number(incoming, WireProtocol.sizeHeader)
      return try await append(
        AttachmentContent(digest: digest, size: size), at: offset, incoming, service, run)
    default:
      return try await append(AttachmentContent(digest: digest, size: -1), at: 0, incoming, service, run)
    }
  }
}

extension BlobCalls {
  /// Appends the body of a request to the stored part of an attachment's content.
  ///
  /// - Parameter content: the attachment's content to which the body belongs. A size of -1 means that the
  ///   body is the whole content.
  private func append(
    _ content: AttachmentContent, at offset: Int64, _ incoming: IncomingRequest,
    _ service: any AttachmentService, _ run: RunStamp
  ) async throws -> HTTPAnswer {
    guard content.size <= maxContentBytes else {
      throw Refusal(.tooLarge, "the content of an attachment can have at most \(maxContentBytes) bytes")
    }
    let outcome = try await body.read(incoming.request) { bytes in
      let isAll = content.size < 0
      let size = isAll ? Int64(bytes.count) : content.size
      guard size <= maxContentBytes, Int64(bytes.count) <= size - offset else {
        throw Refusal(.badRequest, "the part ends after the end of its content")
      }
      return try await service.append(
        bytes, to: AttachmentContent(digest: content.digest, size: size), at: offset, run)
    }
    switch outcome {
    case .holds(let held): return HTTPAnswer(status: .noContent, headers: .holding(held))
    case .misplaced(let held):
      var refusal = Refusal(.misplaced, "a part must begin where the stored bytes of its content end")
      refusal.held = held
      throw refusal
    case .wrongDigest: throw Refusal(.wrongDigest, "the content does not have this SHA-256 and was dropped")
    case .full(let sentence): throw Refusal(.full, sentence)
    }
  }

  private func part(
    of digest: String, _ incoming: IncomingRequest, _ service: any AttachmentService,
    _ run: RunStamp
  ) async throws -> HTTPAnswer {
    let range = try range(incoming)
    let (first, maxBytes) = range ?? (0, WireProtocol.maxPartBytes)
    guard let part = try await service.part(of: digest, from: first, limit: maxBytes, run) else {
      throw Refusal(.notFound, "there is no whole content with this SHA-256")
    }
    var answer = HTTPAnswer(body: part.bytes, type: "application/octet-stream", mayBePacked: false)
    answer.headers.set(HeldContent(bytes: part.size, size: part.size))
    guard range != nil, part.size > 0 else {
      guard part.bytes.count == part.size else {
        throw Refusal(
          .badRequest, "this content has more than \(WireProtocol.maxPartBytes) bytes: request it in ranges")
      }
      return answer
    }
    let last = first + Int64(part.bytes.count) - 1
    answer.status = part.bytes.isEmpty ? .rangeNotSatisfiable : .partialContent
    answer.headers[.contentRange] =
      part.bytes.isEmpty ? "bytes */\(part.size)" : "bytes \(first)-\(last)/\(part.size)"
    return answer
  }

  /// The range of bytes in the header `Range`, limited to the maximum size of a part; nil without this
  /// header.
  private func range(_ incoming: IncomingRequest) throws(Refusal) -> (first: Int64, maxBytes: Int)? {
    guard let text = try incoming.header("Range") else { return nil }
    let parts = text.replacing("bytes=", with: "", maxReplacements: 1)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard text.hasPrefix("bytes="), parts.count == 2, let first = Self.number(String(parts[0])) else {
      throw Refusal(.badRequest, "the header Range must be one range of bytes with its first byte")
    }
    if parts[1].isEmpty { return (first, WireProtocol.maxPartBytes) }
    guard let last = Self.number(String(parts[1])), last >= first else {
      throw Refusal(.badRequest, "the header Range must be one range of bytes with its first byte")
    }
    return (first, Int(min(Int64(WireProtocol.maxPartBytes), last - first + 1)))
  }

  private func number(_ incoming: IncomingRequest, _ header: String) throws(Refusal) -> Int64 {
    guard let number = try incoming.header(header).flatMap(Self.number) else {
      throw Refusal(.badRequest, "the header \(header) must be a number from 0")
    }
    return number
  }

  /// A number with at most 15 digits, so that the sum of two numbers cannot overflow. Nil for any other text.
  private static func number(_ text: String) -> Int64? {
    guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(text)
  }
}
