// SPDX-License-Identifier: Apache-2.0

package import Ingest
package import Logbook
package import LogbookStore
package import Sync

/// The exit statuses of glucoport(1). Categories of failures are mapped to statuses only in this file.
package enum ExitStatus: Int32, Encodable, Error {
  case done = 0
  /// A check found something that a person should correct, and no status below is more exact. Monitoring
  /// programs read it as a warning.
  case failed = 1
  /// Uploads fail. Monitoring programs read it as critical.
  case critical = 2
  /// Some items were rejected; all others are stored.
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
  /// Ended by SIGINT without an error.
  case interrupted = 130
  /// Ended by SIGXCPU, at the limit of processor time.
  case outOfTime = 152
  /// Ended by SIGTERM without an error.
  case terminated = 143

  /// The exit status of a run that a signal ended: 128 plus the signal's number, as in a shell.
  package init(signal: Int32) { self = ExitStatus(rawValue: 128 + signal) ?? .interrupted }

  /// The exit status for a failure of this category.
  package init(_ category: FailureCategory) {
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

  /// The exit status of a failed attempt of a job that runs again and again, such as an upload.
  ///
  /// - Parameter isUnattended: whether the job runs without a person. Then every temporary failure is
  ///   `temporary`, since the next run tries again.
  package init(_ category: FailureCategory, isUnattended: Bool) {
    self = isUnattended && category.isTemporary ? .temporary : ExitStatus(category)
  }

  /// The statuses by priority. A run with several statuses ends with the first of this list that occurred.
  static let precedence: [ExitStatus] = [
    .interrupted, .terminated, .outOfTime, .bug, .configuration, .permission, .protocolViolation,
    .inputOutput,
    .cannotCreate, .unavailable,
    .missingInput, .badInput, .usage, .temporary, .partial, .conflicts, .critical, .failed,
    .done,
  ]

  /// The exit status of a command whose steps ended with these statuses, for example the imports of several
  /// files.
  package static func of(_ parts: [ExitStatus]) -> ExitStatus {
    precedence.first(where: parts.contains) ?? .done
  }
}

// MARK: - Results that are not failures

extension ExitStatus {
  /// The exit status of an import: `badInput` if the input may be truncated or contradicts stored readings,
  /// `partial` if rows were rejected.
  package static func of(_ report: ImportReport) -> ExitStatus {
    if report.end.fault != nil || report.contradictions != nil { return .badInput }
    return report.counts.rejected > 0 ? .partial : .done
  }

  /// The exit status of an undo or redo: `partial` if changes of records were too large to undo.
  package static func of(_ counts: UndoCounts) -> ExitStatus {
    counts.largeRecords.isEmpty ? .done : .partial
  }

  /// The exit status of an upload. It is `partial` if the remote refused items, `conflicts` if a person must
  /// decide, and `temporary` if the remote lacks contents of attachments.
  package static func of(_ summary: UploadSummary) -> ExitStatus {
    of([
      summary.refused > 0 ? .partial : .done, summary.conflicts > 0 ? .conflicts : .done,
      summary.absentAttachments > 0 ? .temporary : .done,
    ])
  }

  /// The exit status of a comparison: `partial` if store and remote differ, unless `--fix` made them equal.
  package static func of(_ summary: VerifySummary, isFixed: Bool) -> ExitStatus {
    summary.differences > 0 && (!isFixed || summary.unfixed > 0) ? .partial : .done
  }

  /// Ends the command with this status. For `done`, it only returns.
  ///
  /// - Throws: `self`, unless it is `done`.
  package func end() throws {
    if self != .done { throw self }
  }
}

extension FailureCategory {
  /// Whether a later attempt may succeed without any action by a person.
  package var isTemporary: Bool { self == .temporary || self == .unavailable }
}
