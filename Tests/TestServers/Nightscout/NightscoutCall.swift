// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A request, taken apart.
struct NightscoutCall {
  let method: String
  /// The parts of the path, as they stand there.
  let rawSegments: [String]
  /// The parts of the path without their percent signs.
  let segments: [String]
  let query: [(name: String, value: String)]
  let headers: [String: String]
  let body: [UInt8]

  init(_ received: ReceivedRequest) {
    method = received.method
    let parts = received.path.split(separator: "?", maxSplits: 1).map(String.init)
    rawSegments = (parts.first ?? "").split(separator: "/").map(String.init)
    segments = rawSegments.map { $0.removingPercentEncoding ?? $0 }
    query = parts.count < 2 ? [] : Self.query(parts[1])
    headers = received.headers
    body = received.body
  }

  /// The address that the penalties go by; a proxy may name another one.
  var client: String { headers["x-forwarded-for"] ?? "127.0.0.1" }

  func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

  private static func query(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { item in
      let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(plain)
      return (sides[0], sides.count > 1 ? sides[1] : "")
    }
  }

  private static func plain(_ text: Substring) -> String {
    let spaced = text.replacing("+", with: " ")
    return spaced.removingPercentEncoding ?? String(spaced)
  }
}

/// What a site answers, without a wire: a status, header lines and a body.
package struct NightscoutReply: Sendable {
  package let status: Int
  package let headers: [String]
  package let body: [UInt8]
}

/// What the site says to a call. It is thrown where it ends the work on a call.
struct NightscoutAnswer: Error {
  var status: Int
  var body: DocumentValue?
  var headers: [String] = []

  /// An error of v3, or of v3's shape: `message` where the site says one.
  static func error(_ status: Int, _ message: String? = nil) -> NightscoutAnswer {
    var body: NightscoutDocument = ["status": DocumentValue(Int64(status))]
    body["message"] = message.map(DocumentValue.string)
    return NightscoutAnswer(status: status, body: .object(body))
  }

  /// An error of v1.
  static func v1(_ status: Int, _ message: String, _ description: DocumentValue) -> NightscoutAnswer {
    let number = DocumentValue(Int64(status))
    let body: NightscoutDocument = [
      "status": number, "message": .string(message), "description": description,
    ]
    return NightscoutAnswer(status: status, body: .object(body))
  }

  /// A success of v3: the fields beside the status.
  static func done(_ status: Int, _ fields: NightscoutDocument, headers: [String] = []) -> NightscoutAnswer {
    let body = fields.merging(["status": DocumentValue(Int64(status))]) { $1 }
    return NightscoutAnswer(status: status, body: .object(body), headers: headers)
  }

  /// A success of v1 or v2: the bare value.
  static func bare(_ value: DocumentValue) -> NightscoutAnswer { NightscoutAnswer(status: 200, body: value) }

  /// The answer with the tag that Express puts on it, or 304 to who has it already.
  func tagged(for call: NightscoutCall) -> NightscoutAnswer {
    guard status == 200, let body else { return self }
    let text = body.json
    let tag = "W/\"\(String(text.utf8.count, radix: 16))-\(NightscoutDigest.sha1(text).prefix(27))\""
    if call.method == "GET", call.headers["if-none-match"] == tag {
      return NightscoutAnswer(status: 304, body: nil, headers: ["ETag: \(tag)"])
    }
    var tagged = self
    tagged.headers.append("ETag: \(tag)")
    return tagged
  }
}
