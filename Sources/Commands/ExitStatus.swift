// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The exit statuses of glucoport(1). The only place that maps failures to them.
enum ExitStatus: Int32, Error {
  case done = 0
  /// A checkup found what a person should mend, and no status below says it better. A warning, for monitoring programs.
  case failed = 1
  /// For monitoring programs: uploads fail.
  case critical = 2
  /// Some items were rejected; the rest is stored.
  case partial = 3
  /// Done, but conflicts need a decision.
  case conflicts = 4
  case usage = 64
  case badInput = 65
  case missingInput = 66
  case unavailable = 69
  case bug = 70
  case cannotCreate = 73
  case inputOutput = 74
  case temporary = 75
  case protocolViolation = 76
  case permission = 77
  case configuration = 78
  /// Ended by SIGINT, with all in order.
  case interrupted = 130
  /// Ended by SIGTERM, with all in order.
  case terminated = 143

  /// The status of a run that a signal ended, as a shell reports it.
  init(signal: Int32) { self = ExitStatus(rawValue: 128 + signal) ?? .interrupted }

  init(_ category: FailureCategory) {
    self =
      switch category {
      case .badInput: .badInput
      case .missingInput: .missingInput
      case .unavailable: .unavailable
      case .temporary: .temporary
      case .protocolViolation: .protocolViolation
      case .permission: .permission
      case .configuration: .configuration
      case .cannotCreate: .cannotCreate
      case .inputOutput: .inputOutput
      case .usage: .usage
      }
  }

  /// Which of several holds: the first of these.
  static let precedence: [ExitStatus] = [
    .interrupted, .terminated, .bug, .configuration, .permission, .protocolViolation, .inputOutput,
    .cannotCreate, .unavailable,
    .missingInput, .badInput, .usage, .temporary, .partial, .conflicts, .critical, .failed,
    .done,
  ]

  /// The status for a run of several parts.
  static func of(_ parts: [ExitStatus]) -> ExitStatus {
    precedence.first(where: parts.contains) ?? .done
  }
}
