// SPDX-License-Identifier: Apache-2.0

/// Why a service did not do what was asked: what can be done about it, and a sentence for people that holds no secret
/// and no value.
///
/// Unless the connection was lost, nothing of the request was applied.
package enum ServiceError: Error, Hashable, Sendable {
  /// It cannot be reached, or the connection was lost: nobody knows whether the request was applied.
  case unavailable(String)
  /// It asks to wait, perhaps for so many seconds.
  case busy(String, retryAfterSeconds: Int?)
  /// It failed at this very request; another may pass. The details are for the log of whoever runs the service.
  case serverFailure(String, log: String = "")
  /// The request, or the answer to it, is larger than it accepts; half of the request may pass.
  case tooLarge
  /// It refuses the request permanently.
  case refused(String)
  /// The login is not, or no longer, good.
  case loginRefused(String)
  /// The login is good for reading only.
  case readOnly
  /// It saw a later run of this node, or another one with this number: the store is a copy, or was restored.
  case nodeReused
  /// It serves another logbook than the one that this store was synced with.
  case otherLogbook(id: String)
  /// It never returned this cursor or position, or was restored from an older backup since.
  case positionUnknown
  /// It broke its protocol.
  case protocolViolation(String)
  /// The logbook was removed permanently.
  case purged
}

extension ServiceError {
  /// The longest wait that a remote can ask for, in seconds: six hours. What it asks for beyond is cut to that.
  package static let maxRetryAfterSeconds = 6 * 3600
}
