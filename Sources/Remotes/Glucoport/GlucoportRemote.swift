// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

/// The client for a glucoport server, as glucoport-protocol(7) describes the protocol.
struct GlucoportRemote: RemoteKind {
  static let id = "glucoport"
  static let title = "glucoport server"

  static let takesAttachments = true

  let exchange: RemoteExchange
  private let token: Token

  init(_ exchange: RemoteExchange, token: Token) {
    self.exchange = exchange
    self.token = token
  }

  /// True for every address, since people run this server on their own hosts.
  static func recognises(_ address: RemoteAddress) -> Bool { true }

  var parts: (any PartService)? { self }
  var digests: (any DigestService)? { self }
  var attachments: (any AttachmentService)? { self }
  var purging: (any PurgeService)? { self }
  var pages: (any PageService)? { self }

  func logbook() async throws(ServiceError) -> RemoteLogbook {
    var logbook = try await send(get(WireProtocol.logbookPath)) { (body) throws(JSONError) in
      try WireCodec.readLogbook(body)
    }
    logbook.name = exchange.sanitised(logbook.name)
    return logbook
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    let request = post(WireProtocol.readingsPath, WireCodec.writeReadings(batch), run)
    var answer = try await send(request) { (body) throws(JSONError) in
      try WireCodec.readReadingAnswer(body, sent: batch.readings.count)
    }
    for index in answer.refused.indices {
      answer.refused[index].reason = exchange.sanitised(answer.refused[index].reason)
    }
    return answer
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    let request = post(WireProtocol.recordsPath, WireCodec.writeChanges(changes.map(\.json)), run)
    var answer = try await send(request) { (body) throws(JSONError) in
      try WireCodec.readRecordAnswer(body, sent: changes.count)
    }
    answer.verdicts = answer.verdicts.map { verdict in
      if case .refused(let reason) = verdict { .refused(reason: exchange.sanitised(reason)) } else { verdict }
    }
    return answer
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(ServiceError) -> ChangePage? {
    let after = cursor.map { "after=\(HTTPText.escaped($0))&" } ?? ""
    let request = get("\(WireProtocol.changesPath)?\(after)limit=\(limit)", run)
    let answer = try await exchange.send(request)
    if answer.status == 304 { return nil }
    return try read(answer) { (body) throws(JSONError) in try WireCodec.readPage(body) }
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await send(get(WireProtocol.digestsPath, run)) { (body) throws(JSONError) in
      try WireCodec.readDigests(body)
    }
  }
}

extension GlucoportRemote: PartService {
  /// The shown times that can be written as text: the years 1 to 9999, in civil seconds.
  private static let times: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    var parameters = cursor.map { ["after=\(HTTPText.escaped($0))"] } ?? []
    switch part {
    case .readings(let from, let until):
      let (first, last) = (max(from, Self.times.lowerBound), min(until, Self.times.upperBound))
      parameters.append("from=\(HTTPText.escaped(DeviceTime(seconds: first).text))")
      parameters.append("until=\(HTTPText.escaped(DeviceTime(seconds: last).text))")
    case .records: parameters.append("only=records")
    case .record(let guid): parameters.append("guid=\(guid)")
    }
    parameters.append("limit=\(limit)")
    let request = get("\(WireProtocol.changesPath)?\(parameters.joined(separator: "&"))", run)
    return try await send(request) { (body) throws(JSONError) in try WireCodec.readPage(body) }
  }
}

