// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Logbook

/// Whether a command needs the remote. Every command has exactly one class.
package enum ActionClass: String {
  /// Changes readings or records: immediately in this store, whatever the state of the network. A later
  /// upload sends the change.
  case deferrable
  /// Needs the remote immediately, and changes nothing here if that fails.
  case immediate
  /// Concerns only this computer.
  case local
}

/// A command with its class.
package protocol ClassifiedCommand: ParsableCommand {
  static var actionClass: ActionClass { get }
  /// Whether the steps that it finished before a failure are kept.
  static var keepsPartialWork: Bool { get }
}

extension ClassifiedCommand {
  /// No step is kept, unless a command states otherwise.
  package static var keepsPartialWork: Bool { false }

  /// The end of a failure sentence of this command. For an immediate action, it states that nothing changed.
  package static var failureSuffix: String {
    actionClass == .immediate && !keepsPartialWork ? "; nothing was changed here" : ""
  }
}

/// A failure of an immediate action after the answer of the remote, when something may have changed here.
package struct FailureAfterRemoteChange: Error {
  /// What failed.
  package let failure: Failure

  /// Runs the work that follows that answer.
  package static func marking<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let failure as Failure {
      throw FailureAfterRemoteChange(failure: failure)
    }
  }
}

/// The help of a command below its abstract: an optional explanation, and two command lines to copy.
package func helpText(_ explanation: String = "", examples first: String, _ second: String) -> String {
  // Not joined from a list: that takes a hundredth of a short run, which makes many of these texts.
  let examples = "Examples:\n  " + first + "\n  " + second
  return explanation.isEmpty ? examples : explanation + "\n\n" + examples
}
