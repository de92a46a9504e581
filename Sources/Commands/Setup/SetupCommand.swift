// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// `glucoport setup`: installs the other files of the package for people who have only the program.
struct SetupCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "setup", abstract: "Install units, udev rules and completions without a package.",
    discussion: helpText(
      examples: "glucoport setup --dry-run",
      "sudo glucoport setup system"),
    subcommands: [SetupSystemCommand.self, SetupUserCommand.self, SetupRemoveCommand.self])

  @Flag(help: "Preview 'setup system' and 'setup user'; write nothing.")
  var dryRun = false

  // Not in `validate`, which ArgumentParser also calls for the subcommands.
  func run() throws {
    guard dryRun else {
      throw ValidationError(
        "Choose 'setup system', 'setup user' or 'setup remove'; 'setup --dry-run' lists what they write.")
    }
    let output = Output()
    let program = try Host.program()
    for plan in [
      try SetupPlan.system(prefix: SetupPrefix.standard, program: program),
      try SetupPlan.user(.ofUser(), program: program),
    ] {
      SetupText.list(try SetupWork(manifest: plan.manifest).changes(plan), output)
    }
    try output.finish()
  }
}

/// `glucoport setup system`: for all users of this computer.
struct SetupSystemCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "system", abstract: "Install program, units, udev rules and completions for all users.",
    discussion: helpText(
      examples: "sudo glucoport setup system",
      "glucoport setup system --prefix /opt/glucoport --dry-run"))

  // If both have a flag, the parser sets it only for the first of them.
  @ParentCommand var group: SetupCommand

  @OptionGroup var target: SetupPrefix

  @Flag(help: "Preview; write nothing.")
  var dryRun = false

  func run() throws {
    let plan = try SetupPlan.system(prefix: target.path, program: Host.program())
    try SetupText.install(plan, isDryRun: dryRun || group.dryRun)
  }
}

/// `glucoport setup user`: for the user who runs it.
struct SetupUserCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Install units and completions for yourself.",
    discussion: helpText(
      examples: "glucoport setup user",
      "glucoport setup user --dry-run"))

  @ParentCommand var group: SetupCommand

  @Flag(help: "Preview; write nothing.")
  var dryRun = false

  func run() throws {
    try SetupText.install(
      try SetupPlan.user(.ofUser(), program: Host.program()), isDryRun: dryRun || group.dryRun)
  }
}

/// `glucoport setup remove`: removes the files of the other two commands, and nothing else.
struct SetupRemoveCommand: ClassifiedCommand {
  /// Whose files are removed.
  enum Scope: String, CaseIterable, ExpressibleByArgument { case system, user }

  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove exactly what setup installed.",
    discussion: helpText(
      "Files that you changed since are kept. Stores and logbooks are never touched.",
      examples: "sudo glucoport setup remove system",
      "glucoport setup remove user --dry-run"))

  @ParentCommand var group: SetupCommand

  @Argument(help: "What to remove: system or user.")
  var scope: Scope

  @OptionGroup var target: SetupPrefix

  @Flag(help: "Preview; remove nothing.")
  var dryRun = false

  func validate() throws {
    if scope == .user, target.prefix != nil { throw ValidationError("--prefix is for 'remove system'.") }
  }

  func run() throws {
    let output = Output()
    let manifest =
      scope == .system ? SetupPlan.manifest(inSystem: target.path) : try SetupFolders.ofUser().manifest
    let work = SetupWork(manifest: manifest)
    let changes = dryRun || group.dryRun ? try work.removals() : try work.remove()
    SetupText.list(changes, output)
    if changes.isEmpty { output.message("glucoport: nothing was installed by 'glucoport setup'") }
    try output.finish()
    if changes.contains(where: { $0.change == .keep }) {
      output.message("glucoport: files that were changed since are kept")
      throw ExitStatus.partial
    }
  }
}

/// The option for the folder of the files for all users.
struct SetupPrefix: ParsableArguments {
  static let standard = "/usr/local"

  @Option(
    help: ArgumentHelp("Folder below which to install. Default: /usr/local.", valueName: "folder"),
    completion: .directory)
  var prefix: String?

  var path: String {
    let prefix = prefix ?? Self.standard
    return prefix.count > 1 && prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix
  }

  func validate() throws {
    if let prefix, !prefix.hasPrefix("/") || prefix.contains("\n") {
      throw ValidationError("--prefix needs an absolute path.")
    }
  }
}

/// The effect of `setup`, as text.
private enum SetupText {
  static func list(_ changes: [(change: SetupWork.Change, path: String)], _ output: Output) {
    for change in changes { output.line("\(change.change.rawValue) \(displayed(change.path))") }
  }

  static func install(_ plan: SetupPlan, isDryRun: Bool) throws {
    let output = Output()
    let work = SetupWork(manifest: plan.manifest)
    list(isDryRun ? try work.changes(plan) : try work.install(plan), output)
    if let lack = plan.lack { output.message("glucoport: \(lack)") }
    for command in plan.commands where !isDryRun { output.message("glucoport: now run: \(command)") }
    try output.finish()
  }
}
