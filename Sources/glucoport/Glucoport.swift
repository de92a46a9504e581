// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Commands
import Glibc
import Logbook
import LogbookStore
import LookCommands
import USBTransport

/// The program with all its commands. Only this type maps errors to exit statuses.
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

  /// The parser requires this initialiser.
  init() {}

  /// Runs the program with its arguments, and ends the process.
  ///
  /// Commands that wait for the network are `AsyncParsableCommand`. Only this function runs them, as tasks.
  static func main() async -> Never {
    // If this signal is ignored, a write beyond the file size limit fails and is reported. Otherwise the
    // signal would end the process.
    signal(SIGXFSZ, SIG_IGN)
    let words = Host.arguments
    let printsJSON = words.map(CommandArguments.askForJSON) ?? false
    FatalSignals.watch(printsJSON: printsJSON)
    await Output.$printsFailuresAsJSON.withValue(printsJSON) {
      await perform(words)
    }
    // After a return, the runtime would start another thread, which would only end the process.
    exit()
  }

  /// Keeps the main thread for signals, until a command on another thread ends the process.
  ///
  /// The runtime's other threads block most signals. This thread receives all signals, even if the process
  /// that started the program had blocked them. So SIGTERM always has an effect.
  static func waitForSignals() -> Never {
    var none = sigset_t()
    sigemptyset(&none)
    while true { sigsuspend(&none) }
  }

  private static func perform(_ words: [String]?) async {
    let output = Output()
    var failureSuffix = ""
    do {
      guard let words else {
        // Without this failure, the program would run as if it had no arguments. It would print help and
        // return success, and a job would not notice.
        throw Failure(.inputOutput, "cannot read the arguments of this process; is /proc mounted?")
      }
      var command = try CommandArguments(words: words).parse()
      let classified = classified(command)
      failureSuffix = classified.map { type(of: $0).failureSuffix } ?? ""
      if let visitor = classified?.visitor, let visit = try PersonVisit(for: visitor) {
        try await visit.run(visitor, output)
      } else if var waiting = classified?.waiting {
        try await waiting.run()
      } else if classified?.visitor == nil, let installer = command as? any CompletionInstaller {
        try installer.run(CompletionScript(of: Self.self))
      } else {
        try command.run()
      }
      try output.finish()
    } catch {
      end(with: error, failureSuffix, output)
    }
  }

  /// The command as a `ClassifiedCommand`; nil for a command of the parser itself, such as the help.
  ///
  /// The cast is generic, since the cast of a value whose type is not known searches the conformances twice.
  private static func classified(_ command: some ParsableCommand) -> (any ClassifiedCommand)? {
    command as? any ClassifiedCommand
  }

  /// Prints the version and ends the process if the only argument is `--version`. With other arguments it
  /// returns. It also returns if the version cannot be written, so that `main` reports the error.
  static func showOnlyVersion() {
    guard Host.arguments == ["--version"] else { return }
    signal(SIGXFSZ, SIG_IGN)
    let output = Output()
    output.line(Release.version)
    do { try output.finish() } catch { return }
    // `_exit` is used, since the normal end of the program builds error descriptions and takes time.
    _exit(0)
  }

  /// Ends the process with a message if the system allows it too few threads or files. Without this check,
  /// the Swift runtime would hang or trap.
  static func requireResources() {
    guard let reason = ResourceLimits.ofProgram.shortage() else { return }
    Output.$printsFailuresAsJSON.withValue(Host.arguments.map(CommandArguments.askForJSON) ?? false) {
      Output().failure("glucoport: \(reason)", .temporary)
    }
    exit(withError: ExitCode(ExitStatus.temporary.rawValue))
  }

  /// Keeps the runtime's worker threads from writing to the system's log, unless the environment sets
  /// `LIBDISPATCH_LOG`.
  ///
  /// These threads request a priority of -4, which only root gets (`setpriority` fails with `EACCES`).
  /// libdispatch logs each failure. For each upload, this would be at least one line in the journal, above
  /// the message that a person looks for.
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

  /// Prints the error that ended a command, and returns the exit status for it.
  ///
  /// - Parameter failureSuffix: the text that is added to the message of a failure which changed nothing.
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

  /// Prints help and the version to standard output. Prints usage errors with their hint to standard error.
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

  /// Prints a usage error. In the parser's message, the options of the command follow the first line, and
  /// then a line about where to read more. With `--json`, only the first line and that last line are printed.
  private static func showUsage(_ error: any Error, _ output: Output) {
    var whole = fullMessage(for: error)
    // The parser does not know for which command `CommandArguments` refused the words.
    if error is ValidationError, let start = whole.firstRange(of: CommandArguments.usageStart),
      let usage = Host.arguments.flatMap({ CommandArguments(words: $0).usage })
    {
      whole.replaceSubrange(start.lowerBound..., with: usage)
    }
    guard Output.printsFailuresAsJSON else { return output.message(whole) }
    let advice = whole.split(separator: "\n").last { $0.hasPrefix("  See ") }?.dropFirst(2)
    output.failure(message(for: error), .usage, hint: advice.map(String.init))
  }
}

