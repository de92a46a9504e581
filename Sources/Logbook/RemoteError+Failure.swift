// SPDX-License-Identifier: Apache-2.0

extension RemoteError {
  /// What a caller can do about it, with a sentence for people.
  public var failure: Failure {
    switch self {
    case .unavailable(let detail): Failure(.unavailable, "the remote cannot be reached: \(detail)")
    case .busy(let detail, let seconds):
      Failure(
        .temporary,
        "the remote asks to wait\(seconds.map { " \($0) seconds" } ?? ""): \(detail); try again later")
    case .serverFailure(let detail): Failure(.temporary, "the remote failed: \(detail); try again later")
    case .tooLarge: Failure(.protocolViolation, "the remote takes no request as small as this one")
    case .refused(let detail): Failure(.protocolViolation, "the remote refused the request: \(detail)")
    case .loginRefused(let detail):
      Failure(.permission, "the remote refused the login: \(detail); check the token of 'glucoport remote set'")
    case .readOnly:
      Failure(.permission, "this login may only read: nothing was sent; ask for a token with the role write")
    case .nodeReused:
      Failure(.protocolViolation, "the remote takes this store for a copy of another, again and again")
    case .otherLogbook(let id):
      Failure(
        .configuration,
        "the remote has another logbook (\(id)) than the one that this store was synced with; nothing was sent. "
          + "If that is meant, say 'glucoport remote set' with --new-remote")
    case .positionUnknown:
      Failure(.protocolViolation, "the remote does not know a position that it gave, again and again")
    case .protocolViolation(let detail):
      Failure(.protocolViolation, "the remote broke its protocol: \(detail)")
    }
  }
}
