// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Commands
import Glibc
import Logbook
import LookCommands

/// The program: every command, and the one place where errors become exit statuses.
struct Glucoport: ParsableCommand {
  /// The program's name, its summary, version and commands.
  static let configuration = CommandConfiguration(
    commandName: "glucoport",
    abstract: "Imports blood-glucose data into one store per person, and keeps stores in sync.",
    discussion: "Not a medical device. Do not base treatment on what it shows.",
    version: Release.version,
    groupedSubcommands: [
      CommandGroup(
        name: "Import", subcommands: CommandGroups.importing + LookGroups.imports + CommandGroups.undoing),
      CommandGroup(name: "Look", subcommands: CommandGroups.looking + LookGroups.logbook),
      CommandGroup(name: "Sync", subcommands: CommandGroups.syncing),
      CommandGroup(name: "Manage", subcommands: CommandGroups.managing),
    ])

  /// The program without arguments, which the parser requires.
  init() {}

  /// Runs the program with its arguments and ends the process.
  ///
  /// Only this function runs commands that wait for the network, which are `AsyncParsableCommand`, as tasks.
  static func main() async {
    // Past a file size limit, a write then fails and is reported, instead of a signal that ends the process.
    signal(SIGXFSZ, SIG_IGN)
    let words = Host.arguments
    let printsJSON = words.map(CommandArguments.askForJSON) ?? false
    FatalSignals.watch(printsJSON: printsJSON)
    await Output.$printsFailuresAsJSON.withValue(printsJSON) {
      await perform(words)
    }
  }

  private static func perform(_ words: [String]?) async {
    let output = Output()
    var failureSuffix = ""
    do {
      guard let words else {
        // Without them a job would print the help, do nothing, and count as done.
        throw Failure(.inputOutput, "cannot read the arguments of this process; is /proc mounted?")
      }
      var command = try CommandArguments(words: words).parse()
      failureSuffix = (command as? any ClassifiedCommand).map { type(of: $0).failureSuffix } ?? ""
      if let visitor = command as? any PersonVisitor, let visit = try PersonVisit(for: visitor) {
        try await visit.run(visitor, output)
      } else if let installer = command as? any CompletionInstaller {
        try installer.run(CompletionScript(of: Self.self))
      } else if var waiting = command as? any AsyncParsableCommand {
        try await waiting.run()
      } else {
        try command.run()
      }
      try output.finish()
    } catch {
      end(with: error, failureSuffix, output)
    }
  }

  /// Prints the version and ends the process if that is the only request. Returns in every other case, and if
  /// the version cannot be written, so that the usual code reports it.
  static func showVersionAlone() {
    guard Host.arguments == ["--version"] else { return }
    signal(SIGXFSZ, SIG_IGN)
    let output = Output()
    output.line(Release.version)
    do { try output.finish() } catch { return }
    // `_exit`: the normal way out builds error descriptions and costs time.
    _exit(0)
  }

  /// Ends the process with a message if the system allows it too few threads or files: the runtime would hang
  /// or trap.
  static func requireResources() {
    guard let reason = SpareResources.ofProgram.fault() else { return }
    Output.$printsFailuresAsJSON.withValue(Host.arguments.map(CommandArguments.askForJSON) ?? false) {
      Output().failure("glucoport: \(reason)", .temporary)
    }
    exit(withError: ExitCode(ExitStatus.temporary.rawValue))
  }

  /// Keeps the runtime's worker threads from writing to the system's log, unless the environment says
  /// otherwise.
  ///
  /// They request a priority of -4, which only root gets (`setpriority` fails with `EACCES`). libdispatch
  /// logs each failure: at least one line in the journal for each upload, above the reason that a person
  /// looks for.
  static func muteRuntime() {
    setenv("LIBDISPATCH_LOG", "NO", 0)
  }

  private static func end(with error: any Error, _ failureSuffix: String, _ output: Output) -> Never {
    let status = report(error, failureSuffix, output)
    do {
      try output.finish()
      exit(withError: ExitCode(status.rawValue))
    } catch {
      output.failure("glucoport: \(error)", .inputOutput)
      exit(withError: ExitCode(ExitStatus.inputOutput.rawValue))
    }
  }

  /// Prints what ended a command, and returns the status that it leads to.
  ///
  /// - Parameter failureSuffix: the end of the message of a failure that changed nothing.
  static func report(_ error: any Error, _ failureSuffix: String, _ output: Output) -> ExitStatus {
    switch error {
    case let known as ExitStatus: return known
    case is OutputClosed: return .done
    case let failure as Failure:
      let status = ExitStatus(failure.category)
      output.failure("glucoport: \(failure.message)\(failureSuffix)", status)
      return status
    case let late as FailureAfterRemoteChange: return report(late.failure, "", output)
    default: return show(error, output)
    }
  }

  /// Writes help and the version to standard output, and usage errors with their hint to standard error.
  private static func show(_ error: any Error, _ output: Output) -> ExitStatus {
    switch exitCode(for: error) {
    case .success:
      output.line(fullMessage(for: error))
      return .done
    case .validationFailure:
      showUsage(error, output)
      return .usage
    default:
      output.failure("glucoport: a bug in glucoport: \(error)", .bug)
      return .bug
    }
  }

  /// The parser's message has the options of the command below its first line, and below those where to read on.
  private static func showUsage(_ error: any Error, _ output: Output) {
    let whole = fullMessage(for: error)
    guard Output.printsFailuresAsJSON else { return output.message(whole) }
    let advice = whole.split(separator: "\n").last { $0.hasPrefix("  See ") }?.dropFirst(2)
    output.failure(message(for: error), .usage, hint: advice.map(String.init))
  }
}
