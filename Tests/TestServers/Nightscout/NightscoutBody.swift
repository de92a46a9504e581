// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The body of a call, which is read before the caller is identified.
enum NightscoutBody {
  private static let maxFormBytes = 1 << 20

  /// API v3 only reads JSON. Any other body is ignored.
  static func v3(_ call: NightscoutCall, maxBytes: Int) throws(NightscoutAnswer) -> DocumentValue? {
    guard type(of: call) == "application/json", call.headers["content-length"] != nil else { return nil }
    do {
      return try json(call, maxBytes)
    } catch {
      throw .error(500, "Internal Server Error")
    }
  }

  /// API v1 reads JSON and forms. Any other body is an object without members.
  static func v1(_ call: NightscoutCall, maxBytes: Int) throws(NightscoutAnswer) -> DocumentValue {
    switch type(of: call) {
    case "application/json" where call.headers["content-length"] != nil:
      do {
        return try json(call, maxBytes)
      } catch {
        throw error.answer(call)
      }
    case "application/x-www-form-urlencoded":
      guard call.body.count <= maxFormBytes else { throw Unreadable.tooLarge.answer(call) }
      return .object(NightscoutQuery(String(decoding: call.body, as: UTF8.self)).document)
    default: return [:]
    }
  }

  private enum Unreadable: Error {
    case malformed, tooLarge, unsupported

    func answer(_ call: NightscoutCall) -> NightscoutAnswer {
      switch self {
      case .malformed:
        let text = String(decoding: call.body, as: UTF8.self)
        return .thrown(
          400, "Unexpected end of JSON input",
          [
            "type": "entity.parse.failed", "status": 400, "statusCode": 400, "expose": true,
            "body": .string(text),
          ])
      case .tooLarge:
        let more: NightscoutDocument = [
          "type": "entity.too.large", "status": 413, "statusCode": 413, "expose": true,
          "length": DocumentValue(Int64(call.body.count)), "expected": DocumentValue(Int64(call.body.count)),
        ]
        return .thrown(413, "request entity too large", more)
      case .unsupported: return .thrown(415, "unsupported charset or content encoding", ["status": 415])
      }
    }
  }

  private static func type(of call: NightscoutCall) -> String? {
    call.headers["content-type"].map { type in
      type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  private static func json(_ call: NightscoutCall, _ maxBytes: Int) throws(Unreadable) -> DocumentValue {
    guard call.body.count <= maxBytes else { throw .tooLarge }
    let type = call.headers["content-type"]?.lowercased() ?? ""
    if let charset = type.range(of: "charset=") {
      guard type[charset.upperBound...].hasPrefix("utf-") else { throw .unsupported }
    }
    let bytes: [UInt8]
    switch call.headers["content-encoding"]?.lowercased() {
    case nil, "identity"?: bytes = call.body
    case "gzip"?:
      guard let unpacked = Inflate.gzip(call.body) else { throw .malformed }
      guard unpacked.count <= maxBytes else { throw .tooLarge }
      bytes = unpacked
    default: throw .unsupported
    }
    if bytes.isEmpty { return [:] }
    // Only an object or a list is accepted.
    let first = bytes.first { !$0.isWhitespace }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { throw .malformed }
    do { return try DocumentValue(json: bytes) } catch { throw .malformed }
  }
}

extension UInt8 {
  fileprivate var isWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
