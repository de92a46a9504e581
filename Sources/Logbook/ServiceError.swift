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
  /// It never returned this cursor or position, or was restored from an older backup after it.
  case positionUnknown
  /// It broke its protocol.
  case protocolViolation(String)
  /// The logbook was removed permanently.
  case purged
}
