// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// Whether a command needs the remote. Every command has exactly one class.
enum ActionClass: String {
  /// Changes readings or records: immediately in this store, whatever the state of the network. A later
  /// upload sends the change.
  case deferrable
  /// Needs the remote immediately, and changes nothing here if that fails.
  case immediate
  /// Concerns only this computer.
  case local
}

/// A command with its class.
protocol ClassifiedCommand: ParsableCommand {
  static var actionClass: ActionClass { get }
  /// Whether the steps that it finished before a failure are kept.
  static var keepsPartialWork: Bool { get }
}

extension ClassifiedCommand {
  static var keepsPartialWork: Bool { false }

  /// The end of a failure sentence of this command. For an immediate action, it states that nothing changed.
  static var failureSuffix: String {
    actionClass == .immediate && !keepsPartialWork ? "; nothing was changed here" : ""
  }
}

/// A failure of an immediate action after the answer of the remote, when something may have changed here.
struct FailureAfterRemoteChange: Error {
  let failure: Failure

  /// Runs the work that follows that answer.
  static func marking<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let failure as Failure {
      throw FailureAfterRemoteChange(failure: failure)
    }
  }
}
