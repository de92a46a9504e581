// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

/// A glucoport server, by glucoport-protocol(7).
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

  /// Any address can be one: people run this server where they like.
  static func recognises(_ address: RemoteAddress) -> Bool { true }

  var parts: (any PartService)? { self }
  var digests: (any DigestService)? { self }
  var attachments: (any AttachmentService)? { self }
  var purging: (any PurgeService)? { self }
  var pages: (any PageService)? { self }

  func logbook() async throws(ServiceError) -> RemoteLogbook {
    var logbook = try await send(get(Wire.logbookPath)) { (body) throws(JSONError) in
      try Bodies.readLogbook(body)
    }
    logbook.name = exchange.quoted(logbook.name)
    return logbook
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    let request = post(Wire.readingsPath, Bodies.writeReadings(batch), run)
    var answer = try await send(request) { (body) throws(JSONError) in
      try Bodies.readReadingAnswer(body, sent: batch.readings.count)
    }
    for index in answer.refused.indices {
      answer.refused[index].reason = exchange.quoted(answer.refused[index].reason)
    }
    return answer
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    let request = post(Wire.recordsPath, Bodies.writeChanges(changes.map(\.json)), run)
    var answer = try await send(request) { (body) throws(JSONError) in
      try Bodies.readRecordAnswer(body, sent: changes.count)
    }
    answer.verdicts = answer.verdicts.map { verdict in
      if case .refused(let reason) = verdict { .refused(reason: exchange.quoted(reason)) } else { verdict }
    }
    return answer
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(ServiceError) -> ChangePage? {
    let after = cursor.map { "after=\(Self.escaped($0))&" } ?? ""
    let request = get("\(Wire.changesPath)?\(after)limit=\(limit)", run)
    let answer = try await exchange.send(request)
    if answer.status == 304 { return nil }
    return try read(answer) { (body) throws(JSONError) in try Bodies.readPage(body) }
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await send(get(Wire.digestsPath, run)) { (body) throws(JSONError) in try Bodies.readDigests(body) }
  }
}

extension GlucoportRemote: PartService {
  /// The shown times that have a text: of the years 1 to 9999.
  private static let times: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    var parameters = cursor.map { ["after=\(Self.escaped($0))"] } ?? []
    switch part {
    case .readings(let from, let until):
      let (first, last) = (max(from, Self.times.lowerBound), min(until, Self.times.upperBound))
      parameters.append("from=\(Self.escaped(DeviceTime(seconds: first).text))")
      parameters.append("until=\(Self.escaped(DeviceTime(seconds: last).text))")
    case .records: parameters.append("only=records")
    case .record(let guid): parameters.append("guid=\(guid)")
    }
    parameters.append("limit=\(limit)")
    let request = get("\(Wire.changesPath)?\(parameters.joined(separator: "&"))", run)
    return try await send(request) { (body) throws(JSONError) in try Bodies.readPage(body) }
  }
}

extension GlucoportRemote {
  func headers(_ run: RunStamp?) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Authorization": "Bearer \(token.text)", "Accept": "application/json"]
    guard let run else { return headers }
    headers.add(name: Wire.nodeHeader, value: run.node)
    headers.add(name: Wire.runHeader, value: run.runText)
    if let logbook = run.logbook { headers.add(name: Wire.logbookHeader, value: logbook) }
    if let position = run.lastSeenPosition { headers.add(name: Wire.positionHeader, value: position) }
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
    guard answer.status == 200 else { throw problem(answer) }
    do throws(JSONError) {
      return try parse(answer.body)
    } catch {
      throw exchange.violation(
        "its answer violates the protocol: \(error.reason) at byte \(error.offset)")
    }
  }

  /// What an answer means that is no success. Its word counts only under the status that belongs to it: what is
  /// between may answer, too.
  func problem(_ answer: ExchangeAnswer) -> ServiceError {
    let body: ErrorBody
    do throws(JSONError) {
      body = try ErrorBody(answer.body)
    } catch {
      return exchange.problem(answer)
    }
    return problem(answer, body)
  }

  /// The server's own words about an answer that is no success.
  func words(_ answer: ExchangeAnswer) -> String {
    do throws(JSONError) {
      return exchange.quoted(try ErrorBody(answer.body).message)
    } catch {
      return "it answers with status \(answer.status)"
    }
  }

  /// What an answer means whose error is stated, in its body or in its headers.
  func problem(_ answer: ExchangeAnswer, _ body: ErrorBody) -> ServiceError {
    switch (answer.status, body.code) {
    case (400, .badRequest): return .refused("\(exchange.address.host): \(exchange.quoted(body.message))")
    case (403, .readOnly): return .readOnly
    case (409, .nodeReused): return .nodeReused
    case (409, .otherLogbook):
      guard let logbook = body.logbook, Guid.isValid(logbook) else { return exchange.problem(answer) }
      return .otherLogbook(id: logbook)
    case (410, .positionUnknown): return .positionUnknown
    case (410, .purged): return .purged
    default: return exchange.problem(answer, words: body.message)
    }
  }

  /// A cursor is visible ASCII, of which a query takes not every sign.
  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
