// SPDX-License-Identifier: Apache-2.0

/// Why a service did not do what was requested, by what can be done about it. The message for people contains no secret
/// and no value.
///
/// Unless the connection was lost, no part of the request was applied.
package enum ServiceError: Error, Hashable, Sendable {
  /// It cannot be reached, or the connection was lost. It is unknown whether the request was applied.
  case unavailable(String)
  /// It asks to wait, optionally for a number of seconds.
  case busy(String, retryAfterSeconds: Int?)
  /// It failed at this request, while another may succeed. The details are for the log of the service.
  case serverFailure(String, log: String = "")
  /// The request or its answer is larger than it accepts. Half of the request may succeed.
  case tooLarge
  /// It refuses the request permanently.
  case refused(String)
  /// The login is not valid, or not any more.
  case loginRefused(String)
  /// The login may only read.
  case readOnly
  /// It has seen a later run of this node, or another run with this number: the store is a copy, or was restored.
  case nodeReused
  /// It serves another logbook than the one with which this store was synced.
  case otherLogbook(id: String)
  /// It never returned this cursor or position, or was restored from a backup that was made before it did.
  case positionUnknown
  /// It broke its protocol.
  case protocolViolation(String)
  /// The logbook was removed permanently.
  case purged
}

extension Failure {
  /// The failure of a command because of a service's error. Only here each error gets its category.
  ///
  /// - Parameter host: the remote's name for people.
  package init(_ error: ServiceError, host: String) {
    switch error {
    case .unavailable(let sentence): self.init(.unavailable, sentence)
    case .busy(let sentence, let seconds):
      let advice = "; try again"
      // A server says it in its own sentence as well.
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
