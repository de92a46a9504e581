// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandParts
import Glibc
import Logbook

/// A command that installs the completions of all commands, which only the program knows.
package protocol CompletionInstaller: ClassifiedCommand {
  /// Runs it with the completions of the program.
  func run(_ completions: CompletionScript) throws
}

/// `glucoport setup`: installs the other files of the package for people who have only the program.
struct SetupCommand: CompletionInstaller {
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
  func run(_ completions: CompletionScript) throws {
    guard dryRun else {
      throw ValidationError(
        "Choose 'setup system', 'setup user' or 'setup remove'; 'setup --dry-run' lists what they write.")
    }
    let output = Output()
    let program = try Host.program()
    for plan in [
      try SetupPlan.system(prefix: SetupPrefix.standard, program: program, completions),
      try SetupPlan.user(.ofUser(), program: program, completions),
    ] {
      SetupText.list(try SetupWork(manifest: plan.manifest).changes(plan), output)
    }
    try output.finish()
  }
}

/// `glucoport setup system`: for all users of this computer.
struct SetupSystemCommand: CompletionInstaller {
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

  func run(_ completions: CompletionScript) throws {
    let plan = try SetupPlan.system(prefix: target.path, program: Host.program(), completions)
    try SetupText.install(plan, isDryRun: dryRun || group.dryRun)
  }
}

/// `glucoport setup user`: for the user who runs it.
struct SetupUserCommand: CompletionInstaller {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Install units and completions for yourself.",
    discussion: helpText(
      examples: "glucoport setup user",
      "glucoport setup user --dry-run"))

  @ParentCommand var group: SetupCommand

  @Flag(help: "Preview; write nothing.")
  var dryRun = false

  func run(_ completions: CompletionScript) throws {
    try SetupText.install(
      try SetupPlan.user(.ofUser(), program: Host.program(), completions), isDryRun: dryRun || group.dryRun)
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

/// What `setup` installed: each file with its SHA-256, and each folder that it made, outer ones first.
struct SetupManifest: Equatable {
  var digests: [String: String] = [:]
  var folders: [String] = []

  init() {}

  /// The manifest from a text, one line for each file and folder. Lines of another form are ignored.
  init(_ text: String) {
    for line in text.split(separator: "\n") {
      if line.hasPrefix("folder ") {
        folders.append(String(line.dropFirst("folder ".count)))
      } else if let match = line.wholeMatch(of: /([0-9a-f]{64})  (\/.*)/) {
        digests[String(match.2)] = String(match.1)
      }
    }
  }

  /// The manifest as a text.
  var text: String {
    let lines =
      digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)" } + folders.map { "folder \($0)" }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The manifest from a file; an empty one if there is none.
  static func read(_ path: String) throws(Failure) -> SetupManifest {
    guard access(path, F_OK) == 0 else { return SetupManifest() }
    guard let bytes = Host.bytes(of: path) else { throw SetupFile.failure(errno, path) }
    return SetupManifest(String(decoding: bytes, as: UTF8.self))
  }
}

/// Installs a plan, and removes exactly what was installed.
struct SetupWork {
  /// The change of a file.
  enum Change: String { case write, replace, unchanged, remove, keep, refuse }

  let manifest: String

  /// The change of each file by an installation. A file that something else created or changed is refused.
  func changes(_ plan: SetupPlan) throws -> [(change: Change, path: String)] {
    let known = try SetupManifest.read(manifest).digests
    let changes = try plan.files.map { file in
      let change: Change =
        switch try SetupFile.digest(of: file.path) {
        case nil: .write
        case try file.digest(): .unchanged
        case known[file.path]: .replace
        default: .refuse
        }
      return (change, file.path)
    }
    let planned = Set(plan.files.map(\.path))
    // Files that an older version installed and this one does not.
    return changes + known.keys.filter { !planned.contains($0) }.sorted().map { (.remove, $0) }
  }

  /// Installs a plan. The manifest is written first, so that an interrupted installation can be removed as
  /// well.
  ///
  /// - Throws: `Failure` of category `cannotCreate` for a file that something else created or changed;
  ///   nothing is written then.
  func install(_ plan: SetupPlan) throws -> [(change: Change, path: String)] {
    let changes = try changes(plan)
    if let refused = changes.first(where: { $0.change == .refuse }) {
      throw Failure(
        .cannotCreate, "\(refused.path): File exists, and 'glucoport setup' did not write it; move it away")
    }
    var noted = try SetupManifest.read(manifest)
    let old = noted.digests
    let paths = plan.files.map(\.path) + [manifest]
    noted.folders += missingFolders(paths).filter { !noted.folders.contains($0) }
    // A file that already existed with the same content is not in the manifest. A file to be replaced keeps
    // its old digest until all are written, so that an interrupted installation can be repeated.
    for (file, change) in zip(plan.files, changes) {
      let isOurs = change.change == .unchanged && old[file.path] != nil
      if change.change == .write || isOurs { noted.digests[file.path] = try file.digest() }
    }
    for folder in missingFolders(paths) {
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw SetupFile.failure(errno, folder) }
    }
    try SetupFile(path: manifest, content: .text(noted.text)).write()
    for (file, change) in zip(plan.files, changes) where change.change != .unchanged {
      try file.write()
      noted.digests[file.path] = try file.digest()
    }
    for change in changes where change.change == .remove {
      if try SetupFile.digest(of: change.path) == old[change.path] { unlink(change.path) }
      noted.digests[change.path] = nil
    }
    try SetupFile(path: manifest, content: .text(noted.text)).write()
    return changes
  }

  /// The change of each file by a removal: a file that a person changed is kept.
  func removals() throws -> [(change: Change, path: String)] {
    try SetupManifest.read(manifest).digests.sorted { $0.key < $1.key }.compactMap { path, digest in
      guard let found = try SetupFile.digest(of: path) else { return nil }
      return (found == digest ? .remove : .keep, path)
    }
  }

  /// Removes the files, the folders that were created for them if they are empty, and the manifest.
  func remove() throws -> [(change: Change, path: String)] {
    let changes = try removals()
    let folders = try SetupManifest.read(manifest).folders
    for change in changes where change.change == .remove {
      guard unlink(change.path) == 0 else { throw SetupFile.failure(errno, change.path) }
    }
    guard unlink(manifest) == 0 || errno == ENOENT else { throw SetupFile.failure(errno, manifest) }
    // A folder with other files is not empty, and is kept.
    for folder in folders.reversed() { rmdir(folder) }
    return changes
  }

  /// The folders that the paths need and that do not exist, outer ones first.
  private func missingFolders(_ paths: [String]) -> [String] {
    var missing: Set<String> = []
    for path in paths {
      var folder = Host.folder(of: path)
      while folder != "/", folder != ".", access(folder, F_OK) != 0, missing.insert(folder).inserted {
        folder = Host.folder(of: folder)
      }
    }
    return missing.sorted()
  }
}
