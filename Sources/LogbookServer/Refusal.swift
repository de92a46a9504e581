// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI

/// An answer that is no success. The message holds nothing of the request.
struct Refusal: Error {
  let code: ErrorCode
  let message: String
  /// Another status than the one that belongs to the code.
  var statusOverride: HTTPResponse.Status?
  var logbook: String?
  var retryAfterSeconds: Int?
  /// Whether the connection ends with it, and the log counts it with others.
  var endsConnection = false
  /// The methods that the path takes.
  var allowed: String?
  /// What is held of a content, where a part of it does not fit.
  var held: HeldContent?

  init(_ code: ErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }

  var status: HTTPResponse.Status {
    if let statusOverride { return statusOverride }
    return switch code {
    case .badRequest: .badRequest
    case .login: .unauthorized
    case .readOnly: .forbidden
    case .notFound: .notFound
    case .badMethod: .methodNotAllowed
    case .nodeReused, .otherLogbook, .misplaced: .conflict
    case .positionUnknown, .purged: .gone
    case .tooLarge: .contentTooLarge
    case .badType: .unsupportedMediaType
    case .wrongDigest: .unprocessableContent
    case .tooMany: .tooManyRequests
    case .serverFailure: .internalServerError
    case .busy: .serviceUnavailable
    case .full: .init(code: 507, reasonPhrase: "Insufficient Storage")
    }
  }

  /// The headers that belong to it.
  var headers: HTTPFields {
    var headers: HTTPFields = [:]
    if code == .login { headers[.wwwAuthenticate] = "Bearer realm=\"glucoport\"" }
    if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
    if let allowed { headers[.allow] = allowed }
    headers[wire: Wire.errorHeader] = code.rawValue
    if let logbook { headers[wire: Wire.logbookHeader] = logbook }
    if let held { headers.set(held) }
    return headers
  }

  var body: [UInt8] { ErrorBody(code, message, logbook: logbook).json }
}

extension Refusal {
  /// What a logbook did not do.
  init(_ error: ServiceError) {
    switch error {
    case .nodeReused:
      self.init(
        .nodeReused,
        "a later run of this node was seen, or another one with the same number: use a new node id")
    case .otherLogbook(let id):
      self.init(.otherLogbook, "this login is for another logbook than expected")
      logbook = id
    case .positionUnknown:
      self.init(
        .positionUnknown, "this server does not know the position; it may have been restored from a backup")
    case .purged: self.init(.purged, "this logbook was removed permanently")
    case .tooLarge: self.init(.tooLarge, "the answer would be too large; send fewer records at a time")
    case .busy(let sentence, let seconds):
      self.init(.busy, sentence)
      retryAfterSeconds = seconds
    case .unavailable(let sentence): self.init(.busy, sentence)
    case .serverFailure(let sentence, _), .protocolViolation(let sentence):
      self.init(.serverFailure, sentence)
    case .refused(let sentence): self.init(.badRequest, sentence)
    case .loginRefused(let sentence): self.init(.login, sentence)
    case .readOnly: self.init(.readOnly, "this token may read only")
    }
  }

  /// A body that is not what the protocol says.
  init(_ error: JSONError) { self.init(.badRequest, "byte \(error.offset) of the body: \(error.reason)") }
}
