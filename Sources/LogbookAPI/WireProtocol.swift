// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The names and limits that client and server share.
package enum WireProtocol {
  /// The path for `GET`, which returns the logbook of the login, and `DELETE`, which removes it permanently.
  package static let logbookPath = "/v1/logbook"
  /// The path for `POST` of a batch of readings.
  package static let readingsPath = "/v1/readings"
  /// The path for `POST` of a batch of record changes.
  package static let recordsPath = "/v1/records"
  /// The path for `GET` of the changes after a cursor.
  package static let changesPath = "/v1/changes"
  /// The path for `GET` of digests over readings or records, and of the items in their buckets.
  package static let digestsPath = "/v1/digests"
  /// The path for `POST`, which creates a link to the pages of the logbook.
  package static let pageLinksPath = "/v1/pages"
  /// The path for `GET` of a page for a browser, without a login. The secret of a link is appended to this
  /// path.
  package static let pagesPath = "/pages/"

  /// The header with the id of the node.
  package static let nodeHeader = "Glucoport-Node"
  /// The header with the number of the run, a blank and its id.
  package static let runHeader = "Glucoport-Run"
  /// The header with the id of the logbook that the client expects.
  package static let logbookHeader = "Glucoport-Logbook"
  /// The header with the latest position of the server that the client has seen.
  package static let positionHeader = "Glucoport-Position"

  /// The maximum size of a body in bytes, both compressed and uncompressed.
  package static let maxBodyBytes = 8 << 20
  /// The maximum number of readings in a request or page.
  package static let maxReadings = 10_000
  /// The maximum number of records in a request or page.
  package static let maxRecords = 1000
  /// The maximum number of buckets in a request for the items of buckets.
  package static let maxBuckets = 512
}

/// The code that identifies an error. It is in the member `error` of the body.
package enum ErrorCode: String, CaseIterable, Sendable {
  /// 400: the request violates the protocol.
  case badRequest = "bad-request"
  /// 401: the token is missing or unknown.
  case login
  /// 403: the token only permits reading.
  case readOnly = "read-only"
  /// 404: the path or item does not exist.
  case notFound = "not-found"
  /// 405: the path does not accept this method.
  case badMethod = "bad-method"
  /// 409: the server has seen a later run of this node, or a different run with this number.
  case nodeReused = "node-reused"
  /// 409: the login belongs to another logbook than the client expects.
  case otherLogbook = "other-logbook"
  /// 409: the part of an attachment's content does not begin where the bytes end that the server holds.
  case misplaced
  /// 410: the cursor or position is unknown.
  case positionUnknown = "position-unknown"
  /// 410: the logbook was removed permanently.
  case purged
  /// 413: the request is too large.
  case tooLarge = "too-large"
  /// 415: the content type or encoding is not accepted.
  case badType = "bad-type"
  /// 422: an attachment's content does not match its SHA-256 and was discarded.
  case wrongDigest = "wrong-digest"
  /// 429: too many requests or failed logins.
  case tooMany = "too-many"
  /// 500: the server failed.
  case serverFailure = "server-failure"
  /// 503: the server is stopping, or its storage is busy.
  case busy
  /// 507: the logbook has reached the server's limit for attachments.
  case full
}

/// The body of an answer with an error.
package struct ErrorBody: Hashable, Sendable {
  /// The code of the error; nil if this program does not know it.
  package var code: ErrorCode?
  /// The message for people.
  package var message: String
  /// For `otherLogbook`, the id of the logbook that the login opens; otherwise nil.
  package var logbook: String?

  package init(_ code: ErrorCode?, _ message: String, logbook: String? = nil) {
    self.code = code
    self.message = message
    self.logbook = logbook
  }

  /// The body as JSON.
  package var json: [UInt8] {
    var out = WireWriter()
    out.raw("{\"error\":")
    out.string(code?.rawValue)
    out.raw(",\"message\":")
    out.string(message)
    if let logbook {
      out.raw(",\"logbook\":")
      out.string(logbook)
    }
    out.raw("}")
    return out.bytes
  }

  /// Parses the body of an answer with an error.
  package init(_ body: [UInt8]) throws(JSONError) {
    var read = ErrorBody(nil, "")
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      try reader.object { (name, reader) throws(JSONError) in
        switch name {
        case "error": read.code = try reader.optionalString().flatMap(ErrorCode.init)
        case "message": read.message = try reader.string()
        case "logbook": read.logbook = try reader.optionalString()
        default: return false
        }
        return true
      }
    }
    self = read
  }
}

extension RunStamp {
  /// The value of `runHeader`: the number of the run, a blank and its id.
  package var runText: String { "\(number) \(id)" }

  /// The run in a request's headers; nil if they are missing or invalid.
  package init?(node: String, run: String, logbook: String?, lastSeenPosition: String?) {
    let parts = run.split(separator: " ", omittingEmptySubsequences: false)
    guard Guid.isValid(node), parts.count == 2, let number = Int64(parts[0]), number > 0,
      Guid.isValid(String(parts[1]))
    else { return nil }
    self.init(
      node: node, number: number, id: String(parts[1]), logbook: logbook, lastSeenPosition: lastSeenPosition)
  }
}

/// The names for the content of attachments.
extension WireProtocol {
  /// The path for `HEAD`, `PATCH`, `PUT` and `GET` of an attachment's content. The SHA-256 of the content is
  /// appended to this path.
  package static let blobsPath = "/v1/blobs/"
  /// The header with the offset of a part in its attachment's content, in bytes.
  package static let offsetHeader = "Glucoport-Offset"
  /// The header with the size of an attachment's whole content.
  package static let sizeHeader = "Glucoport-Size"
  /// The header with the number of bytes of an attachment's content that the server holds.
  package static let heldHeader = "Glucoport-Held"
  /// The header that repeats the code of an error, for answers without a body.
  package static let errorHeader = "Glucoport-Error"
  /// The maximum size of a part of an attachment's content, in bytes.
  package static let maxPartBytes = 1 << 20
}
