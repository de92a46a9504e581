// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers

/// The content of attachments on a loopback logbook: what is held of each, by its digest.
struct LoopbackBlobs {
  private var contents: [String: (bytes: [UInt8], size: Int)] = [:]

  mutating func answer(_ request: ReceivedRequest, _ digest: String) -> ScriptedAnswer {
    switch request.method {
    case "HEAD": return told(200, digest)
    case "GET": return part(digest, request.headers["range"] ?? "")
    default: return append(request, digest)
    }
  }

  private mutating func append(_ request: ReceivedRequest, _ digest: String) -> ScriptedAnswer {
    let offset = request.headers[Wire.offsetHeader.lowercased()].flatMap { Int($0) } ?? -1
    let size = request.headers[Wire.sizeHeader.lowercased()].flatMap { Int($0) } ?? -1
    guard size <= 1 << 20 else { return told(413, digest, .tooLarge) }
    var held = contents[digest]?.bytes ?? []
    guard held.count == offset else { return told(409, digest, .misplaced) }
    held += request.body
    var sum = Digest()
    held.withUnsafeBytes { sum.update($0) }
    if held.count == size, sum.hexadecimal() != digest {
      contents[digest] = nil
      return told(422, digest, .wrongDigest)
    }
    contents[digest] = (held, size)
    return told(204, digest)
  }

  private func told(_ status: Int, _ digest: String, _ code: ErrorCode? = nil) -> ScriptedAnswer {
    let held = contents[digest]
    var headers = ["\(Wire.heldHeader): \(held?.bytes.count ?? 0)"]
    if let held { headers.append("\(Wire.sizeHeader): \(held.size)") }
    if let code { headers.append("\(Wire.errorHeader): \(code.rawValue)") }
    return .status(status, code.map { ErrorBody($0, "").json } ?? [], headers: headers)
  }

  private func part(_ digest: String, _ range: String) -> ScriptedAnswer {
    guard let held = contents[digest], held.bytes.count == held.size else {
      return .status(404, ErrorBody(.notFound, "there is nothing here").json)
    }
    let numbers = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    if held.size == 0 { return .status(200) }
    guard numbers[0] < held.size else { return told(416, digest) }
    let last = min(numbers[1], held.size - 1)
    return .status(
      206, Array(held.bytes[numbers[0]...last]),
      headers: ["Content-Range: bytes \(numbers[0])-\(last)/\(held.size)"])
  }
}
