// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI

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