extension GlucoportRemote {
  func headers(_ run: RunStamp?) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Authorization": "Bearer \(token.text)", "Accept": "application/json"]
    guard let run else { return headers }
    headers.add(name: WireProtocol.nodeHeader, value: run.node)
    headers.add(name: WireProtocol.runHeader, value: run.runText)
    if let logbook = run.logbook { headers.add(name: WireProtocol.logbookHeader, value: logbook) }
    if let position = run.lastSeenPosition { headers.add(name: WireProtocol.positionHeader, value: position) }
    return headers
  }

  func get(_ path: String, _ run: RunStamp? = nil) -> ExchangeRequest {
    ExchangeRequest(path: path, headers: headers(run))
  }

  private func post(_ path: String, _ body: [UInt8], _ run: RunStamp) -> ExchangeRequest {
    var headers = headers(run)
    headers.add(name: "Content-Type", value: "application/json")
    return ExchangeRequest(method: .POST, path: path, headers: headers, body: body)
  }

  func send<Value>(
    _ request: ExchangeRequest, _ parse: ([UInt8]) throws(JSONError) -> Value
  ) async throws(ServiceError) -> Value {
    try read(try await exchange.send(request), parse)
  }

  func read<Value>(
    _ answer: ExchangeAnswer, _ parse: ([UInt8]) throws(JSONError) -> Value
  ) throws(ServiceError) -> Value {
    guard answer.status == 200 else { throw serviceError(for: answer) }
    do throws(JSONError) {
      return try parse(answer.body)
    } catch {
      throw exchange.violation(
        "its answer violates the protocol: \(error.reason) at byte \(error.offset)")
    }
  }

  /// The error for an unsuccessful answer. The code in its body is only used together with the status that
  /// belongs to it, since a proxy may have sent the answer.
  func serviceError(for answer: ExchangeAnswer) -> ServiceError {
    let body: ErrorBody
    do throws(JSONError) {
      body = try ErrorBody(answer.body)
    } catch {
      return exchange.serviceError(for: answer)
    }
    return serviceError(for: answer, body)
  }

  /// The server's message in an unsuccessful answer; empty if there is none.
  func message(in answer: ExchangeAnswer) -> String {
    do throws(JSONError) {
      return exchange.sanitised(try ErrorBody(answer.body).message)
    } catch {
      return "it answers with status \(answer.status)"
    }
  }

  /// The error for an unsuccessful answer whose code was read from its body or its headers.
  func serviceError(for answer: ExchangeAnswer, _ body: ErrorBody) -> ServiceError {
    switch (answer.status, body.code) {
    case (400, .badRequest): return .refused("\(exchange.address.host): \(exchange.sanitised(body.message))")
    case (403, .readOnly): return .readOnly
    case (409, .nodeReused): return .nodeReused
    case (409, .otherLogbook):
      guard let logbook = body.logbook, Guid.isValid(logbook) else {
        return exchange.serviceError(for: answer)
      }
      return .otherLogbook(id: logbook)
    case (410, .positionUnknown): return .positionUnknown
    case (410, .purged): return .purged
    default: return exchange.serviceError(for: answer, words: body.message)
    }
  }
}

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
    // The ids must ascend, since the next request begins after the last id. Otherwise the requests could
    // repeat endlessly.
    let guids = (guid.map { [$0] } ?? []) + page.records.map(\.guid)
    guard zip(guids, guids.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw exchange.violation("it returned records that are not in order")
    }
    return page
  }
}

extension GlucoportRemote: PageService {
  func makePageLink(seconds: Int?) async throws(ServiceError) -> PageLink? {
    let query = seconds.map { "?seconds=\($0)" } ?? ""
    let answer = try await exchange.send(
      ExchangeRequest(method: .POST, path: WireProtocol.pageLinksPath + query, headers: headers(nil)))
    // The server provides no pages, or is of a version without links to pages.
    if answer.status == 404 { return nil }
    return try read(answer) { (body) throws(JSONError) in try WireCodec.readPageLink(body) }
  }
}

extension GlucoportRemote: PurgeService {
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError) {
    var headers = headers(nil)
    headers.add(name: "Content-Type", value: "application/json")
    let request = ExchangeRequest(
      method: .DELETE, path: WireProtocol.logbookPath, headers: headers,
      body: WireCodec.writePurge(logbook: logbook.id, name: logbook.name))
    try await send(request) { (body) throws(JSONError) in
      // The answer must be a JSON object, which shows that it is from the server. Its content does not
      // matter.
      try JSONScanner.read(body) { (reader) throws(JSONError) in try reader.object { _, _ in false } }
    }
  }
}
