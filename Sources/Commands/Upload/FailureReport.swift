// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes

/// The message and exit status of a failed upload, and the failure that the store keeps.
///
/// A job would print the same line at every run, and each is a mail. So if it is unattended and quiet, a
/// temporary failure is not printed, and a persistent one is printed only once. It is printed again after an
/// upload succeeded or failed otherwise, with another token, or after the remote was set again. `status
/// --check` reports both kinds.
struct FailureReport {
  let run: UploadRun
  let isUnattended: Bool
  let isQuiet: Bool
  let output: Output

  /// Whether only new failures are printed.
  var isSilent: Bool { isUnattended && isQuiet }

  /// The login; errors in it are reported.
  ///
  /// - Throws: `ExitStatus` for a persistent failure, `Failure` for a temporary one.
  func login() async throws -> RemoteLogin {
    do {
      return try await run.login()
    } catch let failure as Failure where !failure.category.isTemporary {
      // If a logbook was removed, the store knows it without the remote, whatever the token.
      let known = run.setting.purgedAt == nil ? nil : run.setting.lastingFailure?.tokenMark
      let status = try report(failure, tokenMark: known ?? "")
      try run.store.sync {
        try $0.noteFailure(failures: run.setting.failures, next: nil, failure.message)
      }
      throw status
    }
  }

  /// Prints a failure unless it is known, and stores a persistent one.
  ///
  /// - Parameter tokenMark: the mark of the token that failed.
  /// - Returns: the exit status.
  func report(_ failure: Failure, tokenMark: String) throws -> ExitStatus {
    if failure.category.isTemporary {
      let status = isUnattended ? .temporary : ExitStatus(failure.category)
      if !isSilent { output.failure("glucoport: \(failure.message)", status) }
      return status
    }
    let isKnown = run.setting.lastingFailure?.isSame(as: failure, tokenMark: tokenMark) == true
    let status = ExitStatus(failure.category)
    if !isSilent || !isKnown { output.failure("glucoport: \(failure.message)", status) }
    if !isKnown {
      let failure = LastingFailure(failure, since: Host.now(), tokenMark: tokenMark)
      try run.store.sync { try $0.noteLasting(failure) }
    }
    return status
  }
}

extension FailureCategory {
  /// Whether a later attempt may succeed without a person.
  var isTemporary: Bool { self == .temporary || self == .unavailable }
}
