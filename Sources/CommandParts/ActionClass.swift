// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Logbook

/// Whether a command needs the remote. Every command has exactly one class.
package enum ActionClass: String {
  /// Changes readings or records in this store immediately, whatever the state of the network. A later upload
  /// sends the change.
  case deferrable
  /// Needs the remote immediately. If the remote fails, nothing changes in this store.
  case immediate
  /// Needs no remote, and changes nothing that an upload would send.
  case local
}

/// A command that states its class.
package protocol ClassifiedCommand: ParsableCommand {
  static var actionClass: ActionClass { get }
  /// Whether the steps that the command finished before a failure stay stored.
  static var keepsPartialWork: Bool { get }
  /// The command itself if it waits for the network, otherwise nil.
  ///
  /// This is a property, like `visitor`, since a cast to the protocol is slow: it searches all conformances
  /// of the program.
  var waiting: (any AsyncParsableCommand)? { get }
  /// The command itself if it runs for the stores of all persons, otherwise nil.
  var visitor: (any PersonVisitor)? { get }
}

extension ClassifiedCommand {
  /// By default, a failed command keeps none of its steps.
  package static var keepsPartialWork: Bool { false }

  /// Nil, since only an asynchronous command waits for the network.
  package var waiting: (any AsyncParsableCommand)? { nil }

  /// Nil, since only a `PersonVisitor` runs for several stores.
  package var visitor: (any PersonVisitor)? { nil }

  /// The words that end each failure message of this command. For an immediate action, they state that
  /// nothing changed here.
  package static var failureSuffix: String {
    actionClass == .immediate && !keepsPartialWork ? "; nothing was changed here" : ""
  }
}

extension ClassifiedCommand where Self: AsyncParsableCommand {
  /// The command itself, since it waits for the network.
  package var waiting: (any AsyncParsableCommand)? { self }
}

/// A command that prints its result. `run()` writes out the buffered output after the work: a command that
/// forgot this would report success on a full disk.
package protocol PrintingCommand: ClassifiedCommand {
  /// Does the work of the command.
  func run(_ output: Output) throws
}

extension PrintingCommand {
  package func run() throws {
    let output = Output()
    try run(output)
    try output.finish()
  }
}

/// A printing command that waits for the network.
package protocol AsyncPrintingCommand: AsyncParsableCommand, ClassifiedCommand {
  /// Does the work of the command.
  func run(_ output: Output) async throws
}

extension AsyncPrintingCommand {
  package func run() async throws {
    let output = Output()
    try await run(output)
    try output.finish()
  }
}

/// A failure of an immediate action after the remote has answered. By then, the remote or this store may have
/// changed, so the message must not state that nothing was changed.
package struct FailureAfterRemoteChange: Error {
  /// The failure itself.
  package let failure: Failure

  /// Runs the work that follows the answer of the remote. A `Failure` of the work is thrown as a
  /// `FailureAfterRemoteChange`.
  package static func wrapFailures<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let failure as Failure {
      throw FailureAfterRemoteChange(failure: failure)
    }
  }
}

extension CommandConfiguration {
  /// The name of a command, its abstract, and the help below that: an optional explanation, and two command
  /// lines to copy.
  package init(
    _ name: String, _ abstract: String, _ explanation: String = "", examples first: String, _ second: String,
    subcommands: [any ParsableCommand.Type] = [], defaultSubcommand: (any ParsableCommand.Type)? = nil
  ) {
    // The lines are concatenated, since every run makes many of these texts. As measured, joining a list
    // would take 1 % of a short run.
    let examples = "Examples:\n  " + first + "\n  " + second
    // This name saves time. If a command has no super-command, the parser searches each call for a request
    // for completions. The search would take a fifth of a short run. The name has no other effect, since the
    // top command has no super-command.
    self.init(
      commandName: name, _superCommandName: "glucoport", abstract: abstract,
      discussion: explanation.isEmpty ? examples : explanation + "\n\n" + examples, subcommands: subcommands,
      defaultSubcommand: defaultSubcommand)
  }
}
