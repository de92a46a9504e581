// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1

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
