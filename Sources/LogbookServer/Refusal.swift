// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI

/// An answer that reports an error. Its message contains no part of the request.
struct Refusal: Error {
  let code: ErrorCode
  let message: String
  /// The HTTP status, if it differs from the usual status of the error code.
  var statusOverride: HTTPResponse.Status?
  var logbook: String?
  var retryAfterSeconds: Int?
  /// Whether the connection is closed after the answer. The log then only counts the refusal, without a line
  /// for it.
  var endsConnection = false
  /// The methods that the path accepts, for the header `Allow`.
  var allowed: String?
  /// How many bytes of an attachment's content the server holds, if the sent part does not begin where these
  /// bytes end.
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

  /// The headers of the answer.
  var headers: HTTPFields {
    var headers: HTTPFields = [:]
    if code == .login { headers[.wwwAuthenticate] = "Bearer realm=\"glucoport\"" }
    if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
    if let allowed { headers[.allow] = allowed }
    headers[wire: WireProtocol.errorHeader] = code.rawValue
    if let logbook { headers[wire: WireProtocol.logbookHeader] = logbook }
    if let held { headers.set(held) }
    return headers
  }

  var body: [UInt8] { ErrorBody(code, message, logbook: logbook).json }
}

extension Refusal {
  /// The refusal that reports an error of a logbook.
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
    case .readOnly: self.init(.readOnly, "this token may only read")
    }
  }

  /// The refusal of a request whose body violates the protocol.
  init(_ error: JSONError) { self.init(.badRequest, "byte \(error.offset) of the body: \(error.reason)") }
}
