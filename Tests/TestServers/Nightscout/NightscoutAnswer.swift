// SPDX-License-Identifier: Apache-2.0

/// The site's answer to a call. Code throws it to end the call early.
struct NightscoutAnswer: Error {
  /// The content of the answer's body.
  enum Content {
    case none
    case json(DocumentValue)
    case page(String)
    case table(String)
  }

  var status: Int
  var content: Content
  var headers: [String] = []

  init(status: Int, body: DocumentValue?, headers: [String] = []) {
    self.status = status
    content = body.map(Content.json) ?? .none
    self.headers = headers
  }

  init(status: Int, content: Content, headers: [String] = []) {
    (self.status, self.content, self.headers) = (status, content, headers)
  }

  var body: DocumentValue? { if case .json(let value) = content { value } else { nil } }

  /// The text of the body and its content type; nil without a body.
  var payload: (text: String, type: String)? {
    switch content {
    case .none: nil
    case .json(let value): (value.json, "application/json; charset=utf-8")
    case .page(let text): (text, "text/html; charset=utf-8")
    case .table(let text): (text, "text/plain; charset=utf-8")
    }
  }

  /// An error in the format of API v3, with the site's `message` if there is one.
  static func error(_ status: Int, _ message: String? = nil) -> NightscoutAnswer {
    var body: NightscoutDocument = ["status": DocumentValue(Int64(status))]
    body["message"] = message.map(DocumentValue.string)
    return NightscoutAnswer(status: status, body: .object(body))
  }

  static let databaseError = error(500, "Database error")
  static let badOperation = error(404, "Bad operation or collection")
  static let badBody = error(400, "Bad or missing request body")

  /// An error of API v1.
  static func v1(_ status: Int, _ message: String, _ description: DocumentValue) -> NightscoutAnswer {
    let number = DocumentValue(Int64(status))
    let body: NightscoutDocument = [
      "status": number, "message": .string(message), "description": description,
    ]
    return NightscoutAnswer(status: status, body: .object(body))
  }

  static let unauthorized = v1(401, "Unauthorized", "Invalid/Missing")

  /// An error that the site's code did not expect, in the format of API v1 and v2.
  static func thrown(_ status: Int, _ message: String, _ more: NightscoutDocument = [:]) -> NightscoutAnswer {
    let error = more.merging(["message": .string(message), "stack": .string(message)]) { $1 }
    return NightscoutAnswer(status: status, body: ["error": .object(error)])
  }

  /// The page for an unknown path.
  static func noPage(_ call: NightscoutCall) -> NightscoutAnswer {
    let text = "Cannot \(call.method) \(call.path)"
    return NightscoutAnswer(status: 404, content: .page("<!DOCTYPE html>\n<pre>\(text)</pre>\n"))
  }

  /// A success in the format of API v3, with these fields and the status.
  static func done(_ status: Int, _ fields: NightscoutDocument, headers: [String] = []) -> NightscoutAnswer {
    let body = fields.merging(["status": DocumentValue(Int64(status))]) { $1 }
    return NightscoutAnswer(status: status, body: .object(body), headers: headers)
  }

  /// A success in the format of API v1 and v2, whose body is only the value.
  static func bare(_ value: DocumentValue) -> NightscoutAnswer { NightscoutAnswer(status: 200, body: value) }

  /// The answer with the ETag of API v1 and v2, or with status 304 if the client sent this ETag.
  func tagged(for call: NightscoutCall) -> NightscoutAnswer {
    guard let payload, status != 404, !isThrown else { return self }
    let text = payload.text
    let tag = "W/\"\(String(text.utf8.count, radix: 16))-\(NightscoutDigest.sha1(text).prefix(27))\""
    if status == 200, call.method == "GET", call.headers["if-none-match"] == tag {
      return NightscoutAnswer(status: 304, body: nil, headers: headers + ["ETag: \(tag)"])
    }
    var tagged = self
    tagged.headers.append("ETag: \(tag)")
    return tagged
  }

  private var isThrown: Bool { body?["error"] != nil }
}
