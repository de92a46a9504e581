// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes

/// What an upload that failed prints and ends with, and what the store keeps of it.
///
/// A job prints the same line at every run, and each is a mail. Unattended and quiet, a failure that passes is not
/// printed, and one that lasts is printed once: until an upload works, fails in another way or with another token, or
/// the remote is set again. `status --check` reports both.
struct FailureReport {
  let run: UploadRun
  let isUnattended: Bool
  let isQuiet: Bool
  let output: Output

  /// Whether only what is new is worth a line.
  var isSilent: Bool { isUnattended && isQuiet }

  /// The login; what is wrong with it is reported.
  ///
  /// - Throws: `ExitStatus` for a failure that lasts, `Failure` for one that passes.
  func login() async throws -> RemoteLogin {
    do {
      return try await run.login()
    } catch let failure as Failure where !failure.category.isTemporary {
      // Of a logbook that was removed the store knows by itself, whatever the token.
      let known = run.setting.purgedAt == nil ? nil : run.setting.lastingFailure?.tokenMark
      let status = try report(failure, tokenMark: known ?? "")
      try run.store.sync {
        try $0.noteFailure(failures: run.setting.failures, next: nil, failure.message)
      }
      throw status
    }
  }

  /// Prints a failure unless it is known, and keeps one that lasts.
  ///
  /// - Parameter tokenMark: the mark of the token with which it failed.
  /// - Returns: the exit status.
  func report(_ failure: Failure, tokenMark: String) throws -> ExitStatus {
    if failure.category.isTemporary {
      if !isSilent { output.message("glucoport: \(failure.message)") }
      return isUnattended ? .temporary : ExitStatus(failure.category)
    }
    let isKnown = run.setting.lastingFailure?.isSame(as: failure, tokenMark: tokenMark) == true
    if !isSilent || !isKnown { output.message("glucoport: \(failure.message)") }
    if !isKnown {
      let failure = LastingFailure(failure, since: Host.now(), tokenMark: tokenMark)
      try run.store.sync { try $0.noteLasting(failure) }
    }
    return ExitStatus(failure.category)
  }
}

extension FailureCategory {
  /// Whether the next attempt may pass without anybody's help.
  var isTemporary: Bool { self == .temporary || self == .unavailable }
}
