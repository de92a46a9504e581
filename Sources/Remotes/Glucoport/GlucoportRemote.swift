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

extension GlucoportRemote: AttachmentService {
  func heldContent(of digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    let answer = try await exchange.send(
      ExchangeRequest(method: .HEAD, path: try path(of: digest), headers: headers(run)))
    guard answer.status == 200 else {
      // An answer to HEAD has no body, so its error is in a header.
      let code = answer.headers.first(name: WireProtocol.errorHeader).flatMap(ErrorCode.init)
      let logbook = answer.headers.first(name: WireProtocol.logbookHeader)
      throw serviceError(
        for: answer, ErrorBody(code, "it answers with status \(answer.status)", logbook: logbook))
    }
    return try readHeldContent(answer)
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    var headers = headers(run)
    headers.add(name: "Content-Type", value: "application/octet-stream")
    headers.add(name: WireProtocol.offsetHeader, value: String(offset))
    headers.add(name: WireProtocol.sizeHeader, value: String(content.size))
    let answer = try await exchange.send(
      ExchangeRequest(
        method: .PATCH, path: try path(of: content.digest), headers: headers, body: bytes,
        mayBePacked: false))
    switch (answer.status, answer.headers.first(name: WireProtocol.errorHeader).flatMap(ErrorCode.init)) {
    case (204, _): return .holds(try readHeldContent(answer))
    case (409, .misplaced): return .misplaced(try readHeldContent(answer))
    case (422, .wrongDigest): return .wrongDigest
    case (507, .full): return .full("\(exchange.address.host): \(message(in: answer))")
    // If the answer has the error code of a glucoport server, the whole attachment is too large. If a proxy
    // sent the status, perhaps only the part is too large.
    case (413, .tooLarge): throw .refused("\(exchange.address.host): the attachment is too large for it")
    default: throw serviceError(for: answer)
    }
  }

  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    var headers = headers(run)
    headers.add(name: "Range", value: "bytes=\(offset)-\(offset + Int64(limit) - 1)")
    let answer = try await exchange.send(
      ExchangeRequest(path: try path(of: digest), headers: headers))
    switch (answer.status, answer.headers.first(name: WireProtocol.errorHeader).flatMap(ErrorCode.init)) {
    case (200, _) where offset == 0:
      try checkContent(answer)
      guard try readHeldContent(answer).bytes == answer.body.count else {
        throw exchange.violation("it returned a content of another length than it states")
      }
      return ContentPart(size: Int64(answer.body.count), bytes: answer.body)
    case (206, _):
      try checkContent(answer)
      return try part(answer, from: offset, limit: limit)
    // The server's content ends before the requested offset.
    case (416, _): return ContentPart(size: try readHeldContent(answer).bytes, bytes: [])
    // Only the error code of a glucoport server shows that the attachment's content is missing. A login page
    // or a proxy may also answer with status 404.
    case (404, .notFound): return nil
    default: throw serviceError(for: answer)
    }
  }
}

extension GlucoportRemote {
  /// The path of an attachment's content. It is checked, since the digest in a record of another node may be
  /// any text.
  private func path(of digest: String) throws(ServiceError) -> String {
    guard AttachmentContent.isDigest(digest) else {
      throw .refused(
        "\(exchange.address.host) was not contacted: an attachment has no valid SHA-256")
    }
    return WireProtocol.blobsPath + digest
  }

  /// Throws for an answer that cannot be an attachment's content, such as the login page of a network. If
  /// this page were stored as the content, its digest would not match, and the content would not be requested
  /// again.
  private func checkContent(_ answer: ExchangeAnswer) throws(ServiceError) {
    if answer.body.isEmpty { return }
    let type = answer.headers.first(name: "Content-Type")?.lowercased() ?? "no type"
    guard type.hasPrefix("application/octet-stream") else {
      throw exchange.violation(
        "it returned \(exchange.sanitised(type)) in place of the content of an attachment; a login page of the network may be in between"
      )
    }
  }

  private func readHeldContent(_ answer: ExchangeAnswer) throws(ServiceError) -> HeldContent {
    let numbers = [WireProtocol.heldHeader, WireProtocol.sizeHeader].map { name in
      answer.headers.first(name: name).flatMap { Int64($0) }
    }
    guard let bytes = numbers[0], bytes >= 0, bytes <= numbers[1] ?? 0 else {
      throw exchange.violation("it does not report how much of a content it has")
    }
    return HeldContent(bytes: bytes, size: numbers[1])
  }

  private func part(
    _ answer: ExchangeAnswer, from offset: Int64, limit: Int
  ) throws(ServiceError) -> ContentPart {
    let words = answer.headers.first(name: "Content-Range")?.split(separator: " ") ?? []
    let numbers = (words.last ?? "").split { $0 == "-" || $0 == "/" }.map { Int64($0) }
    guard words.count == 2, words[0] == "bytes", numbers.count == 3, let first = numbers[0],
      let last = numbers[1], let size = numbers[2], size < 1 << 50, last < size, first == offset,
      last - first + 1 == answer.body.count, answer.body.count <= limit
    else { throw exchange.violation("it returned another range of a content than requested") }
    return ContentPart(size: size, bytes: answer.body)
  }
}
