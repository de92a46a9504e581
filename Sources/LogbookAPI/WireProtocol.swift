// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Names that client and server share: paths, headers, limits.
package enum Wire {
  /// `GET`: the logbook of the login. `DELETE`: removes it permanently.
  package static let logbookPath = "/v1/logbook"
  /// `POST`: a batch of readings.
  package static let readingsPath = "/v1/readings"
  /// `POST`: a batch of changes of records.
  package static let recordsPath = "/v1/records"
  /// `GET`: what changed behind a cursor.
  package static let changesPath = "/v1/changes"
  /// `GET`: digests over readings or records, and what is in their buckets.
  package static let digestsPath = "/v1/digests"
  /// `POST`: makes a link to the pages of the logbook.
  package static let pageLinksPath = "/v1/pages"
  /// `GET`, followed by the secret of a link: a page for a browser, without a login.
  package static let pagesPath = "/pages/"

  /// The header with the id of the node.
  package static let nodeHeader = "Glucoport-Node"
  /// The header with the number of the run, a blank and its id.
  package static let runHeader = "Glucoport-Run"
  /// The header with the logbook that the client expects.
  package static let logbookHeader = "Glucoport-Logbook"
  /// The header with the latest position of the server that the client has seen.
  package static let positionHeader = "Glucoport-Position"

  /// The most bytes of a body, before and after compression.
  package static let maxBodyBytes = 8 << 20
  /// The most readings in a request or page.
  package static let maxReadings = 10_000
  /// The most records in a request or page.
  package static let maxRecords = 1000
  /// The most buckets of which a request may ask for the items.
  package static let maxBuckets = 512
}

/// The word by which an error is identified, in the member `error` of its body.
package enum ErrorCode: String, CaseIterable, Sendable {
  /// 400: the request is not what this protocol says.
  case badRequest = "bad-request"
  /// 401: no token, or one that is not known.
  case login
  /// 403: the token may read only.
  case readOnly = "read-only"
  /// 404: there is nothing here.
  case notFound = "not-found"
  /// 405: not with this method.
  case badMethod = "bad-method"
  /// 409: the server saw a later run of this node, or another one of this number.
  case nodeReused = "node-reused"
  /// 409: the login is for another logbook than the client expects.
  case otherLogbook = "other-logbook"
  /// 409: a part of a content does not begin where what the server holds of it ends.
  case misplaced
  /// 410: the cursor or position is not known.
  case positionUnknown = "position-unknown"
  /// 410: the logbook was removed permanently.
  case purged
  /// 413: the request is too large.
  case tooLarge = "too-large"
  /// 415: a content type or encoding that is not taken.
  case badType = "bad-type"
  /// 422: a content does not have its SHA-256; all of it was dropped.
  case wrongDigest = "wrong-digest"
  /// 429: too many requests or failed logins.
  case tooMany = "too-many"
  /// 500: the server failed.
  case serverFailure = "server-failure"
  /// 503: the server is stopping, or its storage is busy.
  case busy
  /// 507: the logbook holds as much content of attachments as the server gives it.
  case full
}

/// The body of an answer that is no success.
package struct ErrorBody: Hashable, Sendable {
  /// What went wrong.
  package var code: ErrorCode?
  /// A sentence for people.
  package var message: String
  /// With `otherLogbook`: the id of the logbook that the server has.
  package var logbook: String?

  /// An error with its sentence.
  package init(_ code: ErrorCode?, _ message: String, logbook: String? = nil) {
    self.code = code
    self.message = message
    self.logbook = logbook
  }

  /// The body.
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

  /// Reads a body.
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
  /// The value of the header with the run.
  package var runText: String { "\(number) \(id)" }

  /// The run that a request's headers name; nil when they name none that can be.
  package init?(node: String, run: String, logbook: String?, lastSeenPosition: String?) {
    let parts = run.split(separator: " ", omittingEmptySubsequences: false)
    guard Guid.isValid(node), parts.count == 2, let number = Int64(parts[0]), number > 0,
      Guid.isValid(String(parts[1]))
    else { return nil }
    self.init(
      node: node, number: number, id: String(parts[1]), logbook: logbook, lastSeenPosition: lastSeenPosition)
  }
}
