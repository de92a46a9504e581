// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// Whether what a command does needs the remote. Every command is in exactly one class.
enum ActionClass: String {
  /// Concerns readings or records: done here at once, whatever the network does, and sent by a later upload.
  case deferrable
  /// Needs the remote now, and changes nothing here when that fails.
  case immediate
  /// Concerns this computer alone.
  case local
}

/// A command that says its class.
protocol ClassifiedCommand: ParsableCommand {
  static var actionClass: ActionClass { get }
  /// Whether what it did before it failed stays, step by step.
  static var keepsItsSteps: Bool { get }
}

extension ClassifiedCommand {
  static var keepsItsSteps: Bool { false }

  /// What the sentence of a failure of this command ends with: that of an immediate action says that nothing changed.
  static var failureEnd: String {
    actionClass == .immediate && !keepsItsSteps ? "; nothing was changed here" : ""
  }
}

/// A failure of an immediate action behind the answer of the remote, when something may have been changed here.
struct LateFailure: Error {
  let failure: Failure

  /// Does what comes behind that answer.
  static func marking<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let failure as Failure {
      throw LateFailure(failure: failure)
    }
  }
}
