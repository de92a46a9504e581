// SPDX-License-Identifier: Apache-2.0

/// Why a service did not do what was requested. Each case needs a different reaction of the caller. The
/// messages for people contain no secrets and no health data.
///
/// Except for `unavailable`, no part of the request was applied.
package enum ServiceError: Error, Hashable, Sendable {
  /// The service cannot be reached, or the connection was lost. It is unknown whether the request was
  /// applied.
  case unavailable(String)
  /// The service asks the client to wait, and may state for how many seconds.
  case busy(String, retryAfterSeconds: Int?)
  /// The service failed at this request, but another request may succeed. `log` is for the log of the
  /// service.
  case serverFailure(String, log: String = "")
  /// The request or its answer is larger than the service accepts. A request with half of the items may
  /// succeed.
  case tooLarge
  /// The service refuses the request permanently, with this message.
  case refused(String)
  /// The login is not valid, or no longer valid.
  case loginRefused(String)
  /// The login may only read.
  case readOnly
  /// The service has seen a later run of this node, or a different run with the same number. So the store is
  /// a copy, or was restored from a backup.
  case nodeReused
  /// The service now serves another logbook than the one with which this store was synced.
  case otherLogbook(id: String)
  /// The service does not know this cursor or position. It never returned it, or was restored from an older
  /// backup.
  case positionUnknown
  /// The service's answer violates the protocol.
  case protocolViolation(String)
  /// The logbook was removed permanently; see `PurgeService`.
  case purged
}

extension Failure {
  /// The failure of a command that a service's error caused. Only this initialiser maps the errors to
  /// categories.
  ///
  /// - Parameter host: the name of the remote in messages.
  package init(_ error: ServiceError, host: String) {
    switch error {
    case .unavailable(let sentence): self.init(.unavailable, sentence)
    case .busy(let sentence, let seconds):
      let advice = "; try again"
      // The server's own sentence may already contain the advice. It must not appear twice.
      let reason = sentence.hasSuffix(advice) ? String(sentence.dropLast(advice.count)) : sentence
      let wait = seconds.flatMap { $0 > 0 ? " in \(min($0, RetryAfter.maxSeconds)) s" : nil } ?? " later"
      self.init(.temporary, reason + advice + wait)
    case .serverFailure(let sentence, _): self.init(.temporary, "\(sentence); try again later")
    case .tooLarge: self.init(.protocolViolation, "\(host): it rejects even the smallest request")
    case .refused(let sentence): self.init(.protocolViolation, sentence)
    case .loginRefused(let sentence):
      self.init(.permission, "\(sentence); the login is rejected: check or replace the token")
    case .readOnly: self.init(.permission, "\(host): this login may only read; use one with write permission")
    case .nodeReused:
      self.init(
        .temporary,
        "\(host): this store seems to be a copy; the next 'glucoport upload' registers a new id"
      )
    case .otherLogbook(let id):
      self.init(
        .configuration,
        "\(host): it has another logbook (\(id)) than this store was synced with; to send everything to it: 'glucoport remote set --new-remote'"
      )
    case .positionUnknown:
      self.init(
        .temporary,
        "\(host): it was restored from a backup and does not know this store's position; try again")
    case .protocolViolation(let sentence): self.init(.protocolViolation, sentence)
    case .purged:
      self.init(
        .configuration,
        "\(host): the logbook was removed permanently on the server; the data in this store stays. To send it to another logbook: 'glucoport remote set --new-remote'; to remove it: 'glucoport remote purge'"
      )
    }
  }
}