/// Runs a command once for each person. A failure for one person does not prevent the runs for the others.
struct PersonVisit {
  private let persons: [Person]

  /// Nil if an option or an environment variable selects a store, if the command does not visit all persons,
  /// or if there are no persons.
  init?(for visitor: any PersonVisitor) throws {
    guard visitor.visitsAll, !visitor.storeOptions.isChosen else { return nil }
    persons = try PersonList.load().all
    if persons.isEmpty { return nil }
  }

  /// Runs the command for each person, one after the other.
  ///
  /// - Throws: the `ExitStatus` with the highest priority of all runs.
  func run(_ visitor: any PersonVisitor, _ output: Output) async throws {
    if persons.count > 1 { try visitor.validateForSeveral() }
    var statuses: [ExitStatus] = []
    for person in persons {
      try await Output.$subject.withValue(persons.count > 1 ? person.name : nil) {
        statuses.append(await visit(person, visitor, output))
        try output.finish()
      }
    }
    let worst = ExitStatus.of(statuses)
    if worst != .done { throw worst }
  }

  private func visit(_ person: Person, _ visitor: any PersonVisitor, _ output: Output) async -> ExitStatus {
    do {
      var one = visitor
      one.storeOptions.person = person.name
      guard try Store.exists(path: person.store) else {
        if !visitor.needsNoHeading { output.message("glucoport: no store yet") }
        return .done
      }
      if let reason = try visitor.reasonToSkip(Store(path: person.store, role: .reader)) {
        if !visitor.needsNoHeading { output.message("glucoport: \(reason)") }
        return .done
      }
      if persons.count > 1, !visitor.needsNoHeading {
        output.line("\(displayed(person.name)):")
        try output.finish()
      }
      if var waiting = one.waiting {
        try await waiting.run()
      } else {
        try one.run()
      }
      return .done
    } catch {
      return Glucoport.report(error, type(of: visitor).failureSuffix, output)
    }
  }
}

/// Handles signals with which the system ends a program, so that the program states the reason.
///
/// The system sends SIGXCPU when the program reaches its limit of processor time, and again for each further
/// second. It sends SIGBUS when it cannot read or write a page of a file that is mapped to memory. SQLite
/// maps the index of a store's write-ahead log in this way.
enum FatalSignals {
  /// Installs handlers that print why the program ends, and end it. At the limit of processor time, a command
  /// that handles SIGTERM stops as it does after SIGTERM.
  static func watch(printsJSON: Bool) {
    SignalFlag.prepare()
    var (limit, disk) = (sigaction(), sigaction())
    if printsJSON {
      limit.__sigaction_handler.sa_handler = { FatalSignals.endAtLimit($0, FatalSignals.limitObject) }
      disk.__sigaction_handler.sa_handler = { _ in FatalSignals.end(.inputOutput, FatalSignals.diskObject) }
    } else {
      limit.__sigaction_handler.sa_handler = { FatalSignals.endAtLimit($0, FatalSignals.limitSentence) }
      disk.__sigaction_handler.sa_handler = { _ in FatalSignals.end(.inputOutput, FatalSignals.diskSentence) }
    }
    sigaction(SIGXCPU, &limit, nil)
    sigaction(SIGBUS, &disk, nil)
  }

  // These are computed properties of static texts. A signal handler must not initialise anything, and static
  // texts are part of the program's file.
  private static var limitSentence: StaticString {
    "glucoport: the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again\n"
  }

  private static var limitObject: StaticString {
    """
    {"error":"the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again",\
    "status":152,"hint":"raise it (ulimit -St, LimitCPU= of systemd) and try again"}

    """
  }

  private static var diskSentence: StaticString {
    "glucoport: the disk failed below a file that is in memory; look for its errors with dmesg, and try again\n"
  }

  private static var diskObject: StaticString {
    """
    {"error":"the disk failed below a file that is in memory; look for its errors with dmesg, and try again",\
    "status":74,"hint":"look for its errors with dmesg, and try again"}

    """
  }

  // MARK: - In the handlers

  private static func endAtLimit(_ number: Int32, _ text: StaticString) {
    let isFirst = SignalFlag.raise(number)
    if isFirst || !SignalFlag.isRaised { writeToStandardError(text) }
    if !isFirst { _exit(ExitStatus.outOfTime.rawValue) }
  }

  private static func end(_ status: ExitStatus, _ text: StaticString) {
    writeToStandardError(text)
    _exit(status.rawValue)
  }

  private static func writeToStandardError(_ text: StaticString) {
    write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  }
}
